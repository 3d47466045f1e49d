package import Beans
import BeansErrors

/// A reader of the attributes of one element, which reports invalid ones.
///
/// Read each attribute that the element may have once, then call `finish()`, which reports attributes that have not
/// been read.
public struct ElementReader {
  /// The element to read.
  package let element: DocumentElement
  private let context: XMLContext
  private var known: Set<String> = []

  /// Creates a reader of an element.
  public init(_ element: DocumentElement, context: XMLContext) {
    self.element = element
    self.context = context
  }

  /// Returns the unchanged text of an attribute; nil where the attribute is missing.
  public mutating func text(_ name: String) -> String? {
    known.insert(name)
    return element[name]
  }

  /// Returns the text of an attribute without surrounding white space. An empty text is a fault.
  public mutating func name(_ name: String) -> String? {
    guard let text = text(name) else { return nil }
    let trimmed = text.drop(while: \.isWhitespace)
    guard let last = trimmed.lastIndex(where: { !$0.isWhitespace }) else {
      report("'\(name)' must not be empty", name)
      return nil
    }
    return String(trimmed[...last])
  }

  /// Returns the text of an attribute as `name(_:)` does. A missing attribute is a fault.
  public mutating func required(_ name: String) -> String? {
    if let text = self.name(name) { return text }
    if element[name] == nil { report("the attribute '\(name)' is missing", name) }
    return nil
  }

  /// Returns the value of an attribute that is `true` or `false`. Any other text is a fault.
  public mutating func flag(_ name: String) -> Bool? {
    guard let text = self.name(name) else { return nil }
    switch text {
    case "true": return true
    case "false": return false
    default:
      report("'\(name)' must be true or false, not '\(text)'", name)
      return nil
    }
  }

  /// Returns the value of an attribute that is `true`, `false` or the word for a missing attribute. Any other text is a
  /// fault.
  mutating func flag(_ name: String, unless word: String) -> Bool? {
    if element[name].map({ $0.split(whereSeparator: \.isWhitespace) }) == [Substring(word)] {
      known.insert(name)
      return nil
    }
    return flag(name)
  }

  /// Returns the names in an attribute, separated by commas, semicolons or white space. An empty list is a fault.
  package mutating func names(_ name: String) -> [String] {
    guard let text = self.name(name) else { return [] }
    let names = text.split { $0 == "," || $0 == ";" || $0.isWhitespace }.map(String.init)
    if names.isEmpty { report("'\(name)' names nothing", name) }
    return names
  }

  /// Returns the expressions in the attribute `profile`, one of which has to hold. A malformed expression is a fault.
  mutating func profiles() -> [ProfileExpression] {
    guard let text = name("profile") else { return [] }
    do throws(EnvironmentError) {
      let expressions = try ProfileExpression.list(text)
      if expressions.isEmpty { report("'profile' names nothing", "profile") }
      return expressions
    } catch {
      report(error.message, "profile", error.cause)
      return []
    }
  }

  /// Reports a fault at the position of an attribute, or of the element where the attribute is missing.
  public func report(_ message: String, _ attribute: String? = nil) { report(message, attribute, .invalidXML) }

  private func report(_ message: String, _ attribute: String?, _ cause: FaultCause) {
    let origin = attribute.map(origin(of:)) ?? element.origin
    context.report(context.fault("<\(element.qualifiedName)>: \(message)", at: origin, cause))
  }

  /// Returns the position of an attribute, or of the element where the attribute is missing.
  package func origin(of attribute: String) -> EnvironmentError.Origin {
    element.attributes.first { $0.qualifiedName == attribute }?.origin ?? element.origin
  }

  /// Reports attributes that have not been read, and unexpected text.
  ///
  /// - Parameters:
  ///   - allowsText: whether the element may have text.
  ///   - allowsForeign: whether the handlers of other namespaces read the attributes of these namespaces.
  public func finish(allowsText: Bool = false, allowsForeign: Bool = false) {
    for attribute in element.attributes where !known.contains(attribute.qualifiedName) {
      if XMLNamespace.isForTools(attribute) || isSpring(attribute) { continue }
      let isForeign = attribute.name != attribute.qualifiedName
      if isForeign && allowsForeign { continue }
      let name = attribute.qualifiedName
      report("the attribute '\(name)' is not known\(hint(attribute.name))", name, .unknownName)
    }
    if !allowsText, !element.text.isEmpty { report("text is not expected here") }
  }

  /// Whether Spring has the attribute in this element, and no reader uses it. A refusal has been reported.
  private func isSpring(_ attribute: DocumentAttribute) -> Bool {
    guard let name = element.plainName, attribute.name == attribute.qualifiedName,
      let use = SpringSchema.use(of: attribute.name, in: name)
    else { return false }
    if case .refused(let advice, let harmless) = use, !harmless.contains(attribute.value) {
      context.refuse(
        "<\(element.qualifiedName)>: the attribute '\(attribute.name)' is not supported: \(advice)",
        at: attribute.origin)
    }
    return true
  }

  /// Returns the elements that have the attribute, or else the closest attribute of this element.
  private func hint(_ name: String) -> String {
    let owners = element.plainName == nil ? [] : SpringSchema.owners(of: name)
    if !owners.isEmpty { return "; it belongs to \(owners.map { "<\($0)>" }.joined(separator: ", "))" }
    return known.filter { EditDistance.isSmall($0, name) }.min().map { "; did you mean '\($0)'?" } ?? ""
  }
}
