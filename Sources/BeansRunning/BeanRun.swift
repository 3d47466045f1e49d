import Beans
@_spi(BeansPackage) import BeansErrors
import BeansLogging

/// The run of one `RunnableBean`, with its restarts.
final class BeanRun: Sendable {
  /// The progress of a run.
  enum Phase: Sendable {
    /// The beans that it takes are not ready yet.
    case waiting
    /// `run()` is in flight, and `untilReady()` has not returned.
    case starting
    /// Beans that take this one may run.
    case ready
    /// `run()` has failed and will be called again.
    case restarting
    /// `run()` has returned.
    case ended
    /// `run()` has failed, or has never been called.
    case failed
  }

  private struct State {
    var phase = Phase.waiting
    var restarts = 0
    var reason: String?
    var lastWaiter = 0
    var waiters = [Int: CheckedContinuation<Void, any Error>]()
  }

  private enum Outcome: Sendable {
    case ran((any Error)?)
    case ready((any Error)?)
  }

  let work: BeanWork
  /// The position of the run among those of its environment.
  let number: Int
  /// Called with the failure that ends the runs of the environment.
  private let fail: @Sendable (EnvironmentError) -> Void
  private let state = Locked(State())

  init(_ work: BeanWork, _ number: Int, fail: @escaping @Sendable (EnvironmentError) -> Void) {
    (self.work, self.number, self.fail) = (work, number, fail)
  }

  /// Starts the run in a task of its own, as soon as other runs are ready.
  func start(after needs: [BeanRun], in environment: Environment) {
    work.start {
      Task { await BeanWork.run(in: environment) { await run(after: needs, in: environment) } }
    }
  }

  private func run(after needs: [BeanRun], in environment: Environment) async {
    do { for need in needs { try await need.untilReady() } } catch { return enter(.failed) }
    let clock = environment.clock
    var restarts = 0
    while true {
      let began = clock.now()
      let call = await work.call { (bean: any RunnableBean) in
        enter(.starting)
        if let error = await attempt(bean) { throw error }
      }
      guard case .failed(let error) = call else { return enter(phase(after: call)) }
      if let policy = work.restarts, clock.now() - began > policy.longest { restarts = 0 }
      guard let policy = work.restarts, restarts < policy.limit else {
        // Before the waiting creations fail: the end of the runs has begun when they do.
        fail(failure(error))
        return enter(.failed, error)
      }
      restarts += 1
      let delay = policy.delay(before: restarts)
      enter(.restarting, error)
      environment.logger.warn(
        "\(work.label) in '\(environment.name)' failed while it ran, and is restarted after \(delay.rounded) "
          + "(\(restarts) of \(policy.limit) restarts): \(error)")
      do { try await clock.sleep(delay) } catch { return enter(.failed) }
      clock.calendar?.settle()
    }
  }

  /// The last phase of a run that has not failed.
  private func phase(after call: WorkCall) -> Phase {
    if case .refused = call { .failed } else { .ended }
  }

  /// Calls `run()` and `untilReady()` side by side, until both have ended. Returns the first error.
  private func attempt(_ bean: any RunnableBean) async -> (any Error)? {
    await withTaskGroup(of: Outcome.self) { group in
      group.addTask {
        do { try await bean.run() } catch { return .ran(error) }
        return .ran(nil)
      }
      group.addTask {
        do { try await bean.untilReady() } catch { return .ready(error) }
        return .ready(nil)
      }
      var (failure, hasRun): ((any Error)?, Bool) = (nil, false)
      for await outcome in group {
        switch outcome {
        case .ran(let error):
          failure = failure ?? error
          hasRun = true
          group.cancelAll()
        case .ready(let error?) where !hasRun:
          failure = failure ?? error
          group.cancelAll()
        case .ready(nil) where !hasRun: enter(.ready)
        case .ready: break
        }
      }
      return failure
    }
  }

  private func failure(_ error: any Error) -> EnvironmentError {
    work.fault(.runFailed, "\(work.label) failed while it ran: \(error)").with { $0.underlying = [error] }
  }

  /// Cancels the run, and waits until it has ended.
  ///
  /// - Parameter limit: the time limit of the wait; nil for none.
  func end(within limit: Duration?) async {
    guard let task = work.end() else { return }
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

  // MARK: state

  /// The phase, the number of restarts, and the reason of the last failure.
  var progress: (phase: Phase, restarts: Int, reason: String?) {
    state.withLock { ($0.phase, $0.restarts, $0.reason) }
  }

  /// Enters a phase; wakes the waiting tasks where it decides whether the bean is ready.
  private func enter(_ phase: Phase, _ error: (any Error)? = nil) {
    let reason = error.map { "\($0)" }
    let waiters = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      state.phase = phase
      if let reason { state.reason = reason }
      if phase == .restarting { state.restarts += 1 }
      if phase == .waiting || phase == .starting || phase == .restarting { return [] }
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters {
      if phase == .failed { waiter.resume(throwing: CancellationError()) } else { waiter.resume() }
    }
  }

  /// Returns when beans that take this one may run.
  ///
  /// - Throws: `CancellationError`, also where the run has failed.
  func untilReady() async throws {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          switch state.phase {
          case .ready, .ended: return .success(())
          case .failed: return .failure(CancellationError())
          case .waiting, .starting, .restarting: break
          }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[number] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
  }
}

extension RestartPolicy {
  /// Returns the time before a restart, counted from 1.
  func delay(before restart: Int) -> Duration {
    var delay = delay
    var doublings = restart - 1
    while doublings > 0, delay < longest { (delay, doublings) = (delay * 2, doublings - 1) }
    return min(delay, longest)
  }
}
