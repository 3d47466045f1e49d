import Beans
@_spi(BeansPackage) import BeansErrors
import BeansLogging

/// The runs of one environment's beans, and the state of `run()`.
final class Runner: BeanRunner {
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
    var runs = [Int32: BeanRun]()
    /// Whether `run()` is in progress, and whether a call has returned.
    var isRunning = false
    var hasRun = false
    /// Whether all runs have been started.
    var hasStarted = false
    var end: End?
    var waiter: CheckedContinuation<Void, Never>?
    /// The failures of runs, and of the start, in their order.
    var failures: [EnvironmentError] = []
  }

  private weak let environment: Environment?
  private let state = Locked(State())

  init(_ environment: Environment) { self.environment = environment }

  // MARK: runs

  /// The runs in the order of the creation of their beans.
  var runs: [BeanRun] { state.withLock { $0.runs.values.sorted { $0.number < $1.number } } }

  /// Starts the runs of the beans that exist, in the order of their creation. The caller keeps the environment from being
  /// released.
  func startExisting(in environment: Environment) {
    if isEnding { return }
    for bean in RunningBeans(of: environment).all { _ = start(bean, in: environment) }
  }

  /// Returns the run of a bean, which this starts unless it has been started. The runs of the beans that it takes are
  /// started before. The caller keeps the environment from being released.
  ///
  /// - Returns: nil for a bean that does not exist, and for one whose run has not begun when the end begins.
  private func start(_ bean: Int32, in environment: Environment) -> BeanRun? {
    if let run = state.withLock({ $0.runs[bean] }) { return run }
    // A bean that exists has been created after the beans that it takes.
    let needs = RunningBeans(of: environment).taken(by: bean).compactMap { start($0, in: environment) }
    guard let (run, isNew) = reserve(bean, in: environment) else { return nil }
    if isNew { run.start(after: needs, in: environment) }
    return run
  }

  /// Returns the run of a bean, which this makes if the bean has none; nil for a new run once the end has begun, which
  /// cancels the runs that exist.
  private func reserve(_ bean: Int32, in environment: Environment) -> (run: BeanRun, isNew: Bool)? {
    state.withLock { state in
      if let known = state.runs[bean] { return (known, false) }
      guard state.end == nil, let work = RunningBeans(of: environment).work(of: bean) else { return nil }
      let made = BeanRun(work, state.runs.count) { [weak self] in self?.fail($0) }
      state.runs[bean] = made
      return (made, true)
    }
  }

  func untilReady(_ bean: Int32) async throws {
    guard let environment, let run = try environment.using({ start(bean, in: environment) }) else {
      throw CancellationError()
    }
    try await run.untilReady()
  }

  // MARK: run() and stop()

  /// Begins `run()`. Returns false where another call is in progress.
  func begin() -> Bool {
    state.withLock { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
  }

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

  var isRunning: Bool { state.withLock { $0.isRunning } }

  /// Whether `run()` has not been called, and is to end at once.
  var isStoppedBefore: Bool { state.withLock { $0.end != nil && !$0.hasRun } }

  /// Ends the wait of `run()`. The first reason decides.
  func end(_ end: End) {
    let waiter = state.withLock { state in
      state.end = state.end ?? end
      return state.waiter.take()
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

  // MARK: the end of the runs

  /// The part of a time limit that is left for the releases when a run ignores its cancellation.
  private static let reserve = Duration.milliseconds(200)

  func end(within limit: Duration?) async {
    end(.released)
    let began = ContinuousClock.now
    let share = limit.map { $0 < Self.reserve * 2 ? $0 / 2 : $0 - Self.reserve }
    for run in runs.reversed() {
      guard let environment, !environment.isFinished else { return }
      let rest = share.map { max($0 - began.duration(to: .now), .zero) }
      let (label, name, logger) = (run.work.label, environment.name, environment.logger)
      let warning = Task {
        do { try await Task.sleep(for: .seconds(3)) } catch { return }
        logger.warn("\(label) in '\(name)' still runs, 3 seconds after it has been cancelled")
      }
      await run.end(within: [rest, run.work.releaseLimit].compactMap(\.self).min())
      warning.cancel()
    }
  }
}
