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
    /// The task that sleeps.
    let task = ManualClock.currentTask
    /// The event for which an observer waits.
    var awaited = Awaited.sleepers(0)
  }

  private enum Awaited {
    /// At least so many tasks sleep.
    case sleepers(Int)
    /// Each task that the last advance has woken sleeps again, or has settled.
    case woken
  }

  /// Identifies the calling task as long as it lives. The reference to the task stays inside of the closure.
  private static var currentTask: Int { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue ?? 0 } }

  private struct State {
    var now = Instant(offset: .zero)
    var lastNumber = 0
    /// The sleepers in the order in which they wake.
    var sleepers: [Waiting] = []
    var observers: [Waiting] = []
    /// The tasks that the last advance has woken, and that neither sleep again nor have settled.
    var woken: Set<Int> = []
    /// The numbers of tasks that have begun and do not wait yet, each with whether it has been cancelled meanwhile.
    var beginning: [Int: Bool] = [:]

    mutating func begin() -> Int {
      lastNumber += 1
      beginning[lastNumber] = false
      return lastNumber
    }

    /// Whether an event has occurred.
    func has(_ awaited: Awaited) -> Bool {
      switch awaited {
      case .sleepers(let count): count <= sleepers.count
      case .woken: woken.isEmpty
      }
    }

    /// Removes and returns the observers whose event has occurred.
    mutating func takeObservers() -> [Waiting] {
      let done = observers.filter { has($0.awaited) }
      let numbers = Set(done.map(\.number))
      observers.removeAll { numbers.contains($0.number) }
      return done
    }

    /// Removes and returns the observers of a step.
    mutating func abandonStep() -> [Waiting] {
      woken = []
      return takeObservers()
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
      state.woken.remove(waiting.task)
      let place = state.sleepers.firstIndex { deadline < $0.deadline } ?? state.sleepers.endIndex
      state.sleepers.insert(waiting, at: place)
      return true
    }
  }

  /// Waits until at least `count` tasks sleep.
  ///
  /// - Throws: `CancellationError`.
  public func waitForSleepers(_ count: Int = 1) async throws { try await wait(for: .sleepers(count)) }

  private func wait(for event: Awaited) async throws {
    try await wait { state, waiting in
      if state.has(event) { return false }
      var waiting = waiting
      waiting.awaited = event
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
      state.woken = Set(due.map(\.task))
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Advances the clock by a duration, from one wake time to the next, so that a schedule makes each of its calls.
  ///
  /// After each step, waits until the tasks that it has woken sleep again: for schedules, restarts, sessions, and tasks
  /// that sleep again and again.
  ///
  /// - Throws: `CancellationError`; an error that names the time, if a woken task has neither slept again nor, in the
  ///   cases named above, ended within a minute: advance the clock by `advance(by:)` where your own tasks end.
  public func advanceStepwise(by duration: Duration) async throws {
    try await advanceStepwise(by: duration, patience: TestEnvironment.limit)
  }

  /// Advances the clock like `advanceStepwise(by:)`, which fails after a time without sleep.
  package func advanceStepwise(by duration: Duration, patience: Duration) async throws {
    let end = now.advanced(by: duration)
    while let next = deadlines.first, next <= end {
      advance(by: now.duration(to: next))
      try await waitForWoken(within: patience)
    }
    advance(by: now.duration(to: end))
  }

  private func waitForWoken(within limit: Duration) async throws {
    let watch = Task {
      try await Task.sleep(for: limit)
      let (observers, time) = state.withLock { ($0.abandonStep(), $0.now.offset) }
      let error = UnfinishedStep(
        description: "a task that slept until \(time) does not sleep again: it has ended, or waits for something else; "
          + "use advance(by:) for it, and waitForSleepers(_:)")
      for observer in observers { observer.continuation.resume(throwing: error) }
    }
    defer { watch.cancel() }
    try await wait(for: .woken)
  }

  package func settle() {
    let observers = state.withLock { state in
      state.woken.remove(Self.currentTask)
      return state.takeObservers()
    }
    for observer in observers { observer.continuation.resume() }
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

/// The error of a step whose tasks do not sleep again.
private struct UnfinishedStep: Error, CustomStringConvertible {
  let description: String
}
