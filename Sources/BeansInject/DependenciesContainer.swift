import Beans
@_spi(BeansPackage) import BeansErrors

/// A container that only registers and resolves services, for programs that need no graph and no lifecycle.
///
/// Safe to use from any thread; the container runs no code of yours under its lock. The container does not copy a
/// service: whether several threads may *use* a service is the service's own contract.
public final class DependenciesContainer: Sendable {
  /// The container that the whole program shares.
  public static let shared = DependenciesContainer()

  private let services = Locked<[ObjectIdentifier: [String?: InstanceHolder]]>([:])

  /// Creates an empty container of your own.
  public init() {}

  /// Registers a service, which `resolve` finds by exactly this type and name.
  ///
  /// - Parameters:
  ///   - type: a class, a value type or a protocol (`(any Animal).self`). A service of another type is never found.
  ///   - name: distinguishes services of one type.
  ///   - service: the service. Replaces the one registered by the same type and name.
  public func register<T>(type: T.Type, name: String? = nil, service: Any) {
    let service = InstanceHolder(Service(service))
    // The replaced service is released outside the lock: its `deinit` may be a user's code.
    let replaced = services.withLock { $0[ObjectIdentifier(type), default: [:]].updateValue(service, forKey: name) }
    _ = replaced
  }

  /// Returns the service registered by exactly this type and name, or nil.
  public func resolve<T>(type: T.Type, name: String? = nil) -> T? {
    services.withLock { $0[ObjectIdentifier(type)]?[name] }?.instance.flatMap { ($0 as? Service)?.value as? T }
  }
}

/// A service of any type, as an object.
private final class Service {
  let value: Any

  init(_ value: Any) { self.value = value }
}
