/// A bean that works for as long as its environment lives, such as the consumer of a queue.
///
/// `Environment.run(options:shutdownLimit:)` starts it when the running beans that it takes are ready. The end cancels it and awaits
/// the end of `run()`: after the running beans that take it have ended, before those that it takes are cancelled, and before
/// anything is released. A singleton of an environment that is not a child of a factory; any other declaration is an
/// `.invalidDeclaration`.
///
/// ```swift
/// final class Consumer: RunnableBean {
///   private let queue: Queue
///   init(queue: Queue) { self.queue = queue }
///   func run() async throws {
///     for try await order in queue { try await ship(order) }
///   }
/// }
/// ```
public protocol RunnableBean: AnyObject, Sendable {
  /// Works until the task is cancelled. `Environment.current` is the bean's environment.
  ///
  /// The container calls this once, and again after a failure where the declaration has `restarts(after:upTo:limit:)`.
  /// A return before the cancellation ends this bean's work and no other bean's.
  ///
  /// - Throws: any error: the environment ends, and `Environment.run(options:shutdownLimit:)` throws `.runFailed`. The error of
  ///   a run that has been cancelled is a failure of the bean's release, except `CancellationError`.
  func run() async throws

  /// Returns when beans that take this one may run. The container calls this beside each `run()`, and cancels it when
  /// the run ends.
  ///
  /// - Throws: any error: a failure of the run.
  func untilReady() async throws
}

extension RunnableBean {
  /// Returns at once: beans that take this one may run as soon as its run has begun.
  ///
  /// - Throws: nothing.
  public func untilReady() async throws {}
}
