@_spi(BeansPackage) import BeansSupport

/// A container that only registers and resolves, for programs that need no more: no graph, no lifecycle.
///
/// From any thread; no code of yours runs under its lock. The container does not copy a service: whether several threads
/// may *use* it is the service's own contract.
public final class DependenciesContainer: Sendable {
  /// One for the whole program.
  public static let shared = DependenciesContainer()

  private let services = Locked<[ObjectIdentifier: [String?: Carried<Any>]]>([:])

  /// Creates an empty container of your own.
  public init() {}

  /// Keeps a service, to be found by exactly this type and name.
  ///
  /// - Parameters:
  ///   - type: a class, a value type or a protocol (`(any Animal).self`). A service that is not of it is never found.
  ///   - name: tells services of one type apart.
  ///   - service: replaces what was registered by the same type and name.
  public func register<T>(type: T.Type, name: String? = nil, service: Any) {
    let service = Carried(value: service)
    // The old one goes when the lock is free again: its end may be a user's `deinit`.
    let replaced = services.withLock { $0[ObjectIdentifier(type), default: [:]].updateValue(service, forKey: name) }
    _ = replaced
  }

  /// The service registered by exactly this type and name, or nil.
  public func resolve<T>(type: T.Type, name: String? = nil) -> T? {
    services.withLock { $0[ObjectIdentifier(type)]?[name] }?.value as? T
  }
}
