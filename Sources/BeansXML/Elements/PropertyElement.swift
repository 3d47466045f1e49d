import Beans

/// `<property name="…">` with a `value`, a `ref` or one element inside.
enum PropertyElement {
  static func read(_ element: DocumentElement, _ context: XMLContext) -> (name: String, value: BeanValue)? {
    var reader = ElementReader(element, context: context)
    let name = reader.required("name")
    let value = reader.value(context: context)
    reader.finish()
    guard let name, let value else { return nil }
    return (name, .declared(value, at: element.origin))
  }
}

extension ElementReader {
  /// What `value`, `ref` or the one element inside stands for; anything but exactly one of them is a fault.
  mutating func value(
    _ value: String = "value", ref: String = "ref", besides ignored: Set<String> = ["description"], context: XMLContext
  ) -> BeanValue? {
    let text = text(value)
    let id = name(ref)
    let inside = element.children.filter { !ignored.contains($0.plainName ?? "") }
    let isGivenRef = element[ref] != nil
    switch (text, isGivenRef, inside.count) {
    case (let text?, false, 0): return .text(text)
    case (nil, true, 0): return id.map { .reference($0) }
    case (nil, false, 1): return context.value(of: inside[0])
    default:
      report("exactly one of '\(value)', '\(ref)' and an element inside is needed")
      // What is inside may be at fault itself.
      for element in inside { _ = context.value(of: element) }
      return nil
    }
  }
}
