import Beans
import BeansRunning
import BeansSessions
import BeansTesting
import TestSupport
import Testing

@Suite("The manual clock", .timeLimit(.minutes(20))) struct ManualClockTests {
  private let clock = ManualClock()

  @Test("A manual clock does not move by itself, and wakes sleepers that are due")
  func wakes() async throws {
    let clock = clock
    let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(59))
    #expect(clock.sleeperCount == 1)
    #expect(clock.deadlines.map(\.offset) == [.seconds(60)])
    clock.advance(by: .seconds(1))
    try await sleeper.value
    #expect(clock.now.offset == .seconds(60))
    #expect(clock.sleeperCount == 0)
  }

  /// Tasks on it run in the order in which they are resumed.
  private actor Listener {
    var lines: [String] = []

    func sleep(_ clock: ManualClock, _ duration: Duration, _ line: String) async throws {
      try await clock.sleep(for: duration)
      lines.append(line)
    }
  }

  @Test("Sleepers wake in the order of their deadlines, then in the order in which they came")
  func order() async throws {
    let (clock, listener) = (clock, Listener())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (count, (seconds, line)) in [(3, "third"), (1, "first"), (2, "second"), (3, "fourth")].enumerated() {
        group.addTask { try await listener.sleep(clock, .seconds(seconds), line) }
        try await clock.waitForSleepers(count + 1)
      }
      while clock.advanceToNextSleeper() {}
      try await group.waitForAll()
    }
    #expect(clock.now.offset == .seconds(3))
    #expect(await Set(listener.lines.prefix(1)) == ["first"])
    #expect(await listener.lines.count == 4)
  }

  @Test("A task that sleeps again sleeps from the new time on")
  func repeated() async throws {
    let (clock, journal) = (clock, Journal())
    let ticker = Task {
      for _ in 0..<3 {
        try await clock.sleep(for: .seconds(10))
        journal.note("\(clock.now.offset)")
      }
    }
    for _ in 0..<3 {
      try await clock.waitForSleepers()
      clock.advance(by: .seconds(10))
    }
    try await ticker.value
    #expect(journal.entries == ["10.0 seconds", "20.0 seconds", "30.0 seconds"])
  }

  @Test("A step waits for the tasks that it has woken, not for others that begin to sleep")
  func steps() async throws {
    let (clock, journal) = (clock, Journal())
    let ticker = Task {
      for count in 1...5 {
        try await clock.sleep(for: .seconds(10))
        Task { try? await clock.sleep(until: .init(offset: .seconds(1_000))) }
        try await clock.waitForSleepers(count)
        journal.note("\(clock.now.offset)")
      }
      try await clock.sleep(for: .seconds(1_000))
    }
    try await clock.waitForSleepers()
    try await clock.advanceStepwise(by: .seconds(55))
    #expect(journal.entries == (1...5).map { "\($0)0.0 seconds" })
    ticker.cancel()
    clock.advance(by: .seconds(1_000))
  }

  @Test("A step fails where a task that it has woken does not sleep again")
  func endOfASleeper() async throws {
    let clock = clock
    let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
    try await clock.waitForSleepers()
    let error = await #expect(throws: (any Error).self) {
      try await clock.advanceStepwise(by: .seconds(90), patience: .milliseconds(1))
    }
    #expect("\(error ?? CancellationError())".contains("until 60.0 seconds"))
    try await sleeper.value
    #expect(clock.now.offset == .seconds(60))
  }

  @Test("Steps go beyond the end of the last session")
  func stepsOfSessions() async throws {
    let (clock, expiries) = (clock, AsyncStream<Void>.makeStream())
    func declare(_ shop: Environment) throws {
      try shop.useClock(clock)
      let visits = try shop.childFactory("session", seed: Void.self) { _ in }
      let sessions = Sessions(visits, idleLimit: .seconds(1_800)) { event in
        if case .expired = event { expiries.continuation.finish() }
      }
      try shop.define(instance: sessions).define(Journal.self, factory: { Journal() }) { journal in
        journal.scheduled(every: .seconds(600)) { $0.note("call") }
      }
    }
    try await withTestEnvironment(declare) { shop in
      try await clock.waitForSleepers()
      try await shop.getBean(Sessions<Void>.self).withSession("id", opening: ()) { _ in }
      try await clock.waitForSleepers(2)
      try await clock.advanceStepwise(by: .seconds(3_000))
      for await _ in expiries.stream {}
      #expect(try shop.getBean(Journal.self).entries == Array(repeating: "call", count: 5))
    }
  }

  @Test("Steps go beyond the end of a schedule")
  func endOfASchedule() async throws {
    let (shop, journal) = (try Environment(name: "shop"), Journal())
    try shop.useClock(clock)
    let visits = try shop.childFactory("visit", seed: Void.self) { visit in
      try visit.define(Journal.self, factory: { journal }) { visit in
        visit.scheduled(every: .seconds(10)) { journal in
          journal.note("call")
          Environment.current?.finish()
        }
      }
    }
    _ = try visits.build(()).getBean(Journal.self)
    try await clock.waitForSleepers()
    try await clock.advanceStepwise(by: .seconds(30))
    #expect(journal.entries == ["call"])
    try await shop.shutdown()
  }

  @Test("A time that has passed is not slept for, and time does not go back")
  func passed() async throws {
    clock.advance(by: .seconds(5))
    clock.advance(by: .seconds(-5))
    try await clock.sleep(until: .init(offset: .seconds(5)))
    #expect(clock.now.offset == .seconds(5))
    #expect(!clock.advanceToNextSleeper())
  }

  @Test("A task that is cancelled does not sleep on, nor wait for sleepers")
  func cancelled() async throws {
    let clock = clock
    let sleeper = Task { try await clock.sleep(for: .seconds(60)) }
    try await clock.waitForSleepers()
    let observer = Task { try await clock.waitForSleepers(2) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    observer.cancel()
    await #expect(throws: CancellationError.self) { try await observer.value }
    #expect(clock.sleeperCount == 0)
    let never = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(60))
    }
    await #expect(throws: CancellationError.self) { try await never.value }
  }

  @Test("A manual clock works with code that takes any clock")
  func injected() async throws {
    final class Reminder: Sendable {
      let clock: any Clock<Duration>
      init(clock: any Clock<Duration>) { self.clock = clock }
      func remind() async throws -> String {
        try await clock.sleep(for: .seconds(3600))
        return "now"
      }
    }
    let clock = clock
    try await withTestEnvironment(
      { environment in
        try environment.define(environment.bean((any Clock<Duration>).self, factory: { ContinuousClock() }))
        try environment.define(environment.bean(Reminder.self, factory: Reminder.init))
      }, overriding: { $0.override((any Clock<Duration>).self) { () -> any Clock<Duration> in clock } }
    ) { environment in
      let reminder = try environment.getBean(Reminder.self)
      async let reminded = reminder.remind()
      try await clock.waitForSleepers()
      clock.advance(by: .seconds(3600))
      #expect(try await reminded == "now")
    }
  }
}
