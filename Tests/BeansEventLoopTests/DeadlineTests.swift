import Testing

@testable import BeansEventLoop

@Suite struct DeadlineTests {
  private static let roundings: [(Duration, UInt64)] = [
    (.zero, 0),
    (.nanoseconds(1), 1),
    (.milliseconds(1), 1_000_000),
    (.seconds(-5), 0),
    (.nanoseconds(-1), 0),
    (Duration(secondsComponent: 3, attosecondsComponent: 7_000_000_000), 3_000_000_007),
    (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
    (.seconds(Int64.max), .max),
    (
      Duration(secondsComponent: 18_446_744_073, attosecondsComponent: 709_000_000_000_000_000),
      18_446_744_073_709_000_000
    ),
    (Duration(secondsComponent: 18_446_744_073, attosecondsComponent: 710_000_000_000_000_000), .max),
  ]

  @Test(arguments: roundings)
  func durationsAreRoundedUpAndSaturate(duration: Duration, nanoseconds: UInt64) {
    #expect(Deadline.nanoseconds(duration) == nanoseconds)
  }

  @Test func deadlinesSaturate() {
    #expect(Deadline.after(.seconds(Int64.max)) == Deadline.never)
    #expect(Deadline.after(.seconds(18_446_744_073)) == Deadline.never)
    let before = Deadline.now
    #expect(Deadline.after(.seconds(1)) - before >= 1_000_000_000)
  }

  @Test func millisecondsAreRoundedUp() {
    #expect(Deadline.milliseconds(from: 10, to: 10) == 0)
    #expect(Deadline.milliseconds(from: 11, to: 10) == 0)
    #expect(Deadline.milliseconds(from: 10, to: 11) == 1)
    #expect(Deadline.milliseconds(from: 0, to: 1_000_000) == 1)
    #expect(Deadline.milliseconds(from: 0, to: 1_000_001) == 2)
    #expect(Deadline.milliseconds(from: 0, to: Deadline.never - 1) == 18_446_744_073_710)
  }
}
