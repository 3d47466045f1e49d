import Beans

/// The element `<property name="…">` with a `value`, a `ref` or one child.
enum PropertyElement {
  static func read(_ element: DocumentElement, _ context: XMLContext) -> (name: String, value: BeanValue)? {
    var reader = ElementReader(element, context: context)
    let name = reader.required("name")
    let value = reader.value(context: context)
    reader.finish()
    guard let name, let value else { return nil }
    if name.contains(where: { $0 == "." || $0 == "[" }) {
      reader.report(
        "'\(name)' is a path, and only a property of the bean itself can be set: set it in the bean that has it", "name"
      )
      return nil
    }
    return (name, .declared(value, at: element.origin))
  }
}

extension ElementReader {
  /// Reads the value of the element from `value`, `ref` or its one child. Anything but exactly one of them is a fault.
  mutating func value(
    _ value: String = "value", ref: String = "ref", besides ignored: Set<String> = ["description", "meta"],
    type: String? = nil, context: XMLContext
  ) -> BeanValue? {
    let text = text(value)
    let id = name(ref)
    let inside = element.children.filter { !ignored.contains($0.plainName ?? "") }
    let isGivenRef = element[ref] != nil
    switch (text, isGivenRef, inside.count) {
    case (let text?, false, 0):
      return TextValue(context, element).read(text, type: type, at: origin(of: value))
    case (nil, true, 0): return id.map { .reference($0) }
    case (nil, false, 1): return context.value(of: inside[0], type: type)
    default:
      report("exactly one of '\(value)', '\(ref)' and an element inside is needed")
      // The children may contain further faults.
      for element in inside { _ = context.value(of: element) }
      return nil
    }
  }
}
