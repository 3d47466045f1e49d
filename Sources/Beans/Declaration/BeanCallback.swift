/// A closure that a user attached to the completion or to the release of a bean, with the type that it expects.
@usableFromInline
struct BeanCallback: Sendable {
  let owner: Any.Type
  private let body: Body

  @usableFromInline
  enum Body: Sendable {
    case direct(@Sendable (AnyObject, ScopeOutcome) throws -> Void)
    case awaited(@Sendable (AnyObject, ScopeOutcome) async throws -> Void)
  }

  @usableFromInline
  init(_ owner: Any.Type, _ body: Body) { (self.owner, self.body) = (owner, body) }

  /// Creates a callback from a closure. Inlined into the module that declares the bean, so that it is compiled for the
  /// concrete type.
  @inlinable @inline(__always)
  init<Instance>(_ body: @escaping @Sendable (Instance, ScopeOutcome) throws -> Void) {
    self.init(Instance.self, .direct { object, outcome in try body(BeanCallback.read(object), outcome) })
  }

  /// Creates a callback from an asynchronous closure.
  @inlinable
  init<Instance>(async body: @escaping @Sendable (Instance, ScopeOutcome) async throws -> Void) {
    self.init(Instance.self, .awaited { object, outcome in try await body(BeanCallback.read(object), outcome) })
  }

  @inlinable
  static func read<Instance>(_ object: AnyObject) throws -> Instance {
    if let instance = Box.read(object, as: Instance.self) { return instance }
    throw mismatch(object, Instance.self)
  }

  @usableFromInline
  static func mismatch(_ object: AnyObject, _ type: Any.Type) -> EnvironmentError {
    EnvironmentError(.typeMismatch, "\(Swift.type(of: Box.open(object))) is not a \(type)")
  }

  /// Whether the closure has to be awaited.
  var isAsynchronous: Bool { if case .awaited = body { true } else { false } }

  /// Calls the closure, unless it is asynchronous. `object` is an `owner`, as startup has checked.
  func callAsFunction(_ object: AnyObject, _ outcome: ScopeOutcome) throws {
    if case .direct(let body) = body { try body(object, outcome) }
  }

  /// Calls the closure, and awaits it if it is asynchronous.
  func await(_ object: AnyObject, _ outcome: ScopeOutcome) async throws {
    switch body {
    case .direct(let body): try body(object, outcome)
    case .awaited(let body): try await body(object, outcome)
    }
  }
}
