public import Beans
@_spi(BeansPackage) import BeansErrors
import BeansRunning
public import BeansEventLoop
public import BeansLogging
import Dispatch
import Glibc
import Synchronization

/// The end of a service, from the first signal to the last release.
///
///     running ──signal──▶ announcing ──▶ draining ──drained, deadline or second signal──▶ finishing ──▶ ended
///
/// SIGTERM, SIGINT or `stop()` begin the end. During the announcement the service continues, while `/readyz` already
/// directs load balancers elsewhere. Then the service stops accepting requests and completes those that have arrived,
/// until a deadline. Then sessions are finished, the application environment is shut down, and logs are flushed. A
/// second signal ends the announcement and the draining at once.
///
/// SIGHUP ends nothing: the service outlives its terminal, and opens the files of its logs again. A
/// `WatchedConfigurationSource` needs no signal: it reads a file when it changes.
public final class ServerLifecycle: Sendable {
  /// The progress of the end.
  package enum Phase: Sendable {
    /// No end has begun.
    case running
    /// The end has been announced, and requests are still accepted.
    case announcing
    /// New requests are refused, and requests in flight are completed.
    case draining
    /// The environment is being shut down.
    case finishing
  }

  private struct State {
    var phase = Phase.running
    /// Whether `run()` has been called.
    var isRun = false
    /// The time of the first signal before `run()`.
    var firstSignal: ContinuousClock.Instant?
    /// The timer that ends the announcement.
    var timer: EventLoop.Scheduled?
    /// The timer that ends the process unless `run()` is called in time.
    var startTimer: EventLoop.Scheduled?
    var whenFinishing: [@Sendable () -> Void] = []
  }

  private let environment: Environment
  private let loop: EventLoop
  private let announcement: Duration
  private let drainLimit: Duration
  private let shutdownLimit: Duration?
  private let drain: @Sendable (_ limit: Duration, _ done: @escaping @Sendable () -> Void) -> Void
  private let logs: LogManager?
  private let logLimit: Duration
  private let state = Locked(State())
  /// Opens when no request is left, or the time of the draining is over.
  private let drained = Latch<Void>()
  /// Opens when the work of `whenFinishing` has been done.
  private let finishing = Latch<Void>()
  private let sources = Locked<[SignalSource]>([])

  /// Creates a lifecycle, which is inactive before `run()`.
  ///
  /// - Parameters:
  ///   - environment: the application environment, shut down at the end.
  ///   - loop: a running loop, on whose thread signals arrive.
  ///   - drainLimit: the time limit of requests that have arrived.
  ///   - shutdownLimit: the time limit of the environment's shutdown after that, see `Environment.shutdown(within:)`;
  ///     nil to wait for all releases.
  ///   - announcement: the time during which requests are still accepted after the first signal: as long as load
  ///     balancers take to notice that the service is no longer ready.
  ///   - logs: the manager whose destinations are flushed at the end; by default the installed manager.
  ///   - logLimit: the time limit of the flush; after it, a blocked destination is abandoned.
  ///   - drain: the function that stops accepting requests and completes those that have arrived. Called with the
  ///     remaining time, and again with zero for each further signal; has to call `done`, from any thread, when no
  ///     request is left or the time is over.
  public init(
    environment: Environment, loop: EventLoop, drainLimit: Duration = .seconds(10), shutdownLimit: Duration? = nil,
    announcement: Duration = .zero, logs: LogManager? = nil, logLimit: Duration = .seconds(2),
    drain: @escaping @Sendable (_ limit: Duration, _ done: @escaping @Sendable () -> Void) -> Void
  ) {
    self.environment = environment
    self.loop = loop
    self.announcement = announcement
    self.drainLimit = drainLimit
    self.shutdownLimit = shutdownLimit
    self.drain = drain
    self.logs = logs
    self.logLimit = logLimit
  }

  /// The progress of the end. Callable from any thread.
  package var phase: Phase { state.withLock { $0.phase } }

