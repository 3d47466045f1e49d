import TestSupport
import Testing

@testable import Beans

/// Alarms, on a clock that the test moves.
@Suite struct AlarmTests {
  private let clock = StandingClock()
  private let journal = Journal()

  @Test func theBodyRunsOnceAfterTheDelay() {
    let (alarm, journal) = (Alarm(clock.clock), journal)
    alarm.set(after: .seconds(3)) { journal.note("rung") }
    clock.move(to: .milliseconds(2_999))
    #expect(journal.entries == [])
    clock.move(to: .seconds(3))
    clock.move(to: .seconds(100))
    #expect(journal.entries == ["rung"])
    #expect(clock.pending == 0)
  }

  @Test func aBodyMaySetTheAlarmAgain() {
    let (alarm, journal) = (Alarm(clock.clock), journal)
    alarm.set(after: .seconds(1)) {
      journal.note("first")
      alarm.set(after: .seconds(2)) { journal.note("second") }
    }
    clock.move(to: .seconds(2))
    #expect(journal.entries == ["first"])
    clock.move(to: .seconds(3))
    #expect(journal.entries == ["first", "second"])
    alarm.stop()
  }

  @Test func aStoppedAlarmRunsNothingAndCannotBeSet() {
    let (alarm, journal) = (Alarm(clock.clock), journal)
    alarm.set(after: .seconds(1)) { journal.note("before") }
    alarm.stop()
    #expect(clock.pending == 0)
    alarm.set(after: .seconds(1)) { journal.note("after") }
    #expect(clock.pending == 0)
    clock.move(to: .seconds(100))
    #expect(journal.entries == [])
  }

  @Test func aStoppedAlarmRetainsNothing() {
    weak var gone: Alarm?
    func run() {
      let alarm = Alarm(clock.clock)
      gone = alarm
      alarm.set(after: .seconds(1)) { _ = alarm }
      alarm.stop()
    }
    run()
    #expect(gone == nil)
  }
}
