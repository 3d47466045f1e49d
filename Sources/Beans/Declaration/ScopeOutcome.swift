/// The outcome of a scope, for the beans that it releases: to commit or to roll back, for example.
///
/// An environment fails in four cases: the body of `withChild` throws, `finish(failing:)` ends the environment, its
/// startup fails, or a failing environment further out ends it. Every other end completes it. The first end decides.
public enum ScopeOutcome: Sendable {
  /// The scope has ended without an error.
  case completed
  /// The scope has ended with this error.
  case failed(any Error)
}

/// A closure that a user attached to the release of a bean, with the type that it expects.
@usableFromInline
struct ReleaseCallback: Sendable {
  let owner: Any.Type
  private let body: Body

  private enum Body: Sendable {
    case direct(@Sendable (AnyObject, ScopeOutcome) throws -> Void)
    case awaited(@Sendable (AnyObject, ScopeOutcome) async throws -> Void)
  }

  @usableFromInline
  init(_ owner: Any.Type, _ body: @escaping @Sendable (AnyObject, ScopeOutcome) throws -> Void) {
    self.owner = owner
    self.body = .direct(body)
  }

  @usableFromInline
  init(_ owner: Any.Type, awaiting body: @escaping @Sendable (AnyObject, ScopeOutcome) async throws -> Void) {
    self.owner = owner
    self.body = .awaited(body)
  }

  /// Creates a callback from a closure. Inlined into the module that declares the bean, so that it is compiled for the
  /// concrete type.
  @inlinable @inline(__always)
  init<Instance>(_ body: @escaping @Sendable (Instance) throws -> Void) {
    self.init(Instance.self) { object, _ in try body(BeanCallback.read(object)) }
  }

  @inlinable @inline(__always)
  init<Instance>(outcome body: @escaping @Sendable (Instance, ScopeOutcome) throws -> Void) {
    self.init(Instance.self) { object, outcome in try body(BeanCallback.read(object), outcome) }
  }

  /// Creates a callback from an asynchronous closure.
  @inlinable
  init<Instance>(async body: @escaping @Sendable (Instance, ScopeOutcome) async throws -> Void) {
    self.init(Instance.self, awaiting: { object, outcome in try await body(BeanCallback.read(object), outcome) })
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
