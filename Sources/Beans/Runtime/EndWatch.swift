import BeansLogging
import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Dispatch
import Synchronization

/// One `shutdown` that waits: says in the log what it waits for, from the third second on, and gives up what takes too long.
///
/// Sees what is under way by what the environments note of themselves. Nothing is scheduled before a release begins that
/// runs code of users, or a thread waits.
final class EndWatch: Sendable {
  let clock: EndingClock
  /// Wakes the thread that waits, if one does.
  let signal = DispatchSemaphore(value: 0)
  private let times: EndTimes
  /// Its extras hold this.
  private weak let environment: Environment?
  private let state = Locked(State())

  private struct State {
    var isArmed = false
    var isOver = false
    var hasGivenUp = false
    var nextReport = EndTimes.patience
    /// How many have been set.
    var alarms = 0
    var cancel: (@Sendable () -> Void)?
    var whenOver: (@Sendable () -> Void)?
  }

  init(_ environment: Environment, limit: Duration?, _ clock: EndingClock = .current) {
    self.environment = environment
    self.clock = clock
    times = EndTimes(begun: clock.now(), limit: limit)
  }

  /// Whether it gives up at some time.
  var isLimited: Bool { times.limit != nil }

  var hasGivenUp: Bool { state.withLock { $0.hasGivenUp } }

  /// Begins to look at the time; again and again, until the end.
  func arm() {
    let isFirst = state.withLock { state in
      defer { state.isArmed = true }
      return !state.isArmed && !state.isOver
    }
    if isFirst { schedule() }
  }

  /// Everything has been released.
  func end() {
    let (cancel, whenOver) = state.withLock { state in
      state.isOver = true
      defer { (state.cancel, state.whenOver) = (nil, nil) }
      return (state.cancel, state.whenOver)
    }
    cancel?()
    whenOver?()
    signal.signal()
  }

  /// Calls `body` at the end, or when the time is over.
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
    // The timer would keep an environment alive that never ends.
    let cancel = clock.schedule(next - now) { [weak self] in self?.look() }
    // Without it the alarm is gone. One that has gone off meanwhile leaves its place to the next.
    let isOver = state.withLock { state in
      if !state.isOver, state.alarms == number { state.cancel = cancel }
      return state.isOver
    }
    if isOver { cancel() }
  }

  private func look() {
    guard let environment, !state.withLock({ $0.isOver }) else { return }
    let now = clock.now()
    // Seen first, told last.
    let report = report(on: environment, now)
    if times.isNearlyOver(now) {
      environment.takeOver()
      for release in environment.releasesBelow {
        let time = now - release.began
        if time >= times.allowed(beginning: release.began) { release.abandon(after: time, isLimit: false) }
      }
      if times.isOver(now) { giveUp() }
    }
    if let report { environment.log.logger.warn(report) }
    schedule()
  }

  private func giveUp() {
    let whenOver = state.withLock { state in
      state.hasGivenUp = true
      defer { state.whenOver = nil }
      return state.whenOver
    }
    whenOver?()
    signal.signal()
  }

  // MARK: the report

  private func report(on environment: Environment, _ now: Duration) -> String? {
    let waited = now - times.begun
    let isDue = state.withLock { state in
      if state.hasGivenUp || waited < state.nextReport { return false }
      // Each second at first.
      state.nextReport = waited + (waited < .seconds(10) ? .seconds(1) : .seconds(10))
      return true
    }
    guard isDue else { return nil }
    let reasons = environment.endState().reasons(now)
    if reasons.isEmpty { return nil }
    return "the end of '\(environment.name)' has taken \(waited.rounded) and waits for "
      + Self.list(reasons, separator: "; ")
  }

  /// At most so many that a line can be read.
  static func list(_ all: [String], separator: String) -> String {
    let shown = all.prefix(8).joined(separator: separator)
    return all.count > 8 ? "\(shown) and \(all.count - 8) more" : shown
  }

  /// The fault of an environment that had not been released when the time was over; nil where nothing is left in it.
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

/// The times of one end. A release that hangs is abandoned shortly before the deadline, so that all others are released. One
/// that still runs at the deadline is named, and abandoned after that.
struct EndTimes: Sendable {
  /// The time that an end waits before it says so in the log.
  static let patience = Duration.seconds(3)
  /// The time before the deadline that is kept for the others; the time that each release has at least.
  static let reserve = Duration.milliseconds(100)

