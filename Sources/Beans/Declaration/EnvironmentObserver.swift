/// Observes the work of an environment and of those below it, for metrics and spans.
///
/// Register observers by `Environment.addObserver(_:)` before startup. All methods have implementations that do nothing, so
/// an observer implements those that it needs. They are called with no lock held, each on the thread that does the
/// observed work, which waits for them: they must return soon, and may run on several threads at once. An environment
/// without observers pays nothing for them; an observed child costs one allocation and two readings of the clock more.
///
/// The environment retains its observers as long as it exists; an observer must not retain the environment.
public protocol EnvironmentObserver: Sendable {
  /// Observes that a child of a factory has been opened, on the thread that opens it, before the caller receives the
  /// child. For each child, this comes before `childEnded`.
  ///
  /// - Parameter child: the child; its `name` is the scope. It allows lookups, unless another thread ends it.
  func childOpened(_ child: Environment)

  /// Observes that a child of a factory has ended, once for each opened child, on the thread that releases it, when all of
  /// its beans have been released.
  ///
  /// - Parameters:
  ///   - child: the child, which allows no lookups any more; its `name` is the scope.
  ///   - outcome: the outcome that the child's beans received.
  ///   - beans: the number of beans that the child has created and released, without its seed.
  ///   - start: the time at which the child was opened.
  ///   - duration: the time from the opening until the last release had ended.
  func childEnded(
    _ child: Environment, outcome: ScopeOutcome, beans: Int, start: ContinuousClock.Instant, duration: Duration)

  /// Observes that the asynchronous creation of a bean has ended, with the bean or with an error, on the thread that runs
  /// the creation's task.
  ///
  /// - Parameters:
  ///   - bean: the name of the bean in reports: its type, and its id if it has one.
  ///   - origin: the place of the bean's declaration.
  ///   - environment: the environment of the bean.
  ///   - error: the error of the creation; nil if the bean exists.
  ///   - start: the time at which the creation began, after the dependencies existed as far as they are known.
  ///   - duration: the time until the bean existed, or until the creation failed.
  func creationEnded(
    of bean: String, declaredAt origin: EnvironmentError.Origin, in environment: Environment, error: (any Error)?,
    start: ContinuousClock.Instant, duration: Duration)

  /// Observes the failure of a release, on the thread that releases. The log has the failure, too, and `shutdown()`
  /// throws it.
  ///
  /// - Parameters:
  ///   - failure: `.destructionFailed`, with the error of the release in `underlying`.
  ///   - environment: the environment of the bean.
  func releaseFailed(_ failure: any Error, in environment: Environment)
}

extension EnvironmentObserver {
  /// Does nothing.
  public func childOpened(_ child: Environment) {}

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - child: the child.
  ///   - outcome: the outcome of its scope.
  ///   - beans: the number of beans created in it.
  ///   - start: the time at which it was opened.
  ///   - duration: the time until its end.
  public func childEnded(
    _ child: Environment, outcome: ScopeOutcome, beans: Int, start: ContinuousClock.Instant, duration: Duration
  ) {}

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - bean: the name of the bean.
  ///   - origin: the place of its declaration.
  ///   - environment: its environment.
  ///   - error: the error of the creation; nil if the bean exists.
  ///   - start: the time at which the creation began.
  ///   - duration: the time until its end.
  public func creationEnded(
    of bean: String, declaredAt origin: EnvironmentError.Origin, in environment: Environment, error: (any Error)?,
    start: ContinuousClock.Instant, duration: Duration
  ) {}

  /// Does nothing.
  public func releaseFailed(_ failure: any Error, in environment: Environment) {}
}
