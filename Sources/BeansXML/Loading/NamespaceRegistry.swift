import Beans
@_spi(BeansPackage) import BeansErrors

/// The handlers that are registered for every load, by URI.
final class NamespaceRegistry: Sendable {
  static let shared = NamespaceRegistry([ConfigurationNamespaceHandler(), UtilityNamespaceHandler()])

  private let handlers: Locked<[String: NamespaceHandler]>

  init(_ handlers: [NamespaceHandler]) {
    self.handlers = Locked(Dictionary(handlers.map { ($0.namespace, $0) }) { $1 })
  }

  func add(_ handler: NamespaceHandler) { handlers.withLock { $0[handler.namespace] = handler } }

  /// The handlers registered at this moment. A later registration does not change the meaning of a document halfway
  /// through its load.
  var snapshot: [String: NamespaceHandler] { handlers.withLock { $0 } }
}
