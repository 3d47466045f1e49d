@_spi(BeansPackage) import BeansErrors
import Dispatch

/// The clock of all ends. Tests replace it with one that they advance by hand.
struct EndingClock: Sendable {
  /// Returns the time since a fixed, unspecified beginning.
  let now: @Sendable () -> Duration
  /// Runs the body after a delay, unless the returned closure is called before.
  let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  @TaskLocal static var current = EndingClock(
    now: { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) },
    schedule: { delay, body in
      let (seconds, attoseconds) = min(max(delay, .zero), longest).components
      let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.setEventHandler(handler: body)
      timer.schedule(deadline: .now() + .nanoseconds(nanoseconds))
      timer.resume()
      let set = Locked(timer)
      return { set.withLock { $0.cancel() } }
    })

  /// The longest delay. A limit may be longer than any time that Dispatch can represent.
  static let longest = Duration.seconds(1_000_000_000)
  // Concurrent: a log that blocks delays no other timer.
  private static let queue = DispatchQueue(label: "Beans.EndingClock", attributes: .concurrent)
}

/// An alarm that may be set again and again, until it is stopped.
final class Alarm: Sendable {
  let clock: EndingClock
  private let state = Locked(State())

  private struct State {
    /// The number of times that the alarm has been set.
    var count = 0
    var cancel: (@Sendable () -> Void)?
    var isStopped = false
  }

  init(_ clock: EndingClock = .current) { self.clock = clock }

  /// Runs the body after a delay. A body that retains the alarm keeps it alive until the alarm is stopped.
  func set(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let cancel = clock.schedule(delay, body)
    // Dropping `cancel` drops the body. A body that has run meanwhile may have set the alarm again, and that `cancel`
    // stays.
    let isStopped = state.withLock { state in
      if !state.isStopped, state.count == number { state.cancel = cancel }
      return state.isStopped
    }
    if isStopped { cancel() }
  }

  /// Cancels the body that is due, and every later one.
  func stop() {
    let cancel = state.withLock { state in
      state.isStopped = true
      return state.cancel.take()
    }
    cancel?()
  }
}

extension Duration {
  /// The duration, rounded to milliseconds.
  package var rounded: Duration { .milliseconds(Int64((self / .milliseconds(1)).rounded())) }
}
