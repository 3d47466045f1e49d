public import Beans
import BeansErrors

/// The state of one load in progress: the definitions and the faults of its documents so far.
///
/// The environment receives no definition before all documents have been read without a fault. Used by one thread.
public final class XMLContext {
  enum Definition {
    case bean(BeanDeclaration)
    case source(any ConfigurationSource)
    case alias(String, of: String, EnvironmentError.Origin)
    case module(any BeanModule, EnvironmentError.Origin)
  }

  /// The environment that receives the declarations. Do not define beans in it directly, because a fault may follow in
  /// the document.
  public let environment: Environment
  /// The handler of the elements in Spring's own namespace, and of those in none.
  private let beans: NamespaceHandler
  private let handlers: [String: NamespaceHandler]
  /// The definitions in the order of the documents.
  private(set) var definitions: [Definition] = []
  private var found: [EnvironmentError] = []
  private var refusals: [Refusal.Key: Refusal] = [:]
  let importer: XMLImporter
  let placeholders: XMLPlaceholders
  /// The defaults of the enclosing `<beans>` elements.
  private(set) var defaults = DocumentDefaults()
  /// The aliases of the innermost `<beans>` element, if profiles are to hold for it.
  private var conditionalAliases: [ConditionalAliases.Alias] = []

  init(
    environment: Environment, beans: NamespaceHandler, handlers: [String: NamespaceHandler], importer: XMLImporter,
    placeholders: XMLPlaceholders
  ) {
    self.environment = environment
    self.beans = beans
    self.handlers = handlers
    self.importer = importer
    self.placeholders = placeholders
  }

  // MARK: definitions of handlers

  /// Defines a bean, once all documents have been read. The bean's origin is the position of `element`.
  public func define(_ declaration: BeanDeclaration, at element: DocumentElement) {
    for profiles in defaults.profiles { declaration.profiles(profiles) }
    definitions.append(.bean(declaration.declared(at: element.origin)))
  }

  /// Sets configuration values, once all documents have been read. They replace the values of earlier sources. Reports
  /// name the position of `element`.
  public func define(_ values: [ConfigurationItem], at element: DocumentElement) {
    // The values are known before the profiles, which may be among them.
    if !defaults.profiles.isEmpty {
      report(
        "<\(element.qualifiedName)>: values cannot depend on a profile: move them out of <beans profile=\"…\">",
        at: element.origin)
    }
    define(XMLConfigurationSource(values, url: "\(element.origin)"))
  }

  /// Adds a configuration source, once all documents have been read.
  package func define(_ source: any ConfigurationSource) { definitions.append(.source(source)) }

  /// Adds an alias, once all documents have been read.
  ///
  /// - Parameters:
  ///   - alias: the other id.
  ///   - id: the id of the bean, or another alias.
  ///   - element: the element whose position is the origin of the alias.
  public func define(alias: String, of id: String, at element: DocumentElement) {
    define(aliases: [alias], of: id, at: element)
  }

  /// Adds aliases that are active where the enclosing profiles and those given hold.
  func define(
    aliases: [String], of id: String, at element: DocumentElement, profiles: [ProfileExpression] = []
  ) {
    if profiles.isEmpty, defaults.profiles.isEmpty {
      definitions += aliases.map { .alias($0, of: id, element.origin) }
      return
    }
    let conditional = aliases.map { ConditionalAliases.Alias($0, of: id, at: element.origin) }
    if profiles.isEmpty {
      conditionalAliases += conditional
    } else {
      define(conditional, defaults.profiles + [profiles])
    }
  }

  /// Includes a module with aliases, unless there are none. One module for many aliases: modules are compared with each
  /// other.
  private func define(_ aliases: [ConditionalAliases.Alias], _ profiles: [[ProfileExpression]]) {
    if let origin = aliases.first?.origin { define(ConditionalAliases(aliases: aliases), at: origin, profiles) }
  }

  /// Includes a module, once all documents have been read.
  func define(_ module: any BeanModule, at element: DocumentElement) {
    define(module, at: element.origin, defaults.profiles)
  }

  private func define(
    _ module: any BeanModule, at origin: EnvironmentError.Origin, _ profiles: [[ProfileExpression]]
  ) {
    definitions.append(.module(profiles.reduce(module) { $0.profiles($1) }, origin))
  }

  /// Runs `body` with the defaults of a `<beans>` element.
  func with(_ defaults: DocumentDefaults, _ body: () -> Void) {
    let outer = (self.defaults, conditionalAliases)
    (self.defaults, conditionalAliases) = (defaults, [])
    body()
    define(conditionalAliases, defaults.profiles)
    (self.defaults, conditionalAliases) = outer
  }

  /// Reports a fault. The load continues, so that it reports all faults.
  public func report(_ message: String, at origin: EnvironmentError.Origin) { report(fault(message, at: origin)) }

