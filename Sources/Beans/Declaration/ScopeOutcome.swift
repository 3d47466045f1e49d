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
