public import Beans
@_spi(BeansPackage) import BeansErrors

/// A clock whose time changes only when a test advances it.
///
///     let clock = ManualClock()
///     async let reminder: Void = clock.sleep(for: .seconds(60))
///     try await clock.waitForSleepers()
///     clock.advance(by: .seconds(60))
///     try await reminder
///
/// Pass the clock to code that takes `any Clock<Duration>`, or to `Environment.useClock(_:)`: schedules and restarts then
/// wait for the test. After an advance, `waitForSleepers(_:)` returns when a schedule has made its call and sleeps
/// again. From any thread.
public final class ManualClock: CalendarClock, Sendable {
  /// A time by this clock: the total duration by which it has been advanced.
  public struct Instant: InstantProtocol {
    /// The duration since the clock was made.
    public let offset: Duration

    /// Creates the time at an offset from the creation of the clock.
    package init(offset: Duration) { self.offset = offset }

    /// Returns the time after a duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the duration until `other`.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one time is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Waiting {
    let number: Int
    let continuation: CheckedContinuation<Void, any Error>
    /// The time at which a sleeper wakes.
    var deadline = Instant(offset: .zero)
    /// The number of sleepers for which an observer waits.
    var count = 0
  }

  private struct State {
    var now = Instant(offset: .zero)
    var lastNumber = 0
    /// The sleepers in the order in which they wake.
    var sleepers: [Waiting] = []
    var observers: [Waiting] = []
    /// The numbers of tasks that have begun and do not wait yet, each with whether it has been cancelled meanwhile.
    var beginning: [Int: Bool] = [:]

    mutating func begin() -> Int {
      lastNumber += 1
      beginning[lastNumber] = false
      return lastNumber
    }

    /// Removes and returns the observers whose number of sleepers has been reached.
    mutating func takeObservers() -> [Waiting] {
      let done = observers.filter { $0.count <= sleepers.count }
      observers.removeAll { $0.count <= sleepers.count }
      return done
    }
  }

  private let state = Locked(State())

  private let begun: Duration

  /// Creates a clock at time zero.
  ///
  /// - Parameter timeSinceEpoch: the time of the day at which the clock begins, for cron expressions: the time since
  ///   1970-01-01 00:00 UTC, which was a Thursday.
  public init(timeSinceEpoch: Duration = .zero) { begun = timeSinceEpoch }

  /// The time since 1970-01-01 00:00 UTC, by this clock.
  package var timeSinceEpoch: Duration { begun + now.offset }

  /// The current time, the total of all advances.
  public var now: Instant { state.withLock { $0.now } }

  /// The resolution of the clock: zero, so every difference is exact.
  public var minimumResolution: Duration { .zero }

  /// The number of sleeping tasks.
  package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The wake times of the sleeping tasks, in the order in which they wake.
  public var deadlines: [Instant] { state.withLock { $0.sleepers.map(\.deadline) } }

  /// Sleeps until the clock has reached a time. Returns at once where it has reached the time already.
  ///
  /// - Throws: `CancellationError`.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await wait { state, waiting in
      if deadline <= state.now { return false }
      var waiting = waiting
      waiting.deadline = deadline
      let place = state.sleepers.firstIndex { deadline < $0.deadline } ?? state.sleepers.endIndex
      state.sleepers.insert(waiting, at: place)
      return true
    }
  }

  /// Waits until at least `count` tasks sleep.
  ///
  /// - Throws: `CancellationError`.
  public func waitForSleepers(_ count: Int = 1) async throws {
    try await wait { state, waiting in
      if state.sleepers.count >= count { return false }
      var waiting = waiting
      waiting.count = count
      state.observers.append(waiting)
      return true
    }
  }

  /// Advances the clock, and wakes the sleepers that are due: in the order of their wake times, and of equal ones in
  /// the order of arrival.
  ///
  /// A task that sleeps again sleeps from the new time on. A negative duration changes nothing.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = max(state.now, state.now.advanced(by: duration))
      let due = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeFirst(due.count)
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Advances the clock by a duration, from one wake time to the next, so that a schedule makes each of its calls.
  ///
  /// After each step, waits until as many tasks sleep as before: for tasks that sleep again and again. A task that ends
  /// instead keeps this waiting until it is cancelled.
  ///
  /// - Throws: `CancellationError`.
  public func advanceStepwise(by duration: Duration) async throws {
    let end = now.advanced(by: duration)
    while let next = deadlines.first, next <= end {
      let count = sleeperCount
      advance(by: now.duration(to: next))
      try await waitForSleepers(count)
    }
    advance(by: now.duration(to: end))
  }

  /// Advances the clock to the wake time of the next sleeper, and wakes all sleepers that are due then.
  ///
  /// - Returns: false where no task sleeps.
  @discardableResult
  public func advanceToNextSleeper() -> Bool {
    guard let distance = state.withLock({ state in state.sleepers.first.map { state.now.duration(to: $0.deadline) } })
    else { return false }
    advance(by: distance)
    return true
  }

  /// Suspends the task where `enter` returns true, having stored the continuation.
  private func wait(_ enter: @escaping @Sendable (inout State, Waiting) -> Bool) async throws {
    try Task.checkCancellation()
    let number = state.withLock { $0.begin() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (outcome, observers) = state.withLock { state -> (Result<Void, any Error>?, [Waiting]) in
          if state.beginning.removeValue(forKey: number) == true { return (.failure(CancellationError()), []) }
          let isWaiting = enter(&state, Waiting(number: number, continuation: continuation))
          return (isWaiting ? nil : .success(()), state.takeObservers())
        }
        for observer in observers { observer.continuation.resume() }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      cancel(number)
    }
  }

  private func cancel(_ number: Int) {
    let cancelled = state.withLock { state -> Waiting? in
      if state.beginning[number] != nil {
        state.beginning[number] = true
        return nil
      }
      let waiting = (state.sleepers + state.observers).first { $0.number == number }
      state.sleepers.removeAll { $0.number == number }
      state.observers.removeAll { $0.number == number }
      return waiting
    }
    cancelled?.continuation.resume(throwing: CancellationError())
  }
}
