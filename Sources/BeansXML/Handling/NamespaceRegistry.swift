@_spi(BeansPackage) import BeansErrors

/// The handlers that the program has registered for every load, by URI.
final class NamespaceRegistry: Sendable {
  static let shared = NamespaceRegistry()

  private let handlers = Locked<[String: NamespaceHandler]>([:])

  func add(_ handler: NamespaceHandler) { handlers.withLock { $0[handler.namespace] = handler } }

  /// The handlers registered at this moment. A later registration does not change the meaning of a document halfway
  /// through its load.
  var snapshot: [String: NamespaceHandler] { handlers.withLock { $0 } }
}
