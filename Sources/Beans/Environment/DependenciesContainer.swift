@_spi(BeansPackage) import BeansSupport

/// A container that only registers and resolves, for programs that need no more: no graph, no lifecycle.
///
/// From any thread; each call takes a lock for one step in a dictionary, and runs no code of yours under it. The
/// container does not copy a service: whether several threads may *use* it is the service's own contract.
public final class DependenciesContainer: Sendable {
  /// One for the whole program.
  public static let shared = DependenciesContainer()

  /// Protected by being immutable; see above for what it refers to.
  private struct Service: @unchecked Sendable { let content: Any }

  private let services = Locked<[DependencyKey: Service]>([:])

  /// Creates an empty container of your own.
  public init() {}

  /// Keeps a service, to be found by exactly this type and name.
  ///
  /// `type` is a class, a value type or a protocol (`(any Animal).self`). What was registered by the same type and name
  /// is replaced. A service that is not a `type` is kept, and never found.
  public func register<T>(type: T.Type, name: String? = nil, service: Any) {
    let service = Service(content: service)
    let key = DependencyKey(type: type, name: name)
    // The old one goes when the lock is free again: its end may be a user's `deinit`.
    let replaced = services.withLock { $0.updateValue(service, forKey: key) }
    _ = replaced
  }

  /// The service registered by exactly this type and name, or nil.
  public func resolve<T>(type: T.Type, name: String? = nil) -> T? {
    let key = DependencyKey(type: type, name: name)
    guard let service = services.withLock({ $0[key] }) else { return nil }
    return service.content as? T
  }
}

/// What a service is registered by.
struct DependencyKey: Hashable, Sendable {
  private let type: ObjectIdentifier
  private let name: String?

  init(type: Any.Type, name: String? = nil) {
    self.type = ObjectIdentifier(type)
    self.name = name
  }
}
