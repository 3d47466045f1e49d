import BeansLogging
import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Dispatch
import Synchronization

/// Watches one `shutdown` that waits: from the third second on it logs the reasons for the wait, and it abandons
/// releases that take too long.
///
/// The watch reads the notes that environments keep of releases in flight. Nothing is scheduled before a release begins
/// that runs code of users, or a thread waits.
final class EndWatch: Sendable {
  let clock: EndingClock
  /// Wakes the thread that waits, if there is one.
  let signal = DispatchSemaphore(value: 0)
  private let times: EndTimes
  /// The environment that ends. Weak: its extras hold this watch.
  private weak let environment: Environment?
  private let state = Locked(State())

  private struct State {
    var isArmed = false
    var isOver = false
    var hasGivenUp = false
    var nextReport = EndTimes.firstReport
    /// The number of alarms that have been set.
    var alarms = 0
    var cancel: (@Sendable () -> Void)?
    var whenOver: (@Sendable () -> Void)?
  }

  init(_ environment: Environment, limit: Duration?, _ clock: EndingClock = .current) {
    self.environment = environment
    self.clock = clock
    times = EndTimes(begun: clock.now(), limit: limit)
  }

  /// Whether the watch has a time limit.
  var isLimited: Bool { times.limit != nil }

  var hasGivenUp: Bool { state.withLock { $0.hasGivenUp } }

  /// Begins to check the time, repeatedly until the end.
  func arm() {
    let isFirst = state.withLock { state in
      defer { state.isArmed = true }
      return !state.isArmed && !state.isOver
    }
    if isFirst { schedule() }
  }

  /// Ends the watch: everything has been released.
  func end() {
    let cancel = state.withLock { state in
      state.isOver = true
      defer { state.cancel = nil }
      return state.cancel
    }
    cancel?()
    wake()
  }

  /// Wakes the caller that waits.
  private func wake() {
    let whenOver = state.withLock { state in
      defer { state.whenOver = nil }
      return state.whenOver
    }
    whenOver?()
    signal.signal()
  }

  /// Calls `body` at the end, or when the time limit has passed.
  func whenOver(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.isOver || state.hasGivenUp { return true }
      state.whenOver = body
      return false
    }
    if isOver { body() }
  }

  private func schedule() {
    let now = clock.now()
    let (number, report) = state.withLock { state in
      state.alarms += 1
      return (state.alarms, state.nextReport)
    }
    let next = times.next(after: now, report: times.begun + report)
    // Weak: the timer would keep alive an environment that never ends.
    let cancel = clock.schedule(next - now) { [weak self] in self?.look() }
    // Dropping `cancel` drops the alarm. An alarm that has gone off meanwhile has set the next one already, whose
    // `cancel` stays.
    let isOver = state.withLock { state in
      if !state.isOver, state.alarms == number { state.cancel = cancel }
      return state.isOver
    }
    if isOver { cancel() }
  }

  private func look() {
    guard let environment, !state.withLock({ $0.isOver }) else { return }
    let now = clock.now()
    // The report is read before anything is abandoned, and logged last.
    let report = report(on: environment, now)
    if times.isNearlyOver(now) {
      environment.abandonBodies(after: now - times.begun)
      environment.takeOver(ofThisThread: false)
      for release in environment.releasesBelow {
        let time = now - release.began
        if time >= times.allowed(beginning: release.began) { release.abandon(after: time, isLimit: false) }
      }
      if times.isOver(now) {
        state.withLock { $0.hasGivenUp = true }
        wake()
      }
    }
    if let report { environment.log.logger.warn(report) }
    schedule()
  }

  // MARK: the report

  private func report(on environment: Environment, _ now: Duration) -> String? {
    let waited = now - times.begun
    let isDue = state.withLock { state in
      if state.hasGivenUp || waited < state.nextReport { return false }
      // Once a second at first.
      state.nextReport = waited + (waited < .seconds(10) ? .seconds(1) : .seconds(10))
      return true
    }
    guard isDue else { return nil }
    let reasons = environment.endState().reasons(now)
    if reasons.isEmpty { return nil }
    return "the end of '\(environment.name)' has taken \(waited.rounded) and waits for "
      + Self.list(reasons, separator: "; ")
  }

  /// Joins a list, shortened so that a line stays readable.
  static func list(_ all: [String], separator: String) -> String {
    let shown = all.prefix(8).joined(separator: separator)
    return all.count > 8 ? "\(shown) and \(all.count - 8) more" : shown
  }

  /// Returns the error of an environment that was not released within the limit; nil where nothing is left in the
  /// environment.
  func fault(of environment: Environment, _ state: EndState) -> EnvironmentError? {
    if state.levels.isEmpty { return nil }
    let (reasons, left) = (state.reasons(clock.now()), state.left)
    return EnvironmentError(
      cause: .limitedShutdown,
      "'\(environment.name)' was not released within \((times.limit ?? .zero).rounded)"
        + (reasons.isEmpty ? "" : ": it waits for \(Self.list(reasons, separator: "; "))")
        + (left.isEmpty ? "" : "; left: \(Self.list(left, separator: ", "))"),
      path: ["'\(environment.name)'"])
  }
}

/// The times of one end. A release that hangs is abandoned shortly before the deadline, so that all others are
/// released. A release that still runs at the deadline is named in the error, and abandoned later.
struct EndTimes: Sendable {
  /// The time that an end waits before the wait is logged.
  static let firstReport = Duration.seconds(3)
  /// The time before the deadline that is reserved for the other releases. Also the minimum time of each release.
  static let reserve = Duration.milliseconds(100)

