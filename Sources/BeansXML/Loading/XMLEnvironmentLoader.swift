import Beans

/// One load. It reads all documents and then, without faults, defines their contents.
struct XMLEnvironmentLoader {
  private let environment: Environment
  /// The place of the call of `loadXML`.
  private let origin: EnvironmentError.Origin
  private let context: XMLContext
  private let importer: XMLImporter

  init(
    _ environment: Environment, calledAt origin: EnvironmentError.Origin, _ handlers: [NamespaceHandler],
    _ resolver: @escaping XMLResource.Resolver, _ placeholders: XMLPlaceholders, limits: XMLLimits = XMLLimits()
  ) {
    self.environment = environment
    self.origin = origin
    importer = XMLImporter(resolver: resolver, limits: limits)
    let standard = Self.byNamespace([ConfigurationNamespaceHandler(), UtilityNamespaceHandler()])
    let registered = standard.merging(NamespaceRegistry.shared.snapshot) { $1 }
    context = XMLContext(
      environment: environment, beans: BeansNamespaceHandler.shared,
      handlers: registered.merging(Self.byNamespace(handlers)) { $1 }, importer: importer, placeholders: placeholders)
  }

  /// Returns the handlers by URI; of several of one namespace, the last.
  private static func byNamespace(_ handlers: [NamespaceHandler]) -> [String: NamespaceHandler] {
    Dictionary(handlers.map { ($0.namespace, $0) }) { $1 }
  }

  func load(_ document: XMLResource) throws {
    context.catching(.init(file: document.source, line: 1, column: 1)) {
      try importer.load(document, profiles: []) { BeansElement.process($0, context) }
    }
    let faults = context.faults
    if let fault = EnvironmentError.combining(faults, code: .invalidXML, { "\(document.source) has \($0) faults" }) {
      throw fault
    }
    try define(document.source)
  }

  /// Defines the contents of all documents. Sources come first: only their `load` may still fail, and a failure
  /// withdraws them.
  private func define(_ source: String) throws {
    try environment.checkDeclaring("loadXML", "'\(source)'", at: origin)
    try addSources()
    for definition in context.definitions {
      switch definition {
      case .bean(let declaration): try environment.define(declaration)
      case .alias(let alias, let id, let origin): try environment.alias(alias, of: id, origin: origin)
      case .module(let module, let origin):
        do { try environment.include(module, origin: origin) } catch let error as EnvironmentError {
          throw error.origin == nil ? error.at(origin) : error
        }
      case .source: break
      }
    }
  }

  private func addSources() throws {
    var added: [any ConfigurationSource] = []
    do {
      for case .source(let source) in context.definitions {
        try environment.addConfigurationSource(source, origin: origin)
        added.append(source)
      }
    } catch {
      for source in added.reversed() { environment.configurationManager.withdraw(source) }
      throw error
    }
  }
}
