@_spi(BeansPackage) import BeansErrors

@testable import Beans

/// A clock that only a test moves.
final class StandingClock: Sendable {
  private struct Alarm {
    let number: Int
    let due: Duration
    let body: @Sendable () -> Void
  }

  private struct State {
    var now = Duration.zero
    var count = 0
    var alarms: [Alarm] = []
  }

  private let state = Locked(State())

  /// The number of alarms that have been set.
  var count: Int { state.withLock { $0.count } }
  /// The number of alarms that are set now.
  var pending: Int { state.withLock { $0.alarms.count } }

  /// Runs `body`; ends that it begins use this clock.
  func rule<Result>(_ body: () throws -> Result) rethrows -> Result {
    try EndingClock.$current.withValue(clock, operation: body)
  }

  var clock: EndingClock {
    EndingClock(
      now: { self.state.withLock { $0.now } },
      schedule: { delay, body in
        let number = self.state.withLock { state in
          state.count += 1
          state.alarms.append(Alarm(number: state.count, due: state.now + delay, body: body))
          return state.count
        }
        return { self.state.withLock { state in state.alarms.removeAll { $0.number == number } } }
      })
  }

  /// Moves to that time, and runs the alarms that are due until then on this thread.
  func move(to time: Duration) {
    while let body = next(until: time) { body() }
  }

  private func next(until time: Duration) -> (@Sendable () -> Void)? {
    state.withLock { state in
      let next = state.alarms.filter { $0.due <= time }.min { ($0.due, $0.number) < ($1.due, $1.number) }
      state.now = max(state.now, next?.due ?? time)
      state.alarms.removeAll { $0.number == next?.number }
      return next?.body
    }
  }
}
