/// A task that works on one bean. The release of the bean ends the work.
package protocol BeanTask: AnyObject, Sendable {
  var environment: Environment? { get }
  /// The type of the bean and its id.
  var label: String { get }

  /// Starts the task of the work. The task is cancelled at once if the work has been closed.
  ///
  /// - Parameter make: makes the task.
  func start(_ make: () -> Task<Void, Never>)

  /// Calls user code with the bean, unless the work has been closed.
  func call<Instance>(_ body: (Instance) async throws -> Void) async -> WorkCall
}

/// The outcome of a call of user code by the work of a bean.
package enum WorkCall: Sendable {
  /// The work was closed before: there was no call.
  case refused
  case returned
  case failed(any Error)
  /// The work was closed during the call. The release of the bean reports the error.
  case closed
}

/// Work that a declaration attaches to each instance of its bean, such as a schedule. It starts when the bean is complete,
/// before any other code has the bean, and the release of the bean ends it.
package protocol AttachedWork: Sendable {
  /// The type that its code expects.
  var owner: Any.Type { get }

  /// Starts the task of the work.
  func start(_ task: any BeanTask)
}

/// The declaration's decision about a run that has failed.
package struct RestartPolicy: Sendable {
  /// The time between the first failure and the restart.
  package let delay: Duration
  /// The longest time between a failure and a restart.
  package let longest: Duration
  /// The maximum number of restarts in a row.
  package let limit: Int

  package init(delay: Duration, longest: Duration, limit: Int) {
    (self.delay, self.longest, self.limit) = (delay, longest, limit)
  }
}
