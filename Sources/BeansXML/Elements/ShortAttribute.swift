import Beans

/// An attribute of Spring's namespaces `p` and `c` on a `<bean>`: the value of a property or of an argument.
struct ShortAttribute {
  /// The place of an argument.
  enum Place {
    case next
    case number(Int)
  }

  private let attribute: DocumentAttribute
  private let reader: ElementReader
  private let context: XMLContext
  private let isReference: Bool
  /// The name without `-ref`.
  private let name: Substring

  init(_ attribute: DocumentAttribute, _ reader: ElementReader, _ context: XMLContext) {
    (self.attribute, self.reader, self.context) = (attribute, reader, context)
    isReference = attribute.name.hasSuffix("-ref")
    name = attribute.name.dropLast(isReference ? 4 : 0)
  }

  /// Returns the property that the attribute names: `first-name` is `firstName`, as in Spring.
  func property() -> (name: String, value: BeanValue)? {
    guard let value = value() else { return nil }
    let words = name.split(separator: "-")
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return (String(words.first ?? "") + rest.joined(), value)
  }

  func value() -> BeanValue? {
    guard isReference else {
      return TextValue(context, reader.element).read(attribute.value, at: attribute.origin)
        .map { .declared($0, at: attribute.origin) }
    }
    let id = attribute.value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !id.isEmpty else {
      reader.report("'\(attribute.qualifiedName)' must not be empty", attribute.qualifiedName)
      return nil
    }
    return .declared(.reference(id), at: attribute.origin)
  }

  /// Returns the number of the argument in `_0`; nil after a fault, which has been reported.
  func index() -> Place? {
    if name == "_" { return .next }
    if name.first == "_", let number = Int(name.dropFirst()), number >= 0 { return .number(number) }
    let prefix = attribute.qualifiedName.dropLast(attribute.name.count)
    let example = "\(prefix)_0\(isReference ? "-ref" : "")"
    context.refuse(
      "<\(reader.element.qualifiedName)>: the attribute '\(attribute.qualifiedName)' is not supported: "
        + "use the index of the factory's parameter, \(example)", at: attribute.origin)
    return nil
  }
}
