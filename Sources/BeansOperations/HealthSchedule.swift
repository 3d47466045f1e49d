import Beans
@_spi(BeansPackage) import BeansErrors
import BeansLogging
import Dispatch

/// Runs the checks of an environment, each at its own interval, and stores their outcomes.
final class HealthSchedule: Sendable {
  /// A check with its state.
  struct Report: Sendable {
    let check: any HealthCheck
    let state: HealthState
  }

  private struct State {
    var checks: [any HealthCheck] = []
    var states: [HealthState] = []
    var tasks: [Task<Void, Never>] = []
    var isOver = false
  }

  private let environment: Environment
  private let options: OperationsOptions
  private let clock: any Clock<Duration>
  private let logger: @Sendable () -> Logger
  private let state = Locked(State())
  /// An executor besides those of the checks, which may block.
  private let watcher = CheckExecutor("health checks")

  init(
    _ environment: Environment, _ options: OperationsOptions, _ clock: any Clock<Duration>,
    logger: @escaping @Sendable () -> Logger
  ) {
    self.environment = environment
    self.options = options
    self.clock = clock
    self.logger = logger
  }

  /// Starts the checks, once.
  func start(_ checks: [any HealthCheck]) {
    let isFirst = state.withLock { state in
      guard state.checks.isEmpty, !state.isOver else { return false }
      state.checks = checks
      state.states = checks.map { _ in HealthState() }
      return true
    }
    guard isFirst else { return }
    let tasks = checks.indices.map { index in
      Task(executorPreference: CheckExecutor("health check")) { await self.run(checks[index], index) }
    }
    let isOver = state.withLock { state in
      state.tasks = tasks
      return state.isOver
    }
    if isOver { stop() }
  }

  /// Cancels the running checks, and starts no more.
  func stop() {
    let tasks = state.withLock { state in
      state.isOver = true
      defer { state.tasks = [] }
      return state.tasks
    }
    for task in tasks { task.cancel() }
  }

  /// The reports of all checks at one moment, in their order.
  var reports: [Report] {
    state.withLock { state in zip(state.checks, state.states).map { Report(check: $0, state: $1) } }
  }

  // MARK: asking

  private func run(_ check: any HealthCheck, _ index: Int) async {
    let interval = check.interval
    while !Task.isCancelled {
      // Inside of the environment, so that no bean that the check uses is released meanwhile.
      guard environment.tryEnter() else { return }
      await environment.inside { _ in await ask(check, index) }
      do { try await clock.sleep(for: interval) } catch { return }
    }
  }

  private func ask(_ check: any HealthCheck, _ index: Int) async {
    let begun = ContinuousClock.now
    await withTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: watcher) { await self.watch(check, index) }
      var failure: String?
      do { try await check.check() } catch { failure = "\(error)" }
      group.cancelAll()
      // The outcome of a cancelled check is no statement about the service.
      if !Task.isCancelled { note(check, index, failure, .now - begun) }
    }
  }

  /// Records a failure for each period without a result, until it is cancelled.
  private func watch(_ check: any HealthCheck, _ index: Int) async {
    var waited = Duration.zero
    while true {
      do { try await clock.sleep(for: options.slowCheck) } catch { return }
      waited += options.slowCheck
      logger().warn("health check '\(check.name)' has not finished for \(waited)")
      note(check, index, "no result for \(waited)", nil)
    }
  }

  private func note(_ check: any HealthCheck, _ index: Int, _ failure: String?, _ duration: Duration?) {
    let (hasTurned, before) = state.withLock { state in
      let before = state.states[index].status
      return (state.states[index].note(failure, duration, options, at: .now), before)
    }
    guard hasTurned else { return }
    let kind = check.isCritical ? "critical to /\(check.probe.path)" : "not critical"
    if let failure {
      logger().warn("health check '\(check.name)' is down (\(kind)): \(failure)")
    } else if before == .down {
      logger().info("health check '\(check.name)' is up again (\(kind))")
    }
  }
}

extension HealthProbe {
  /// The last part of the probe's path.
  var path: String { self == .alive ? "livez" : "readyz" }
}

/// An executor on its own Dispatch thread, in use only while there is work: the pool of tasks may be the blocked part.
/// Concurrent queues share threads with that pool, serial ones do not.
private final class CheckExecutor: TaskExecutor {
  private let queue: DispatchQueue

  init(_ label: String) { queue = DispatchQueue(label: label) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
