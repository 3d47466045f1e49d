public import Beans
@_spi(BeansPackage) import BeansSupport
public import BeansEventLoop
public import BeansLogging
import Dispatch
import Glibc
import Synchronization

/// From the first signal to the last release.
///
///     running ──signal──▶ announcing ──▶ draining ──drained, deadline or second signal──▶ finishing ──▶ ended
///
/// SIGTERM, SIGINT or `stop()` begin the end. For the time of `announcement` the service goes on, while `/readyz` already
/// sends load balancers away; then it stops accepting and answers what has arrived, until a deadline; then sessions are finished, the application environment is shut down, and what logs have kept back is written. A second
/// signal ends the announcement and the draining at once.
///
/// SIGHUP ends nothing: the service outlives its terminal, and a `WatchedConfigurationSource` reads a file when it changes.
public final class ServerLifecycle: Sendable {
  /// Stops accepting and answers what has arrived. Called with the time that is left, and again with zero for each further
  /// signal; has to call `done`, from any thread, when no request is left or the time is over.
  public typealias Drain = @Sendable (_ limit: Duration, _ done: @escaping @Sendable () -> Void) -> Void

  /// How far the end has come.
  public enum Phase: Sendable {
    /// No end has begun.
    case running
    /// The end has been announced, and requests are still accepted.
    case announcing
    /// Nothing is accepted any more; what has arrived is answered.
    case draining
    /// The environment is shut down.
    case finishing
  }

  private struct State {
    var phase = Phase.running
    /// Whether `run()` has been called.
    var isRun = false
    /// The first signal before `run()`.
    var firstSignal: ContinuousClock.Instant?
    /// Ends the announcement.
    var timer: EventLoop.Scheduled?
    /// Ends the process where `run()` is not called in time.
    var startTimer: EventLoop.Scheduled?
    var whenFinishing: [@Sendable () -> Void] = []
  }

  private let environment: Environment
  private let loop: EventLoop
  private let announcement: Duration
  private let drainLimit: Duration
  private let shutdownLimit: Duration?
  private let drain: Drain
  private let logs: LogManager?
  private let logLimit: Duration
  private let state = Locked(State())
  // A semaphore, because a group that is dropped before it has been left stops the process.
  private let drained = DispatchSemaphore(value: 0)
  private let end: Once
  private let sources = Locked<[SignalSource]>([])

  /// Creates a lifecycle; nothing happens before `run()`.
  ///
  /// - Parameters:
  ///   - environment: the application environment, shut down at the end.
  ///   - loop: a running loop, on whose thread signals arrive.
  ///   - drainLimit: how long requests that have arrived may take.
  ///   - shutdownLimit: how long the shutdown of the environment may take after that, see `Environment.shutdown(within:)`;
  ///     nil where it waits for all releases.
  ///   - announcement: how long requests are still accepted after the first signal: as long as load balancers take to hear
  ///     that the service is no longer ready.
  ///   - logs: whose destinations are flushed at the end: those of the installed manager, if not given.
  ///   - logLimit: how long that may take; a destination that blocks is left to itself then.
  ///   - drain: how the service stops accepting and drains.
  public init(
    environment: Environment, loop: EventLoop, drainLimit: Duration = .seconds(10), shutdownLimit: Duration? = nil,
    announcement: Duration = .zero, logs: LogManager? = nil, logLimit: Duration = .seconds(2), drain: @escaping Drain
  ) {
    self.environment = environment
    self.loop = loop
    self.announcement = announcement
    self.drainLimit = drainLimit
    self.shutdownLimit = shutdownLimit
    self.drain = drain
    self.logs = logs
    self.logLimit = logLimit
    self.end = Once { [drained] in drained.signal() }
  }

  /// How far the end has come. From any thread.
  public var phase: Phase { state.withLock { $0.phase } }