  let begun: Duration
  let limit: Duration?
  private let deadline: Duration?
  /// The time at which a release is abandoned that has been running for longer than the reserve.
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

  /// The time that a release may take that begins at that time.
  func allowed(beginning time: Duration) -> Duration {
    guard let deadline, let late else { return EndingClock.longest }
    let end = max(late, time + Self.reserve)
    return (end < deadline ? end : max(deadline, time) + Self.reserve) - time
  }

  /// When to look again.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - report: when the log is to be told next.
  func next(after now: Duration, report: Duration) -> Duration {
    guard let deadline, let late else { return report }
    if now < late { return min(late, report) }
    // Nothing waits any more: less and less often.
    let next = now + max(.milliseconds(10), (now - deadline) / 8)
    return now < deadline ? min(next, deadline) : next
  }
}

/// One release that is under way: it ends or is abandoned, whichever comes first.
final class ReleaseInProgress: Sendable {
  let bean: BeanDirectory.Entry
  /// The name of the environment, or of the scope.
  let place: String
  let began: Duration
  /// How many beans of the environment come after it.
  let behind: Int
  private let isOver = Atomic(false)
  private let abandonment = Locked<EnvironmentError?>(nil)
  /// What goes on without it; nil where nothing can.
  private let abandoned: (@Sendable (EnvironmentError) -> Void)?

  init(
    _ bean: BeanDirectory.Entry, in place: String, began: Duration, behind: Int,
    _ abandoned: (@Sendable (EnvironmentError) -> Void)?
  ) {
    (self.bean, self.place, self.began, self.behind) = (bean, place, began, behind)
    self.abandoned = abandoned
  }

  /// False where it has been abandoned: whoever ran it has nothing more to do.
  func end() -> Bool { !isOver.exchange(true, ordering: .acquiringAndReleasing) }

  /// - Parameters:
  ///   - time: how long it has been running.
  ///   - isLimit: whether that is the declaration's own limit.
  func abandon(after time: Duration, isLimit: Bool) {
    guard let abandoned, end() else { return }
    let reason = isLimit ? "did not end within its limit of" : "has been running for"
    let failure = bean.fault(
      .limitedRelease, "\(bean.label) in '\(place)' has been abandoned: its release \(reason) \(time.rounded)")
    abandonment.withLock { $0 = failure }
    abandoned(failure)
  }

  /// The failure of a release that has been abandoned.
  var failure: EnvironmentError? { abandonment.withLock { $0 } }

  /// What the log says of it.
  func description(_ now: Duration) -> String {
    "\(bean.label) in '\(place)' (\(bean.location.origin)), whose release has been running for \((now - began).rounded)"
  }
}

/// What ends tell the time by. Tests have one that stands still until they move it.
struct EndingClock: Sendable {
  /// Since some beginning.
  let now: @Sendable () -> Duration
  /// Runs the body after that time, unless what is returned is called before.
  let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  @TaskLocal static var current = EndingClock(
    now: { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) },
    schedule: { delay, body in
      let timer = Timer(after: delay, body)
      return { timer.cancel() }
    })

  /// A limit may be far beyond what Dispatch can count.
  static let longest = Duration.seconds(1_000_000_000)

  private final class Timer: Sendable {
    // Concurrent: a log that blocks keeps no other timer waiting.
    private static let queue = DispatchQueue(label: "Beans.EndingClock", attributes: .concurrent)
    // Dispatch's own objects may be used from any thread.
    private let source = Carried(value: DispatchSource.makeTimerSource(queue: Timer.queue))

    init(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
      let (seconds, attoseconds) = min(max(delay, .zero), EndingClock.longest).components
      source.value.setEventHandler(handler: body)
      let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
      source.value.schedule(deadline: .now() + .nanoseconds(nanoseconds))
      source.value.resume()
    }

    func cancel() { source.value.cancel() }
  }
}

extension Duration {
  /// To milliseconds.
  var rounded: Duration { .milliseconds(Int64((self / .milliseconds(1)).rounded())) }
}
