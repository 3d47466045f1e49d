@_spi(BeansPackage) import BeansErrors

/// Work on one bean in a task of its own: a run, or a schedule. The release of the bean ends the work.
///
/// Once the work has been closed, no call of user code begins.
package final class BeanWork: BeanTask {
  /// The environment to which the running task's work belongs.
  @TaskLocal static var home: Environment?

  /// Whether the running task is work of the environment, or of one below.
  static func isInside(_ environment: Environment) -> Bool { home?.isWithin(environment) == true }

  /// Weak: a schedule does not keep an environment alive that is dropped without a shutdown.
  package weak let environment: Environment?
  /// The decision of the declaration about a run that fails; nil where a failure ends the environment.
  package let restarts: RestartPolicy?
  /// The time limit of the bean's release.
  package let releaseLimit: Duration?
  let bean: BeanDefinition
  private let state: Locked<State>

  private struct State {
    /// The bean, retained; nil once the work has been closed.
    var object: ObjectReference?
    var isBusy = false
    var task: Task<Void, Never>?
    /// The error of a call that has ended after the work was closed.
    var failure: (any Error)?
  }

  /// Creates work, which the release of the bean ends.
  init(_ object: ObjectReference, _ recipe: FrozenReference<Recipe>, in environment: Environment) {
    self.environment = environment
    (restarts, releaseLimit) = recipe.value.code.with { ($0.options.restarts, $0.options.releaseLimit) }
    bean = recipe.value.definition
    object.retain()
    state = Locked(State(object: object))
    environment.extras.works.add(self, to: recipe.value.slot)
  }

  deinit {
    let (task, object) = state.withLock { ($0.task, $0.object) }
    task?.cancel()
    object?.release()
  }

  /// The type of the bean and its id.
  package var label: String { bean.label }

  /// Returns a fault of the bean.
  package func fault(_ cause: FaultCause, _ message: String) -> EnvironmentError { bean.fault(cause, message) }

  /// Starts the task of the work. The task is cancelled at once if the work has been closed.
  ///
  /// - Parameter make: makes the task, under the lock: the task's first call waits until the task is stored, so that no
  ///   close misses the call.
  package func start(_ make: () -> Task<Void, Never>) {
    state.withLock { state in
      let task = make()
      state.task = task
      if state.object == nil { task.cancel() }
    }
  }

  /// Calls user code with the bean, unless the work has been closed.
  package func call<Instance>(_ body: (Instance) async throws -> Void) async -> WorkCall {
    guard let object = enter() else { return .refused }
    do { try await body(BeanCallback.read(object.object)) } catch { return leave(object, error) }
    return leave(object, nil)
  }

  /// Begins a call. Returns the bean, retained for the call; nil once the work has been closed.
  private func enter() -> ObjectReference? {
    state.withLock { state in
      guard let object = state.object else { return nil }
      object.retain()
      state.isBusy = true
      return object
    }
  }

  /// Ends a call. If the work has been closed meanwhile, the release reports the error.
  private func leave(_ object: ObjectReference, _ error: (any Error)?) -> WorkCall {
    object.release()
    return state.withLock { state in
      state.isBusy = false
      if state.object != nil { return error.map { .failed($0) } ?? .returned }
      if let error, !(error is CancellationError) { state.failure = error }
      return .closed
    }
  }

  /// Whether a call of user code is in flight.
  var isBusy: Bool { state.withLock { $0.isBusy } }

  /// Cancels the task; no call of user code begins from now on. Returns whether the release of the bean has to await
  /// the work: if a call is in flight, or if the last one has failed after the work was closed.
  func close() -> Bool {
    let (isAwaited, task, object) = state.withLock { state in
      (state.isBusy || state.failure != nil, state.task, state.object.take())
    }
    task?.cancel()
    object?.release()
    return isAwaited
  }

  /// Closes the work. Returns its task, which has not ended yet; nil where the work was never started.
  package func end() -> Task<Void, Never>? {
    _ = close()
    return state.withLock { $0.task }
  }

  /// Waits until the task of closed work has ended. Returns the error of its last call, unless that was a
  /// `CancellationError`.
  func ended() async -> (any Error)? {
    await state.withLock { $0.task }?.value
    return state.withLock { $0.failure }
  }
}

/// Runs the beans of one environment. An environment has at most one; `BeansRunning` makes it.
package protocol BeanRunner: AnyObject, Sendable {
  /// Whether the beans run, or end: from the beginning of `run()` until it returns.
  var isRunning: Bool { get }
  /// Whether the end has begun: no bean starts to run.
  var isEnding: Bool { get }

  /// Starts the run of a bean that exists, and returns when beans that take it may run.
  ///
  /// - Throws: `CancellationError` if the run has not begun when the end begins, or has failed.
  func untilReady(_ bean: Int32) async throws

  /// Ends the runs, the latest first.
  ///
  /// - Parameter limit: the time limit of the whole end; nil for none.
  func end(within limit: Duration?) async
}

/// The work of one environment's beans, and their runner. Allocated on demand.
final class BeanWorks: Sendable {
  private struct State {
    var works = [Int32: [BeanWork]]()
    var runner: (any BeanRunner)?
  }

  private let state = Locked(State())

  func add(_ work: BeanWork, to slot: Int32) { state.withLock { $0.works[slot, default: []].append(work) } }

  /// Removes and returns the work of a bean that is being released, in reverse order.
  func take(_ slot: Int32) -> [BeanWork] {
    state.withLock { $0.works.removeValue(forKey: slot) ?? [] }.reversed()
  }

  /// The runner of the beans; nil until a call runs or stops them.
  var runner: (any BeanRunner)? { state.withLock { $0.runner } }

  /// Returns the runner, which this makes if there is none.
  func runner<R: BeanRunner>(_ make: () -> R) -> R {
    state.withLock { state in
      let runner = state.runner as? R ?? make()
      state.runner = runner
      return runner
    }
  }
}
