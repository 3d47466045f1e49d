import BeansLogging
import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Dispatch

/// Watches one `shutdown` that waits: from the third second on it logs the reasons for the wait, and it abandons
/// releases that take too long.
///
/// The watch reads the notes that environments keep of releases in flight. Nothing is scheduled before a release begins
/// that runs code of users, or a thread waits.
final class EndWatch: Sendable {
  /// Wakes the thread that waits, if there is one.
  let signal = DispatchSemaphore(value: 0)
  private let alarm: Alarm
  private let times: EndTimes
  /// The environment that ends. Weak: its extras hold this watch.
  private weak let environment: Environment?
  private let state = Locked(State())

  private struct State {
    var isArmed = false
    var isOver = false
    var hasGivenUp = false
    var nextReport = EndTimes.firstReport
    var whenOver: (@Sendable () -> Void)?
  }

  init(_ environment: Environment, limit: Duration?, _ clock: EndingClock = .current) {
    self.environment = environment
    alarm = Alarm(clock)
    times = EndTimes(begun: clock.now(), limit: limit)
  }

  var clock: EndingClock { alarm.clock }

  /// Whether the watch has a time limit.
  var isLimited: Bool { times.isLimited }

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
    state.withLock { $0.isOver = true }
    alarm.stop()
    wake()
  }

  /// Wakes the caller that waits.
  private func wake() {
    let whenOver = state.withLock { $0.whenOver.take() }
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
    let report = state.withLock { $0.nextReport }
    let next = times.next(after: now, report: times.begun + report)
    // Weak: the timer would keep alive an environment that never ends.
    alarm.set(after: next - now) { [weak self] in self?.look() }
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
    let reasons = EndState(of: environment, now).reasons
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
    if state.isOver { return nil }
    let (reasons, left) = (state.reasons, state.left)
    return EnvironmentError(
      cause: .limitedShutdown,
      "'\(environment.name)' was not released within \(times.limit.rounded)"
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
  let isLimited: Bool
  /// The time that the end may take; `EndingClock.longest` where it is not limited.
  let limit: Duration
  private let deadline: Duration
  /// The time from which a release is abandoned if it has been running for longer than the reserve.
  private let late: Duration

  init(begun: Duration, limit: Duration?) {
    self.begun = begun
    isLimited = limit != nil
    self.limit = min(max(limit ?? EndingClock.longest, .zero), EndingClock.longest)
    deadline = begun + self.limit
    late = deadline - min(Self.reserve, self.limit / 2)
  }

  func isNearlyOver(_ now: Duration) -> Bool { now >= late }

  func isOver(_ now: Duration) -> Bool { now >= deadline }

  /// Returns the time that a release may take if it begins at `time`.
  func allowed(beginning time: Duration) -> Duration {
    let end = max(late, time + Self.reserve)
    return (end < deadline ? end : max(deadline, time) + Self.reserve) - time
  }

  /// Returns the time of the next check.
  ///
  /// - Parameters:
  ///   - now: the current time.
  ///   - report: the time of the next report in the log.
  func next(after now: Duration, report: Duration) -> Duration {
    if now < late { return min(late, report) }
    // No thread waits any more: the checks become rarer.
    let next = now + max(.milliseconds(10), (now - deadline) / 8)
    return now < deadline ? min(next, deadline) : next
  }
}
