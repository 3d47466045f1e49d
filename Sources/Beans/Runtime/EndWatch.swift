import BeansLogging
@_spi(BeansPackage) import BeansErrors
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
      + EndState.list(reasons, separator: "; ")
  }

  /// Returns the error of an environment that was not released within the limit; nil where nothing is left in the
  /// environment.
  func fault(of environment: Environment, _ state: EndState) -> EnvironmentError? {
    if state.isOver { return nil }
    let (reasons, left) = (state.reasons, state.left)
    return EnvironmentError(
      cause: .limitedShutdown,
      "'\(environment.name)' was not released within \(times.limit.rounded)"
        + (reasons.isEmpty ? "" : ": it waits for \(EndState.list(reasons, separator: "; "))")
        + (left.isEmpty ? "" : "; left: \(EndState.list(left, separator: ", "))"),
      path: ["'\(environment.name)'"])
  }
}
