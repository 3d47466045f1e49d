import Beans

/// A text in an attribute or an element in place of a value.
struct TextValue {
  private let context: XMLContext
  private let element: DocumentElement

  init(_ context: XMLContext, _ element: DocumentElement) {
    self.context = context
    self.element = element
  }

  /// Returns the value of a text; nil after a fault, which has been reported.
  ///
  /// - Parameters:
  ///   - text: the text, with its placeholders.
  ///   - type: the name of the type that the document states for the text, if any.
  ///   - origin: the place of the text.
  func read(_ text: String, type: String? = nil, at origin: EnvironmentError.Origin) -> BeanValue? {
    if let start = text.firstRange(of: "#{"), text[start.upperBound...].contains("}") {
      context.refuse(
        "<\(element.qualifiedName)>: expressions such as #{…} are not evaluated: compute the value in Swift, "
          + "or read a placeholder",
        at: origin)
      return nil
    }
    let text = context.placeholders.standardized(text)
    guard let type else { return .text(text) }
    guard let known = JavaType.named(type) else {
      context.refuse(
        "<\(element.qualifiedName)>: the type '\(type)' is not known for values: \(JavaType.advice)", at: origin)
      return nil
    }
    // The text of placeholders is known at startup, which converts it to the type of the property.
    if text.contains("${") { return .text(text) }
    guard let value = known.convert(text) else {
      context.report("<\(element.qualifiedName)>: '\(text.prefix(80))' is no value of the type '\(type)'", at: origin)
      return nil
    }
    return value is String ? .text(text) : .value(value)
  }
}