  /// Calls `body` once, when draining has ended and before the environment is shut down: for work that sessions or requests would
  /// wait for otherwise.
  ///
  /// From any thread. `body` runs on the thread of `run()`, in the order of these calls; at once, on the calling thread, where the
  /// environment is being shut down already.
  public func whenFinishing(_ body: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if state.phase != .finishing { state.whenFinishing.append(body) }
      return state.phase == .finishing
    }
    if isLate { body() }
  }

  /// A service that failed to start has watched signals and will not run.
  deinit { giveBackSignals() }

  /// Watches for signals, so that one that arrives while the service is still starting is not lost. Blocks until the
  /// loop has taken them up; not on the loop's own thread. `run()` does it otherwise.
  ///
  /// A signal before `run()` begins the end, and gives the start the drain limit to arrive there. A start that hangs does
  /// not keep the process: after the limit, or at a further signal a second after the first one, the signal has its default
  /// effect, and the process ends by it. That takes the loop's thread, so a start must not block it.
  ///
  /// - Throws: `EventLoopError` where a signal cannot be watched, `.finished` when the loop has stopped. None is watched
  ///   then.
  public func watchSignals() throws {
    guard sources.withLock({ $0.isEmpty }) else { return }
    let ready = DispatchSemaphore(value: 0)
    let failure = Locked<EventLoopError?>(nil)
    let isAccepted = loop.tryExecute { [self] in
      defer { ready.signal() }
      for number in [SIGTERM, SIGINT, SIGHUP] {
        do throws(EventLoopError) {
          let source = try loop.onSignal(number) { [weak self] in
            if number == SIGHUP { self?.noteHangUp() } else { self?.receive(number) }
          }
          sources.withLock { $0.append(source) }
        } catch {
          failure.withLock { $0 = error }
        }
      }
    }
    guard isAccepted else {
      throw EnvironmentError(.finished, "the event loop that would deliver signals has stopped")
    }
    ready.wait()
    if let failure = failure.withLock({ $0 }) {
      giveBackSignals(waiting: true)
      throw failure
    }
  }

  /// Blocks the calling thread until the service has ended. Once; not on a loop's thread.
  ///
  /// From its return on the process ignores SIGTERM, SIGINT and SIGHUP, for good: one more Ctrl-C does not cut short what the service still
  /// has to say.
  ///
  /// - Throws: what `watchSignals` throws, and what failed in the shutdown of the environment.
  public func run() throws {
    try watchSignals()
    let timer = state.withLock { state in
      state.isRun = true
      defer { state.startTimer = nil }
      return state.startTimer
    }
    timer?.cancel()
    drained.wait()
    let callbacks = state.withLock { state in
      state.phase = .finishing
      defer { state.whenFinishing = [] }
      return state.whenFinishing
    }
    for callback in callbacks { callback() }
    defer {
      giveBackSignals(waiting: true, ignoring: true)
      if let logs { logs.flush(within: logLimit) } else { LogManager.flush(within: logLimit) }
    }
    if let shutdownLimit { try environment.shutdown(within: shutdownLimit) } else { try environment.shutdown() }
  }

  /// Takes a signal, on the loop's thread.
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

  /// The time after the first signal from which on a further one ends a process that has not called `run()`.
  private static let patience = Duration.seconds(1)

  /// Ends the process by a signal, unless `run()` has been called.
  private func abandonStart(_ number: Int32) {
    if state.withLock({ $0.isRun }) { return }
    let logs = logs ?? LogManager.getSingleton()
    logs.getLogger(forName: "Beans.Server").error(
      "the process ends by signal \(number): the service has been told to end and has not finished its start")
    logs.flush(within: .seconds(1))
    signal(number, SIG_DFL)
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
  }

  /// What a signal does: begins the end, or, the second time, ends the announcement and the draining. From any thread.
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
    case .running: drain(drainLimit) { [self] in end.run() }
    case .announcing, .draining: drain(.zero) { [self] in end.run() }
    case .finishing: break
    }
  }

  private func noteHangUp() {
    let name = "Beans.Server"
    let logger = logs?.getLogger(forName: name) ?? LogManager.getLogger(forName: name)
    logger.info("SIGHUP changes nothing: watched configuration is read when its file changes")
  }

  private func announce() {
    let timer = loop.schedule(after: announcement) { [self] in
      let isFirst = state.withLock { state in
        defer { if state.phase == .announcing { state.phase = .draining } }
        return state.phase == .announcing
      }
      if isFirst { drain(drainLimit) { [self] in end.run() } }
    }
    let isOver = state.withLock { state in
      if state.phase == .announcing { state.timer = timer }
      return state.phase != .announcing
    }
    if isOver { timer.cancel() }
  }

  /// - Parameters:
  ///   - waiting: whether to return only when that has been done.
  ///   - ignoring: whether the process ignores the signals from now on.
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
      // Whoever closes the stopped loop runs this.
      loop.execute { for source in given { source.close() } }
    } else if waiting {
      done.wait()
    }
  }
}

/// Something that several may ask for and that happens once.
private final class Once: Sendable {
  private let body: Locked<(@Sendable () -> Void)?>

  init(_ body: @escaping @Sendable () -> Void) { self.body = Locked(body) }

  func run() {
    let body = body.withLock { body in
      defer { body = nil }
      return body
    }
    body?()
  }
}
