import Beans

/// The element `<entry>` in a `<map>`. The key is `key`, `key-ref` or `<key>`; the value is `value`, `value-ref` or one
/// child.
enum MapEntry {
  /// - Parameter types: the names of the types that the map states for the texts of keys and values, if any.
  static func read(
    _ element: DocumentElement, _ types: (key: String?, value: String?), _ context: XMLContext
  ) -> (key: BeanValue, value: BeanValue)? {
    var reader = ElementReader(element, context: context)
    let key = key(&reader, types.key, context)
    let type = reader.name("value-type") ?? types.value
    let value = reader.value("value", ref: "value-ref", besides: ["key", "description"], type: type, context: context)
    reader.finish()
    guard let key, let value else { return nil }
    return (.declared(key, at: element.origin), .declared(value, at: element.origin))
  }

  private static func key(_ reader: inout ElementReader, _ type: String?, _ context: XMLContext) -> BeanValue? {
    let text = reader.text("key")
    let id = reader.name("key-ref")
    let elements = reader.element.children.filter { $0.plainName == "key" }
    switch (text, reader.element["key-ref"] != nil, elements.count) {
    case (let text?, false, 0):
      return TextValue(context, reader.element).read(text, type: type, at: reader.origin(of: "key"))
    case (nil, true, 0): return id.map { .reference($0) }
    case (nil, false, 1):
      ElementReader(elements[0], context: context).finish()
      let inside = elements[0].children.filter { $0.plainName != "description" }
      guard let only = inside.first, inside.count == 1 else {
        context.report("<key>: exactly one element inside is needed", at: elements[0].origin)
        return nil
      }
      return context.value(of: only, type: type)
    default:
      reader.report("exactly one of 'key', 'key-ref' and <key> is needed")
      return nil
    }
  }
}
