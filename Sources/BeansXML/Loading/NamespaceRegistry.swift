import Beans
@_spi(BeansPackage) import BeansSupport

/// The handlers that every load knows, by URI.
final class NamespaceRegistry: Sendable {
  static let shared = NamespaceRegistry([ConfigurationNamespaceHandler()])

  private let handlers: Locked<[String: NamespaceHandler]>

  init(_ handlers: [NamespaceHandler]) {
    self.handlers = Locked(Dictionary(handlers.map { ($0.namespace, $0) }) { $1 })
  }

  func add(_ handler: NamespaceHandler) { handlers.withLock { $0[handler.namespace] = handler } }

  /// As they are now: what is registered while a document is loaded does not change its meaning halfway.
  var snapshot: [String: NamespaceHandler] { handlers.withLock { $0 } }
}