  /// Calls `body` once, after draining and before the shutdown of the environment: for work that would otherwise delay
  /// sessions or requests.
  ///
  /// Callable from any thread. `body` runs on the thread of `run()`, in the order of these calls; at once, on the
  /// calling thread, if the shutdown of the environment has begun.
  public func whenFinishing(_ body: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if state.phase != .finishing { state.whenFinishing.append(body) }
      return state.phase == .finishing
    }
    if isLate { body() }
  }

  /// Stops watching signals. A service that failed to start has watched signals and never runs.
  deinit { giveBackSignals() }

  /// Watches for signals, so that a signal during the start of the service is not lost. Blocks until the loop watches
  /// the signals; not callable on the loop's own thread. `run()` does this unless it was done before.
  ///
  /// A signal before `run()` begins the end, and limits the rest of the start to the drain limit. A start that hangs
  /// does not keep the process alive: after the limit, or at a further signal a second after the first one, the signal
  /// has its default effect, which ends the process. This happens on the loop's thread, so a start must not block it.
  ///
  /// - Throws: `EventLoopError` if a signal cannot be watched, `.finished` if the loop has stopped. No signal is
  ///   watched then.
  public func watchSignals() throws {
    guard sources.withLock({ $0.isEmpty }) else { return }
    try checkWatching(beginToWatch().wait())
  }

  /// Watches for signals without blocking the calling thread.
  private func watchSignalsLater() async throws {
    guard sources.withLock({ $0.isEmpty }) else { return }
    try checkWatching(await beginToWatch().opened())
  }

  /// Sends the work to the loop. Returns its outcome: the error of a signal that cannot be watched, or nil.
  private func beginToWatch() throws -> Latch<EventLoopError?> {
    let outcome = Latch<EventLoopError?>()
    let isAccepted = loop.tryExecute { [self] in
      var failure: EventLoopError?
      defer { outcome.open(failure) }
      for number in [SIGTERM, SIGINT, SIGHUP] {
        do throws(EventLoopError) {
          let source = try loop.onSignal(number) { [weak self] in
            if number == SIGHUP { self?.noteHangUp() } else { self?.receive(number) }
          }
          sources.withLock { $0.append(source) }
        } catch {
          failure = error
        }
      }
    }
    guard isAccepted else {
      throw EnvironmentError(.finished, "the event loop that would deliver signals has stopped")
    }
    return outcome
  }

  private func checkWatching(_ failure: EventLoopError?) throws {
    guard let failure else { return }
    giveBackSignals(waiting: !loop.isCurrent)
    throw failure
  }

  /// Blocks the calling thread until the service has ended. To be called once; not on a loop's thread.
  ///
  /// Makes the environment ready, runs its `RunnableBean`s, and ends them as `Environment.run()` does: after the draining,
  /// in order. A failed start, and a run that fails, begin the end of the service. An environment that another call runs
  /// already ends with that call. The shutdown awaits asynchronous releases in their place in the order.
  ///
  /// After its return the process ignores SIGTERM, SIGINT and SIGHUP permanently: another Ctrl-C does not interrupt the
  /// last output of the service.
  ///
  /// - Parameters:
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: the errors of `watchSignals`, and those of `Environment.run(options:shutdownLimit:)`.
  public func run(file: StaticString = #fileID, line: UInt = #line) throws {
    try watchSignals()
    begin()
    let outcome = Latch<Result<Void, any Error>>()
    Task.detached(executorPreference: ReleaseExecutor.shared) { [self] in
      do { outcome.open(.success(try await runEnvironment(file, line))) } catch { outcome.open(.failure(error)) }
    }
    drained.wait()
    finish()
    let result = outcome.wait()
    endWatching(waiting: true)
    try result.get()
  }

  /// Runs the service until it has ended, as the synchronous form does, without blocking a thread. To be called once; also
  /// callable from a task on the loop.
  ///
  /// - Parameters:
  ///   - file: the source file of the call, for error messages.
  ///   - line: the line of the call.
  /// - Throws: as the synchronous form. A cancelled task begins the end of the service.
  public func run(file: StaticString = #fileID, line: UInt = #line) async throws {
    try await watchSignalsLater()
    begin()
    async let end: Void = runEnvironment(file, line)
    await drained.opened()
    finish()
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await end) } catch { outcome = .failure(error) }
    endWatching(waiting: false)
    try outcome.get()
  }

  /// Notes that the start is complete: from now on, a signal begins the end and nothing else.
  private func begin() {
    let timer = state.withLock { state in
      state.isRun = true
      defer { state.startTimer = nil }
      return state.startTimer
    }
    timer?.cancel()
  }

  /// Makes the environment ready, and runs it until the work of `whenFinishing` has been done.
  private func runEnvironment(_ file: StaticString, _ line: UInt) async throws {
    let isOfAnotherCall = environment.isRunning || environment.isFinished
    if isOfAnotherCall { return try await endEnvironment(file, line) }
    do {
      try await environment.serve(file: file, line: line) { [self] in
        stopIfRunning()
        try await endEnvironment(file, line)
      }
    } catch {
      // Another call may have begun to run or to end the environment meanwhile: its end has not been reached here.
      stopIfRunning()
      await finishing.opened()
      throw error
    }
  }

  /// Begins the end of the service, since the start or a run has failed, or another caller ends the environment.
  private func stopIfRunning() { if phase == .running { stop() } }

  private func endEnvironment(_ file: StaticString, _ line: UInt) async throws {
    await finishing.opened()
    if let shutdownLimit {
      try await environment.shutdown(within: shutdownLimit, file: file, line: line)
    } else {
      try await environment.shutdown(file: file, line: line)
    }
  }

  /// Does the work of `whenFinishing` after the draining, and ends the runs.
  private func finish() {
    let callbacks = state.withLock { state in
      state.phase = .finishing
      defer { state.whenFinishing = [] }
      return state.whenFinishing
    }
    for callback in callbacks { callback() }
    finishing.open()
    environment.stop()
  }

  private func endWatching(waiting: Bool) {
    giveBackSignals(waiting: waiting, ignoring: true)
    if let logs { logs.flush(within: logLimit) } else { LogManager.flush(within: logLimit) }
  }

  /// Handles a signal, on the loop's thread.
  private func receive(_ number: Int32) {
    let now = ContinuousClock.now
    let (isFirst, isImpatient) = state.withLock { state in
      if state.isRun { return (false, false) }
      guard let first = state.firstSignal else {
        state.firstSignal = now
        return (true, false)
      }
      return (false, now - first >= Self.patience)
    }
    if isImpatient { return abandonStart(number) }
    if isFirst {
      let timer = loop.schedule(after: drainLimit) { [weak self] in self?.abandonStart(number) }
      let isLate = state.withLock { state in
        if !state.isRun { state.startTimer = timer }
        return state.isRun
      }
      if isLate { timer.cancel() }
    }
    stop()
  }

  /// The time after the first signal after which a further one ends a process that has not called `run()`.
  private static let patience = Duration.seconds(1)

  /// Ends the process by a signal, unless `run()` has been called.
  private func abandonStart(_ number: Int32) {
    if state.withLock({ $0.isRun }) { return }
    let logs = logs ?? LogManager.getSingleton()
    logs.getLogger(forName: "Beans.Server").error(
      "the process ends by signal \(number): the service was stopped before its start was complete")
    logs.flush(within: .seconds(1))
    signal(number, SIG_DFL)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
  }

  /// Has the effect of a signal: begins the end, or, the second time, ends the announcement and the draining. Callable
  /// from any thread.
  public func stop() {
    let announces = announcement > .zero && !loop.isClosed
    let (before, timer) = state.withLock { state in
      let before = state.phase
      switch before {
      case .running: state.phase = announces ? .announcing : .draining
      case .announcing: state.phase = .draining
      case .draining, .finishing: break
      }
      defer { state.timer = nil }
      return (before, state.timer)
    }
    timer?.cancel()
    switch before {
    case .running where announces: announce()
    case .running: drain(drainLimit) { [self] in drained.open() }
    case .announcing, .draining: drain(.zero) { [self] in drained.open() }
    case .finishing: break
    }
  }

  /// Opens files of logs, one request after the other.
  private static let reopening = DispatchQueue(label: "beans.logs")

  private func noteHangUp() {
    let name = "Beans.Server"
    let manager = logs ?? LogManager.getSingleton()
    let logger = logs?.getLogger(forName: name) ?? LogManager.getLogger(forName: name)
    // A disk may block.
    Self.reopening.async {
      do {
        try manager.reopen()
        logger.info("SIGHUP: log files have been opened again; watched configuration is read when it changes")
      } catch {
        logger.error("SIGHUP: a log continues in its old file", metadata: ["error": "\(error)"])
      }
    }
  }

  private func announce() {
    let timer = loop.schedule(after: announcement) { [self] in
      let isFirst = state.withLock { state in
        defer { if state.phase == .announcing { state.phase = .draining } }
        return state.phase == .announcing
      }
      if isFirst { drain(drainLimit) { [self] in drained.open() } }
    }
    let isOver = state.withLock { state in
      if state.phase == .announcing { state.timer = timer }
      return state.phase != .announcing
    }
    if isOver { timer.cancel() }
  }

  /// Stops watching signals.
  ///
  /// - Parameters:
  ///   - waiting: true to return only when the loop has stopped watching.
  ///   - ignoring: true to make the process ignore the signals from now on.
  private func giveBackSignals(waiting: Bool = false, ignoring: Bool = false) {
    let given = sources.withLock { sources in
      defer { sources = [] }
      return sources
    }
    guard !given.isEmpty else { return }
    let done = DispatchSemaphore(value: 0)
    let isAccepted = loop.tryExecute {
      for source in given {
        if ignoring { source.closeIgnoringSignal() } else { source.close() }
      }
      done.signal()
    }
    if !isAccepted {
      // The thread that closes the stopped loop runs this.
      loop.execute { for source in given { source.close() } }
    } else if waiting {
      done.wait()
    }
  }
}
