public import Beans
import BeansSupport

/// Takes the attributes of one element, each once, and notes what is wrong with them.
///
/// Ask for every attribute the element may have, then call `finish()`: what was not asked for is reported.
public struct ElementReader {
  /// The element that is read.
  public let element: DocumentElement
  private let context: XMLContext
  private var known: Set<String> = []

  /// Begins to read an element.
  public init(_ element: DocumentElement, context: XMLContext) {
    self.element = element
    self.context = context
  }

  /// The attribute's text as it is, or nil where it is not given.
  public mutating func text(_ name: String) -> String? {
    known.insert(name)
    return element[name]
  }

  /// The attribute's text without surrounding white space; an empty one is a fault.
  public mutating func name(_ name: String) -> String? {
    guard let text = text(name) else { return nil }
    let trimmed = text.drop(while: \.isWhitespace)
    guard let last = trimmed.lastIndex(where: { !$0.isWhitespace }) else {
      report("'\(name)' must not be empty", name)
      return nil
    }
    return String(trimmed[...last])
  }

  /// As `name(_:)`; a missing one is a fault.
  public mutating func required(_ name: String) -> String? {
    if let text = self.name(name) { return text }
    if element[name] == nil { report("the attribute '\(name)' is missing", name) }
    return nil
  }

  /// `true` or `false`; anything else is a fault.
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

  /// Names with commas, semicolons or white space between them; an empty list is a fault.
  public mutating func names(_ name: String) -> [String] {
    guard let text = self.name(name) else { return [] }
    let names = text.split { $0 == "," || $0 == ";" || $0.isWhitespace }.map(String.init)
    if names.isEmpty { report("'\(name)' names nothing", name) }
    return names
  }

  /// The expressions of the attribute `profile`, of which one has to hold; a malformed one is a fault.
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

  /// Notes a fault at an attribute's position, or at the element's where it is not given.
  public func report(_ message: String, _ attribute: String? = nil) { report(message, attribute, .invalidXML) }

  private func report(_ message: String, _ attribute: String?, _ cause: FaultCause) {
    let origin = attribute.map(origin(of:)) ?? element.origin
    context.report(context.fault("<\(element.qualifiedName)>: \(message)", at: origin, cause))
  }

  /// Where an attribute stands; the element's position where it is not given.
  public func origin(of attribute: String) -> EnvironmentError.Origin {
    element.attributes.first { $0.qualifiedName == attribute }?.origin ?? element.origin
  }

  /// Reports attributes nobody asked for and text where there should be none.
  ///
  /// - Parameters:
  ///   - allowsText: whether the element may have text.
  ///   - allowsForeign: whether attributes of other namespaces are left to their handlers.
  public func finish(allowsText: Bool = false, allowsForeign: Bool = false) {
    for attribute in element.attributes where !known.contains(attribute.qualifiedName) {
      if XMLNamespace.isForTools(attribute) { continue }
      let isForeign = attribute.name != attribute.qualifiedName
      if isForeign && allowsForeign { continue }
      let name = attribute.qualifiedName
      report("the attribute '\(name)' is not known\(hint(attribute.name))", name, .unknownName)
    }
    if !allowsText, !element.text.isEmpty { report("text is not expected here") }
  }

  private func hint(_ name: String) -> String {
    if let near = known.filter({ EditDistance.isSmall($0, name) }).min() { return "; did you mean '\(near)'?" }
    return SpringAttribute.hints[name].map { ": \($0)" } ?? ""
  }
}