  /// Returns the value of an element such as `<ref>`, `<list>` or `<bean>`, or of an element with its own handler; nil
  /// after a fault, which has been reported.
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
      if [SpringNamespace.properties, SpringNamespace.arguments].contains(attribute.namespace) { continue }
      guard let handler = handlers[attribute.namespace] else {
        report(
          fault(
            "the attribute '\(attribute.qualifiedName)' is not known here\(hint(for: attribute))",
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
          "<\(element.qualifiedName)>: the prefix '\(prefix)' is not declared: add "
            + "xmlns:\(prefix)=\"\(SpringNamespace.usual(prefix) ?? "…")\"",
          at: element.origin, .unhandledNamespace))
      return nil
    }
    if element.plainName != nil { return beans }
    if let handler = handlers[element.namespace] { return handler }
    if let advice = SpringNamespace.advice(for: element) {
      refuse("<\(element.qualifiedName)> is not supported: \(advice)", at: element.origin, .unhandledNamespace)
      return nil
    }
    refuse(
      "<\(element.qualifiedName)>: no handler is registered for the namespace '\(element.namespace)'"
        + hint(forNamespace: element.namespace), at: element.origin, .unhandledNamespace)
    return nil
  }

  /// Runs `body`, and reports its error as a fault. The fault is at the given position where the error has none of its
  /// own, or where `isItsPlace` is true.
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

  /// The faults in the order in which they were found. One that occurs several times has their count.
  var faults: [EnvironmentError] {
    var faults = found
    for refusal in refusals.values {
      faults[refusal.position] = faults[refusal.position].saying(refusal.text(faults[refusal.position].message))
    }
    return faults
  }

  func report(_ fault: EnvironmentError) { found.append(fault) }

  /// Reports a construct that is not supported: once for each document, with the count of its occurrences.
  func refuse(_ message: String, at origin: EnvironmentError.Origin, _ cause: FaultCause = .invalidXML) {
    let key = Refusal.Key(file: origin.file, message: message)
    if refusals[key]?.note(origin) != nil { return }
    refusals[key] = Refusal(position: found.count)
    report(fault(message, at: origin, cause))
  }

  func fault(
    _ message: String, at origin: EnvironmentError.Origin, _ cause: FaultCause = .invalidXML
  ) -> EnvironmentError {
    EnvironmentError(cause: cause, message, origin: origin)
  }

  /// Reports a fault for each child of an element that must have none.
  func rejectChildren(of element: DocumentElement) {
    for child in element.children { reject(child, in: element, among: []) }
  }

  /// Reports that an element may not be in another one. A `<description>` may be everywhere.
  func reject(_ child: DocumentElement, in parent: DocumentElement, among known: [String]) {
    if child.plainName == "description" { return }
    guard let name = child.plainName, let parentName = parent.plainName,
      let use = SpringSchema.use(of: name, inside: parentName)
    else {
      // The advice for an element of another namespace is the same in every place.
      guard child.plainName == nil, handlers[child.namespace] == nil, let advice = SpringNamespace.advice(for: child)
      else { return report(unknown(child, in: "<\(parent.qualifiedName)>", among: known)) }
      return refuse("<\(child.qualifiedName)> is not supported: \(advice)", at: child.origin, .unhandledNamespace)
    }
    if case .refused(let advice, _) = use {
      refuse("<\(child.qualifiedName)> is not supported: \(advice)", at: child.origin)
    }
  }

  /// Returns the fault that an element may not be in its place, with the closest valid name.
  ///
  /// - Parameters:
  ///   - element: the unexpected element.
  ///   - place: the name of the place in the message.
  ///   - known: the valid names in the place, without a prefix.
  ///   - namespace: the namespace of these names.
  func unknown(
    _ element: DocumentElement, in place: String, among known: [String] = [], of namespace: String = XMLNamespace.beans
  ) -> EnvironmentError {
    let isOfThem = element.namespace == namespace || namespace == XMLNamespace.beans && element.plainName != nil
    let near = isOfThem ? known.filter { EditDistance.isSmall($0, element.name) }.min() : nil
    let prefix = element.qualifiedName.dropLast(element.name.count)
    var hint = near.map { "; did you mean <\(prefix)\($0)>?" }
    if isOfThem, namespace == XMLNamespace.beans, let home = SpringSchema.place(of: element.name, not: place) {
      hint = "; it belongs into <\(prefix)\(home)>"
    }
    return fault("<\(element.qualifiedName)> is not known in \(place)\(hint ?? "")", at: element.origin, .unknownName)
  }

  func unknown(_ attribute: DocumentAttribute) -> EnvironmentError {
    fault("the attribute '\(attribute.qualifiedName)' is not known here", at: attribute.origin, .unknownName)
  }

  private func hint(for attribute: DocumentAttribute) -> String {
    let prefix = attribute.qualifiedName.prefix { $0 != ":" }
    guard attribute.namespace.isEmpty, let usual = SpringNamespace.usual(prefix) else {
      return hint(forNamespace: attribute.namespace)
    }
    return ": the prefix '\(prefix)' is not declared: add xmlns:\(prefix)=\"\(usual)\""
  }

  /// Returns a suggestion for an unknown namespace: the closest known one.
  private func hint(forNamespace namespace: String) -> String {
    let near = (handlers.keys + [XMLNamespace.beans]).filter { EditDistance.isSmall($0, namespace) }.min()
    return near.map { "; did you mean '\($0)'?" } ?? ""
  }
}
