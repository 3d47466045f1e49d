@_spi(BeansPackage) import BeansSupport

/// Work on one bean in a task of its own: a run, or a schedule. The release of the bean ends the work.
///
/// The task enters before each call of user code and leaves after it. Once the work has been closed, no call begins.
final class BeanWork: Sendable {
  /// The environment to which the running task's work belongs.
  @TaskLocal static var home: Environment?

  /// Whether the running task is work of the environment, or of one below.
  static func isInside(_ environment: Environment) -> Bool {
    home.map { $0 === environment || $0.isDescendant(of: environment) } ?? false
  }

  /// Weak: a schedule does not keep an environment alive that is dropped without a shutdown.
  weak let environment: Environment?
  let bean: BeanDirectory.Entry
  private let state: Locked<State>

  private struct State {
    /// The bean, retained; nil once the work has been closed.
    var object: ObjectReference?
    var isBusy = false
    var task: Task<Void, Never>?
    /// The error of a call that has ended after the work was closed.
    var failure: (any Error)?
  }

  init(_ object: ObjectReference, _ bean: BeanDirectory.Entry, in environment: Environment) {
    self.environment = environment
    self.bean = bean
    object.retain()
    state = Locked(State(object: object))
  }

  deinit {
    let (task, object) = state.withLock { ($0.task, $0.object) }
    task?.cancel()
    object?.release()
  }

  /// Starts the task of the work. The task is cancelled at once if the work has been closed.
  ///
  /// - Parameter make: makes the task, under the lock: the task's first call waits until the task is stored, so that no
  ///   close misses the call.
  func start(_ make: () -> Task<Void, Never>) {
    state.withLock { state in
      let task = make()
      state.task = task
      if state.object == nil { task.cancel() }
    }
  }

  /// Begins a call of user code. Returns the bean, retained for the call; nil once the work has been closed.
  func enter() -> ObjectReference? {
    state.withLock { state in
      guard let object = state.object else { return nil }
      object.retain()
      state.isBusy = true
      return object
    }
  }

  /// Ends a call of user code. Returns false if the work has been closed meanwhile; then the release reports the error.
  ///
  /// - Parameters:
  ///   - object: the bean that `enter` has returned.
  ///   - error: the error of the call.
  @discardableResult
  func leave(_ object: ObjectReference, _ error: (any Error)? = nil) -> Bool {
    object.release()
    return state.withLock { state in
      state.isBusy = false
      if state.object != nil { return true }
      if let error, !(error is CancellationError) { state.failure = error }
      return false
    }
  }

  /// Whether a call of user code is in flight.
  var isBusy: Bool { state.withLock { $0.isBusy } }

  /// Cancels the task; no call of user code begins from now on. Returns true if one is in flight.
  func close() -> Bool {
    let (isBusy, task, object) = state.withLock { state in
      defer { state.object = nil }
      return (state.isBusy, state.task, state.object)
    }
    task?.cancel()
    object?.release()
    return isBusy
  }

  /// Whether the last call has failed after the work was closed; the release of the bean reports it.
  var hasFailed: Bool { state.withLock { $0.failure != nil } }

  /// Closes the work, and waits until its task has ended.
  ///
  /// - Parameter limit: the time limit of the wait; nil for none.
  func end(within limit: Duration?) async {
    _ = close()
    guard let task = state.withLock({ $0.task }) else { return }
    guard let limit else { return await task.value }
    await withCheckedContinuation { continuation in
      let waiter = Waiter(continuation)
      let timer = Task {
        try? await Task.sleep(for: limit)
        waiter.resume()
      }
      Task {
        await task.value
        waiter.resume()
        timer.cancel()
      }
    }
  }

  /// A wait that the first of two events ends.
  private final class Waiter: Sendable {
    private let continuation: Locked<CheckedContinuation<Void, Never>?>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = Locked(continuation) }

    func resume() { continuation.withLock { $0.take() }?.resume() }
  }

  /// Waits until the task of closed work has ended. Returns the error of its last call, unless that was a
  /// `CancellationError`.
  func ended() async -> (any Error)? {
    await state.withLock { $0.task }?.value
    return state.withLock { $0.failure }
  }
}

/// The schedules and runs of one environment's beans, and the state of `run()`. Allocated on demand.
final class BeanWorks: Sendable {
  /// The reason for the end of `run()`.
  enum End: Sendable {
    case stopped, cancelled, failed, released

