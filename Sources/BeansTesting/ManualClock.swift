@_spi(BeansPackage) import BeansSupport

/// A clock that stands still until a test moves it.
///
///     let clock = ManualClock()
///     async let reminder: Void = clock.sleep(for: .seconds(60))
///     try await clock.waitForSleepers()
///     clock.advance(by: .seconds(60))
///     try await reminder
///
/// Give it to code that takes `any Clock<Duration>`. From any thread.
public final class ManualClock: Clock, Sendable {
  /// A time by this clock: how long it has been moved.
  public struct Instant: InstantProtocol {
    /// Since the clock was made.
    public let offset: Duration

    /// The time so long after the clock was made.
    public init(offset: Duration) { self.offset = offset }

    /// The time so much later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// How much later `other` is.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether one time is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Waiting {
    let number: Int
    let continuation: CheckedContinuation<Void, any Error>
    /// Until when it sleeps.
    var deadline = Instant(offset: .zero)
    /// How many sleepers it waits for.
    var count = 0
  }

  private struct State {
    var now = Instant(offset: .zero)
    var lastNumber = 0
    /// In the order in which they will wake.
    var sleepers: [Waiting] = []
    var observers: [Waiting] = []
    /// Those that have begun and wait for nothing yet, and whether they have been cancelled meanwhile.
    var beginning: [Int: Bool] = [:]

    mutating func begin() -> Int {
      lastNumber += 1
      beginning[lastNumber] = false
      return lastNumber
    }

    /// Observers that need not wait any longer.
    mutating func takeObservers() -> [Waiting] {
      let done = observers.filter { $0.count <= sleepers.count }
      observers.removeAll { $0.count <= sleepers.count }
      return done
    }
  }

  private let state = Locked(State())

  /// Creates a clock at the beginning of its time.
  public init() {}

  /// The time, as far as the clock has been moved.
  public var now: Instant { state.withLock { $0.now } }

  /// No difference is too small.
  public var minimumResolution: Duration { .zero }

  /// How many tasks sleep.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Until when each of them sleeps, in the order in which they will wake.
  public var deadlines: [Instant] { state.withLock { $0.sleepers.map(\.deadline) } }

  /// Sleeps until the clock has been moved that far; returns at once where it has.
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

  /// Waits until at least so many tasks sleep.
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

  /// Moves the clock on, and wakes whoever sleeps until then: who sleeps less long first, of two the one that came first.
  ///
  /// Who goes to sleep again sleeps from the new time on. A negative duration moves nothing.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = max(state.now, state.now.advanced(by: duration))
      let due = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeFirst(due.count)
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Moves the clock to the time at which the next sleeper wakes, and wakes all that sleep until then.
  ///
  /// - Returns: false where nobody sleeps.
  @discardableResult
  public func advanceToNextSleeper() -> Bool {
    guard let distance = state.withLock({ state in state.sleepers.first.map { state.now.duration(to: $0.deadline) } })
    else { return false }
    advance(by: distance)
    return true
  }

  /// Suspends the task where `enter` has kept what it is handed.
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
