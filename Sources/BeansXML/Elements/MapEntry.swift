import Beans

/// The element `<entry>` in a `<map>`. The key is `key`, `key-ref` or `<key>`; the value is `value`, `value-ref` or one
/// child.
enum MapEntry {
  static func read(_ element: DocumentElement, _ context: XMLContext) -> (key: BeanValue, value: BeanValue)? {
    var reader = ElementReader(element, context: context)
    let key = key(&reader, context)
    let value = reader.value("value", ref: "value-ref", besides: ["key"], context: context)
    reader.finish()
    guard let key, let value else { return nil }
    return (.declared(key, at: element.origin), .declared(value, at: element.origin))
  }

  private static func key(_ reader: inout ElementReader, _ context: XMLContext) -> BeanValue? {
    let text = reader.text("key")
    let id = reader.name("key-ref")
    let elements = reader.element.children.filter { $0.plainName == "key" }
    switch (text, reader.element["key-ref"] != nil, elements.count) {
    case (let text?, false, 0): return .text(text)
    case (nil, true, 0): return id.map { .reference($0) }
    case (nil, false, 1):
      ElementReader(elements[0], context: context).finish()
      guard let only = elements[0].children.first, elements[0].children.count == 1 else {
        context.report("<key>: exactly one element inside is needed", at: elements[0].origin)
        return nil
      }
      return context.value(of: only)
    default:
      reader.report("exactly one of 'key', 'key-ref' and <key> is needed")
      return nil
    }
  }
}