    /// The cause in words.
    var text: String {
      switch self {
      case .stopped: "stop() was called"
      case .cancelled: "its task was cancelled"
      case .failed: "its start has failed"
      case .released: "it was shut down"
      }
    }
  }

  private struct State {
    var works = [Int32: [BeanWork]]()
    var runs = [Int32: BeanRun]()
    /// Whether `run()` is in progress, and whether a call has returned.
    var isRunning = false
    var hasRun = false
    /// Whether all runs have been started.
    var hasStarted = false
    /// Cancels the report of beans that do not run.
    var cancelReport: (@Sendable () -> Void)?
    var end: End?
    var waiter: CheckedContinuation<Void, Never>?
    /// The failures of runs, and of the start, in their order.
    var failures: [EnvironmentError] = []
  }

  private let state = Locked(State())

  // MARK: the work of beans

  func add(_ work: BeanWork, to slot: Int32) { state.withLock { $0.works[slot, default: []].append(work) } }

  /// Removes and returns the work of a bean that is being released, in reverse order.
  func take(_ slot: Int32) -> [BeanWork] {
    state.withLock { $0.works.removeValue(forKey: slot) ?? [] }.reversed()
  }

  // MARK: runs

  /// The runs in the order of the creation of their beans.
  var runs: [BeanRun] { state.withLock { $0.runs.values.inOrder(of: \.number) } }

  func run(_ slot: Int32) -> BeanRun? { state.withLock { $0.runs[slot] } }

  /// Returns the run of a bean, which this makes if the bean has none; nil for a new run once the end has begun, which
  /// cancels the runs that exist.
  ///
  /// - Parameters:
  ///   - slot: the slot of the bean.
  ///   - make: makes a run with a number, under the lock.
  func reserve(_ slot: Int32, _ make: (_ number: Int) -> BeanRun) -> (run: BeanRun, isNew: Bool)? {
    state.withLock { state in
      if let known = state.runs[slot] { return (known, false) }
      if state.end != nil { return nil }
      let made = make(state.runs.count)
      state.runs[slot] = made
      state.works[slot, default: []].append(made.work)
      return (made, true)
    }
  }

  // MARK: run() and stop()

  /// Begins `run()`. Returns false where another call is in progress.
  func begin() -> Bool {
    let (isFirst, cancel) = state.withLock { state in
      defer { (state.isRunning, state.cancelReport) = (true, nil) }
      return (!state.isRunning, state.cancelReport)
    }
    cancel?()
    return isFirst
  }

  /// Keeps the action that cancels the report of beans that do not run.
  func keep(_ cancel: @escaping @Sendable () -> Void) { state.withLock { $0.cancelReport = cancel } }

  /// Whether `run()` has been called, or is to end at once.
  var hasBegun: Bool { state.withLock { $0.isRunning || $0.hasRun || $0.end != nil } }

  /// Records that all runs have been started.
  func started() { state.withLock { $0.hasStarted = true } }

  var hasStarted: Bool { state.withLock { $0.hasStarted } }

  /// The reason for the end of `run()`; nil while it goes on.
  var causeOfEnd: End? { state.withLock { $0.end } }

  /// Ends `run()`. Returns the failures.
  func finish() -> [EnvironmentError] {
    state.withLock { state in
      (state.isRunning, state.hasRun) = (false, true)
      defer { state.failures = [] }
      return state.failures
    }
  }

  var isEnding: Bool { state.withLock { $0.end != nil } }

  /// Whether `run()` is in progress.
  var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Whether `run()` is in progress, and ends the runs and then the environment.
  var isEndingRuns: Bool { state.withLock { $0.isRunning && $0.end != nil } }

  /// Whether `run()` has not been called, and is to end at once.
  var isStoppedBefore: Bool { state.withLock { $0.end != nil && !$0.hasRun } }

  /// Ends the wait of `run()`. The first reason decides.
  func end(_ end: End) {
    let waiter = state.withLock { state in
      state.end = state.end ?? end
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  func fail(_ error: EnvironmentError) {
    state.withLock { $0.failures.append(error) }
    end(.failed)
  }

  /// Waits for the first reason to end.
  func untilEnd() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        if state.end == nil { state.waiter = continuation }
        return state.end != nil
      }
      if isOver { continuation.resume() }
    }
  }
}

extension Environment {
  /// Removes and returns the work of a bean that is being released.
  func takeWork(of slot: Int32) -> [BeanWork] { existingExtras?.existingWorks?.take(slot) ?? [] }
}
