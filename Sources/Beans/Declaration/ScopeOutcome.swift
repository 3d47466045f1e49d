/// The outcome of a scope, for the beans that it releases: to commit or to roll back, for example.
///
/// An environment fails where the body of `withChild` throws, where it ends by `finish(failing:)`, where its startup fails, or
/// where an environment further out that fails ends it. Every other end completes it. The first end decides.
public enum ScopeOutcome: Sendable {
  /// The scope has ended without an error.
  case completed
  /// The scope has ended with this error.
  case failed(any Error)
}

/// A closure that a user attached to the release of a bean, with the type it expects.
@usableFromInline
struct ReleaseCallback: Sendable {
  let owner: Any.Type
  private let body: @Sendable (AnyObject, ScopeOutcome) throws -> Void

  @usableFromInline
  init(_ owner: Any.Type, _ body: @escaping @Sendable (AnyObject, ScopeOutcome) throws -> Void) {
    self.owner = owner
    self.body = body
  }

  /// Inlined into the module that declares the bean, so that it is compiled for the concrete type.
  @inlinable @inline(__always)
  init<Instance>(_ body: @escaping @Sendable (Instance) throws -> Void) {
    self.init(Instance.self) { object, _ in try body(BeanCallback.read(object)) }
  }

  @inlinable @inline(__always)
  init<Instance>(outcome body: @escaping @Sendable (Instance, ScopeOutcome) throws -> Void) {
    self.init(Instance.self) { object, outcome in try body(BeanCallback.read(object), outcome) }
  }

  /// `object` is an `owner`: startup has checked it.
  func callAsFunction(_ object: AnyObject, _ outcome: ScopeOutcome) throws { try body(object, outcome) }
}