  let begun: Duration
  let limit: Duration?
  private let deadline: Duration?
  /// The time from which a release is abandoned if it has been running for longer than the reserve.
  private let late: Duration?

  init(begun: Duration, limit: Duration?) {
    let limit = limit.map { min(max($0, .zero), EndingClock.longest) }
    self.begun = begun
    self.limit = limit
    deadline = limit.map { begun + $0 }
    late = limit.map { begun + $0 - min(Self.reserve, $0 / 2) }
  }

  func isNearlyOver(_ now: Duration) -> Bool { late.map { now >= $0 } ?? false }

  func isOver(_ now: Duration) -> Bool { deadline.map { now >= $0 } ?? false }

  /// Returns the time that a release may take if it begins at `time`.
  func allowed(beginning time: Duration) -> Duration {
    guard let deadline, let late else { return EndingClock.longest }
    let end = max(late, time + Self.reserve)
    return (end < deadline ? end : max(deadline, time) + Self.reserve) - time
  }

  /// Returns the time of the next check.
  ///
  /// - Parameters:
  ///   - now: the current time.
  ///   - report: the time of the next report in the log.
  func next(after now: Duration, report: Duration) -> Duration {
    guard let deadline, let late else { return report }
    if now < late { return min(late, report) }
    // No thread waits any more: the checks become rarer.
    let next = now + max(.milliseconds(10), (now - deadline) / 8)
    return now < deadline ? min(next, deadline) : next
  }
}

/// One release in flight. It ends or is abandoned; only the first of the two takes effect.
final class ReleaseInProgress: Sendable {
  let began: Duration
  private let ending: BeanEnding
  private let site: ReleaseSite
  private let isOver = Atomic(false)
  private let abandonment = Locked<EnvironmentError?>(nil)
  private let goOn: GoOn?

  /// Continues the end without the release, on a thread of its own, with a failure that is still to be recorded.
  typealias GoOn = @Sendable (EnvironmentError?) -> Void

  /// - Parameter goOn: nil where the end cannot continue without the release.
  init(_ ending: BeanEnding, at site: ReleaseSite, began: Duration, _ goOn: GoOn?) {
    (self.ending, self.site, self.began) = (ending, site, began)
    self.goOn = goOn
  }

  /// The number of beans of the environment that are released after this one.
  var behind: Int { site.behind }

  /// Ends the release. Returns false where it has been abandoned: its runner then has nothing more to do.
  func end() -> Bool { !isOver.exchange(true, ordering: .acquiringAndReleasing) }

  /// Abandons the release, unless it has ended or the end cannot continue without it.
  ///
  /// - Parameters:
  ///   - time: the time for which the release has been running.
  ///   - isLimit: whether `time` is the limit of the declaration.
  func abandon(after time: Duration, isLimit: Bool) {
    guard let goOn, end() else { return }
    let reason = isLimit ? "did not end within its limit of" : "has been running for"
    let part = ending.isWorking ? "its work has been cancelled, and its release" : "its release"
    let failure = ending.bean.fault(
      .limitedRelease, "\(ending.bean.label) in '\(site.name)' has been abandoned: \(part) \(reason) \(time.rounded)")
    abandonment.withLock { $0 = failure }
    guard let environment = site.environment, !site.isOfScope else { return SpareThread.run { goOn(failure) } }
    // At once: a watch that gives up now reports the failure.
    environment.countRelease(failing: failure)
    environment.extras.abandonRunning(failure)
    // A log may block.
    SpareThread.run {
      environment.tell(failure)
      goOn(nil)
    }
  }

  /// The failure of a release that has been abandoned.
  var failure: EnvironmentError? { abandonment.withLock { $0 } }

  /// Returns the description of the release for the log.
  func description(_ now: Duration) -> String {
    "\(ending.bean.label) in '\(site.name)' (\(ending.bean.location.origin)), whose "
      + (ending.isWorking ? "work ignores its cancellation, and whose " : "")
      + "release has been running for \((now - began).rounded)"
  }
}

/// The clock of all ends. Tests replace it with one that they advance by hand.
struct EndingClock: Sendable {
  /// Returns the time since a fixed, unspecified beginning.
  let now: @Sendable () -> Duration
  /// Runs the body after a delay, unless the returned closure is called before.
  let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  @TaskLocal static var current = EndingClock(
    now: { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) },
    schedule: { delay, body in
      let timer = Timer(after: delay, body)
      return { timer.cancel() }
    })

  /// The longest delay. A limit may be longer than any time that Dispatch can represent.
  static let longest = Duration.seconds(1_000_000_000)

  private final class Timer: Sendable {
    // Concurrent: a log that blocks delays no other timer.
    private static let queue = DispatchQueue(label: "Beans.EndingClock", attributes: .concurrent)
    private let source: Locked<any DispatchSourceTimer>

    init(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
      let (seconds, attoseconds) = min(max(delay, .zero), EndingClock.longest).components
      let source = DispatchSource.makeTimerSource(queue: Timer.queue)
      source.setEventHandler(handler: body)
      let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
      source.schedule(deadline: .now() + .nanoseconds(nanoseconds))
      source.resume()
      self.source = Locked(source)
    }

    func cancel() { source.withLock { $0.cancel() } }
  }
}

extension Duration {
  /// The duration, rounded to milliseconds.
  package var rounded: Duration { .milliseconds(Int64((self / .milliseconds(1)).rounded())) }
}
