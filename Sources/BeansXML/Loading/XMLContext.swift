public import Beans
import BeansSupport

/// One load in progress: what its documents say so far, and what is wrong with them.
///
/// Nothing reaches the environment before all documents have been read without a fault. Used by one thread.
public final class XMLContext {
  enum Definition {
    case bean(BeanDeclaration)
    case source(any ConfigurationSource)
    case alias(String, of: String, EnvironmentError.Origin)
    case module(any BeanModule, EnvironmentError.Origin)
  }

  /// The environment that is declared. Do not define in it: the document may be at fault further on.
  public let environment: Environment
  private let handlers: [String: NamespaceHandler]
  /// In the order of the documents.
  private(set) var definitions: [Definition] = []
  private(set) var faults: [EnvironmentError] = []
  let importer: XMLImporter

  init(environment: Environment, handlers: [String: NamespaceHandler], importer: XMLImporter) {
    self.environment = environment
    self.handlers = handlers
    self.importer = importer
  }

  // MARK: what handlers say

  /// Defines a bean once everything has been read. Its origin is the position of `element`.
  public func define(_ declaration: BeanDeclaration, at element: DocumentElement) {
    definitions.append(.bean(declaration.declared(at: element.origin)))
  }

  /// Sets configuration values once everything has been read; they replace those of earlier sources. Reports name
  /// the position of `element`.
  public func define(_ values: [ConfigurationItem], at element: DocumentElement) {
    define(XMLConfigurationSource(values, url: "\(element.origin)"))
  }

  /// Adds a configuration source once everything has been read.
  public func define(_ source: any ConfigurationSource) { definitions.append(.source(source)) }

  /// Gives a bean another id once everything has been read.
  ///
  /// - Parameters:
  ///   - alias: the other id.
  ///   - id: the id that the bean has, or another alias.
  ///   - element: whose position is the alias's origin.
  public func define(alias: String, of id: String, at element: DocumentElement) {
    definitions.append(.alias(alias, of: id, element.origin))
  }

  /// Includes a module once everything has been read.
  func define(_ module: any BeanModule, at element: DocumentElement) {
    definitions.append(.module(module, element.origin))
  }

  /// Notes a fault and goes on, so that one load reports all of them.
  public func report(_ message: String, at origin: EnvironmentError.Origin) { report(fault(message, at: origin)) }

  /// The declaration a `<bean>` element stands for, not defined; nil where it is at fault, which has been noted.
  public func declaration(of element: DocumentElement) -> BeanDeclaration? { BeanElement.declaration(element, self) }

  /// The value an element such as `<ref>`, `<list>` or `<bean>`, or one of a handler's, stands for; nil where it is at
  /// fault, which has been noted.
  public func value(of element: DocumentElement) -> BeanValue? {
    guard let handler = handler(for: element) else { return nil }
    return catching(element.origin) { try handler.value(of: element, context: self) }
  }

  // MARK: dispatch

  func process(_ element: DocumentElement) {
    guard let handler = handler(for: element) else { return }
    catching(element.origin) { try handler.process(element, context: self) }
  }

  /// Applies the attributes of other namespaces.
  func decorate(_ declaration: BeanDeclaration, of element: DocumentElement) {
    for attribute in element.attributes where attribute.name != attribute.qualifiedName {
      if XMLNamespace.isForTools(attribute) { continue }
      guard let handler = handlers[attribute.namespace] else {
        report(
          fault(
            "the attribute '\(attribute.qualifiedName)' is not known here\(hint(forNamespace: attribute.namespace))",
            at: attribute.origin, .unhandledNamespace))
        continue
      }
      catching(attribute.origin) { try handler.decorate(declaration, with: attribute, context: self) }
    }
  }

  private func handler(for element: DocumentElement) -> NamespaceHandler? {
    if let prefix = element.undeclaredPrefix {
      report(
        fault(
          "<\(element.qualifiedName)>: the prefix '\(prefix)' is not declared: add xmlns:\(prefix)=\"…\"",
          at: element.origin, .unhandledNamespace))
      return nil
    }
    if element.plainName != nil { return BeansNamespaceHandler.shared }
    if let handler = handlers[element.namespace] { return handler }
    report(
      fault(
        "<\(element.qualifiedName)>: no handler is registered for the namespace '\(element.namespace)'"
          + hint(forNamespace: element.namespace), at: element.origin, .unhandledNamespace))
    return nil
  }

  /// What `body` throws becomes a fault at that position, unless it has one of its own; with `isItsPlace` in any case.
  @discardableResult
  func catching<Result>(_ origin: EnvironmentError.Origin, isItsPlace: Bool = false, _ body: () throws -> Result)
    -> Result?
  {
    do {
      return try body()
    } catch let error as EnvironmentError {
      report(error.origin == nil || isItsPlace ? error.at(origin) : error)
    } catch {
      report(EnvironmentError(.invalidXML, "\(error)", origin: origin, underlying: [error]))
    }
    return nil
  }

  // MARK: faults

  func report(_ fault: EnvironmentError) { faults.append(fault) }

  func fault(
    _ message: String, at origin: EnvironmentError.Origin, _ cause: FaultCause = .invalidXML
  ) -> EnvironmentError {
    EnvironmentError(cause: cause, message, origin: origin)
  }

  /// Notes a fault for each element inside one that may have none.
  func rejectChildren(of element: DocumentElement) {
    for child in element.children { report(unknown(child, in: "<\(element.qualifiedName)>")) }
  }

  /// That no element of that name may stand there, and what may have been meant.
  ///
  /// - Parameters:
  ///   - element: what stands there.
  ///   - place: how the message calls where it stands.
  ///   - known: the names, without a prefix, that may stand there.
  ///   - namespace: that of these names.
  func unknown(
    _ element: DocumentElement, in place: String, among known: [String] = [], of namespace: String = XMLNamespace.beans
  ) -> EnvironmentError {
    let isOfThem = element.namespace == namespace || namespace == XMLNamespace.beans && element.plainName != nil
    let near = isOfThem ? known.filter { EditDistance.isSmall($0, element.name) }.min() : nil
    let hint = near.map { "; did you mean <\(element.qualifiedName.dropLast(element.name.count))\($0)>?" }
    return fault("<\(element.qualifiedName)> is not known in \(place)\(hint ?? "")", at: element.origin, .unknownName)
  }

  func unknown(_ attribute: DocumentAttribute) -> EnvironmentError {
    fault("the attribute '\(attribute.qualifiedName)' is not known here", at: attribute.origin, .unknownName)
  }

  /// A namespace that is known and may have been meant.
  private func hint(forNamespace namespace: String) -> String {
    let near = (handlers.keys + [XMLNamespace.beans]).filter { EditDistance.isSmall($0, namespace) }.min()
    return near.map { "; did you mean '\($0)'?" } ?? ""
  }
}

extension EnvironmentError {
  /// This failure, at a place in a document.
  func at(_ origin: Origin) -> EnvironmentError {
    with { $0.origin = origin }
  }
}
