import BeansLogging
import TestSupport
import Testing

@testable import Beans

/// Ends for which a caller waits, on a clock that the test moves.
@Suite(.timeLimit(.minutes(20))) struct EndWatchTests {
  private let clock = StandingClock()
  private let journal = Journal()

  /// Defines beans whose releases note their ids; the ones that hang note that they began, then wait for their gates.
  private func environment(
    _ ids: [String], hanging gates: [String: (begun: Gate, end: Gate)] = [:], under parent: Environment? = nil,
    name: String = "application"
  ) throws -> Environment {
    let environment = try Environment(name: name, parent: parent)
    for id in ids {
      let (journal, gate) = (journal, gates[id])
      try environment.define(
        environment.bean(Item.self, id: id, factory: { Item() })
          .onDestroy { _ in
            gate?.begun.open()
            try gate?.end.wait()
            journal.note(id)
          })
    }
    return try environment.startup()
  }

  /// Begins an end on a thread of its own; its outcome is the error that it throws.
  private func end(_ environment: Environment, within limit: Duration?) -> BackgroundThread<String> {
    BackgroundThread { [clock] in
      do {
        try clock.rule {
          if let limit { try environment.shutdown(within: limit) } else { try environment.shutdown() }
        }
        return ""
      } catch { return "\(error)" }
    }
  }

  @Test func anEndInTimeReleasesEverythingInReverseOrder() throws {
    let environment = try environment(["a", "b", "c"])
    #expect(try end(environment, within: .seconds(5)).value() == "")
    #expect(journal.entries == ["c", "b", "a"])
    #expect(clock.pending == 0)
  }

  @Test func anEndWithoutReleasesSchedulesNothing() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Item.self, factory: { Item() }))
    try environment.startup()
    try clock.rule { try environment.shutdown() }
    #expect(clock.count == 0)
  }

  @Test func anOrdinaryEndIsOverBeforeItsTimer() throws {
    let environment = try environment(["a"])
    try clock.rule { try environment.shutdown() }
    #expect(clock.count == 1)
    #expect(clock.pending == 0)
  }

  @Test func aReleaseThatHangsIsAbandonedATenthOfASecondBeforeTheDeadline() throws {
    let gate = (begun: Gate(), end: Gate())
    let environment = try environment(["a", "b", "c"], hanging: ["b": gate])
    let ended = end(environment, within: .seconds(8))
    try gate.begun.wait()
    clock.move(to: .milliseconds(7899))
    #expect(journal.entries == ["c"])
    clock.move(to: .milliseconds(7900))
    let error = try ended.value()
    #expect(
      error.hasPrefix(
        "destructionFailed: Item 'b' in 'application' has been abandoned: its release has been running for 7.9 seconds "
          + "[Item 'b'] (BeansTests/EndWatchTests.swift:"), "\(error)")
    #expect(journal.entries == ["c", "a"])
    gate.end.open()
    try waitUntil("the return of the abandoned release") { journal.entries == ["c", "a", "b"] }
    #expect(try end(environment, within: nil).value() == "")
    #expect(clock.pending == 0)
  }

  @Test func aFurtherReleaseThatHangsIsNamedAtTheDeadlineAndAbandonedAfterIt() throws {
    let gates = ["c": (begun: Gate(), end: Gate()), "b": (begun: Gate(), end: Gate())]
    let environment = try environment(["a", "b", "c"], hanging: gates)
    let ended = end(environment, within: .seconds(8))
    try gates["c"]?.begun.wait()
    clock.move(to: .milliseconds(7900))
    try gates["b"]?.begun.wait()
    clock.move(to: .milliseconds(7999))
    #expect(journal.entries == [])
    clock.move(to: .seconds(8))
    let error = try ended.value()
    #expect(error.contains("Item 'c' in 'application' has been abandoned"), "\(error)")
    #expect(error.contains("it waits for Item 'b' in 'application'"), "\(error)")
    let released = Gate()
    environment.whenFinished { released.open() }
    clock.move(to: .milliseconds(8150))
    try released.wait()
    #expect(journal.entries == ["a"])
    for gate in gates.values { gate.end.open() }
  }

  @Test func remainingReleasesAreNamedWhenTheTimeIsOver() throws {
    let gates = ["c": (begun: Gate(), end: Gate()), "b": (begun: Gate(), end: Gate())]
    let environment = try environment(["a", "b", "c"], hanging: gates)
    let ended = end(environment, within: .milliseconds(400))
    try gates["c"]?.begun.wait()
    clock.move(to: .milliseconds(300))
    try gates["b"]?.begun.wait()
    clock.move(to: .milliseconds(400))
    let error = try ended.value()
    #expect(error.contains("Item 'c' in 'application' has been abandoned"), "\(error)")
    #expect(error.contains("'application' was not released within 0.4 seconds: it waits for Item 'b'"), "\(error)")
    #expect(error.contains("left: 'application' with Item 'a'"), "\(error)")
    // The rest is released although no caller waits for it.
    clock.move(to: .milliseconds(550))
    let released = Gate()
    environment.whenFinished { released.open() }
    try released.wait()
    #expect(journal.entries == ["a"])
    #expect(clock.pending == 0)
    let later = try end(environment, within: nil).value()
    #expect(later.contains("Item 'b' in 'application' has been abandoned"), "\(later)")
    for gate in gates.values { gate.end.open() }
  }

  @Test func aReleaseThatHangsInAChildDoesNotBlockItsParent() throws {
    let gate = (begun: Gate(), end: Gate())
    let application = try environment(["a"])
    let child = try environment(["x", "y"], hanging: ["y": gate], under: application, name: "child")
    let ended = end(application, within: .seconds(8))
    try gate.begun.wait()
    clock.move(to: .milliseconds(7900))
    let error = try ended.value()
    #expect(error.contains("Item 'y' in 'child' has been abandoned"), "\(error)")
    #expect(journal.entries == ["x", "a"])
    try waitUntil("the end of the child") { child.isReleased }
    gate.end.open()
  }

  @Test func aReleaseInAFactorysChildIsWatchedToo() throws {
    let gate = (begun: Gate(), end: Gate())
    let application = try Environment(name: "application")
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Item.self, id: "x", factory: { Item() }).onDestroy { _ in journal.note("x") })
      try request.define(
        request.bean(Other.self, factory: { (_: Item) in Other() })
          .onDestroy { _ in
            gate.begun.open()
            try gate.end.wait()
          })
    }
    _ = try requests.build(1).getBean(Other.self)
    let ended = end(application, within: .seconds(8))
    try gate.begun.wait()
    clock.move(to: .milliseconds(7900))
    let error = try ended.value()
    #expect(error.contains("Other in 'request' has been abandoned"), "\(error)")
    #expect(journal.entries == ["x"])
    gate.end.open()
  }

  @Test func anAsynchronousReleaseThatNeverReturnsIsAbandoned() async throws {
    let (begun, end) = (Latch(), Latch())
    let environment = try Environment(name: "application")
    let journal = journal
    try environment.define(
      environment.bean(Item.self, id: "a", factory: { Item() }).onDestroy { _ in journal.note("a") })
    try environment.define(
      environment.bean(Slow.self, factory: { (_: Item) in Slow(begun, end, journal) }))
    try environment.startup()
    let ended = Task { [clock] in
      try await EndingClock.$current.withValue(clock.clock) { try await environment.shutdown(within: .seconds(8)) }
    }
    await begun.wait()
    clock.move(to: .milliseconds(7900))
    let error = await #expect(throws: EnvironmentError.self) { try await ended.value }
    #expect(error?.message == "Slow in 'application' has been abandoned: its release has been running for 7.9 seconds")
    #expect(journal.entries == ["a"])
    end.open()
    try await environment.shutdown()
  }

  @Test func aLimitOfItsOwnEndsARelease() throws {
    let gate = (begun: Gate(), end: Gate())
    let environment = try Environment(name: "application")
    let journal = journal
    for id in ["a", "b", "c"] {
      let bean = environment.bean(Item.self, id: id, factory: { Item() })
        .onDestroy { _ in
          if id == "b" {
            gate.begun.open()
            try gate.end.wait()
          }
          journal.note(id)
        }
      if id == "b" { bean.releaseLimit(.seconds(2)) }
      try environment.define(bean)
    }
    try environment.startup()
    let ended = end(environment, within: nil)
    try gate.begun.wait()
    clock.move(to: .milliseconds(1999))
    #expect(journal.entries == ["c"])
    clock.move(to: .seconds(2))
    let error = try ended.value()
    #expect(
      error.contains("Item 'b' in 'application' has been abandoned: its release did not end within its limit of 2.0"),
      "\(error)")
    #expect(journal.entries == ["c", "a"])
    gate.end.open()
  }

  @Test func theLogNamesTheReleasesOfASlowEndFromTheThirdSecondOn() async {
    await #expect(processExitsWith: .success) {
      let tests = EndWatchTests()
      let (lines, manager) = (Lines(name: "lines", formatter: .level() + " " + .message()), LogManager())
      manager.registerLogger("Beans", level: .warn, logs: [lines])
      let gate = (begun: Gate(), end: Gate())
      let environment = try tests.environment(["a", "b"], hanging: ["b": gate])
      let ended = tests.end(environment, within: nil)
      try gate.begun.wait()
      tests.clock.move(to: .milliseconds(2999))
      #expect(lines.all == [])
      tests.clock.move(to: .milliseconds(4500))
      #expect(lines.all.count == 2)
      let begin = "WARN the end of 'application' has taken 4.0 seconds and waits for Item 'b' in 'application' ("
      #expect(lines.all.last?.hasPrefix(begin) == true, "\(lines.all)")
      #expect(lines.all.last?.hasSuffix("whose release has been running for 4.0 seconds") == true, "\(lines.all)")
      gate.end.open()
      #expect(try ended.value() == "")
      #expect(tests.clock.pending == 0)
      tests.clock.move(to: .seconds(100))
      #expect(lines.all.count == 2)
    }
  }

  @Test func aReportNamesAnEnvironmentBetweenTwoReleasesOnce() async {
    await #expect(processExitsWith: .success) {
      let tests = EndWatchTests()
      let (logged, goOn) = (Gate(), Gate())
      let manager = LogManager()
      manager.registerLogger(
        "Beans", level: .warn,
        logs: [
          Listener { line in
            if line.contains("has been abandoned") {
              logged.open()
              try? goOn.wait()
            }
          }
        ])
      let gate = (begun: Gate(), end: Gate())
      let environment = try tests.environment(["a"], hanging: ["a": gate])
      let ended = tests.end(environment, within: .milliseconds(400))
      try gate.begun.wait()
      tests.clock.move(to: .milliseconds(300))
      // The release has been abandoned, and the end has not continued.
      try logged.wait()
      tests.clock.move(to: .milliseconds(400))
      let error = try ended.value()
      #expect(error.contains("Item 'a' in 'application' has been abandoned"), "\(error)")
      #expect(
        error.contains("not released within 0.4 seconds: it waits for 'application', whose release is under way"),
        "\(error)")
      #expect(!error.contains("left:"), "\(error)")
      goOn.open()
      gate.end.open()
    }
  }

  @Test func aReleaseThatIsAbandonedWhileTheReportIsMadeIsNamedOnce() async {
    await #expect(processExitsWith: .success) {
      let tests = EndWatchTests()
      let manager = LogManager()
      let (clock, moved) = (tests.clock, Gate())
      manager.registerLogger(
        "Beans", level: .warn,
        logs: [
          Listener { line in
            // On the thread that is about to throw, after the alarm of the limit has set the next one.
            if line.contains("was not released within") {
              try? moved.wait()
              clock.move(to: .milliseconds(600))
            }
          }
        ])
      let gates = ["c": (begun: Gate(), end: Gate()), "b": (begun: Gate(), end: Gate())]
      let environment = try tests.environment(["a", "b", "c"], hanging: gates)
      let ended = tests.end(environment, within: .milliseconds(400))
      try gates["c"]?.begun.wait()
      tests.clock.move(to: .milliseconds(300))
      try gates["b"]?.begun.wait()
      tests.clock.move(to: .milliseconds(400))
      moved.open()
      let error = try ended.value()
      #expect(error.mentions(ofItem: "b") == 1, "\(error)")
      #expect(error.mentions(ofItem: "c") == 1, "\(error)")
      for gate in gates.values { gate.end.open() }
      // The next shutdown throws the failure that came too late.
      let later = try tests.end(environment, within: nil).value()
      #expect(later.contains("Item 'b' in 'application' has been abandoned"), "\(later)")
    }
  }

  @Test func anAlarmThatFiresBeforeItIsStoredDoesNotReplaceTheNext() throws {
    let environment = try environment(["a"])
    let (standing, alarms) = (clock.clock, Journal())
    let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> @Sendable () -> Void = { delay, body in
      alarms.note("set")
      if alarms.entries.count == 1 {
        body()
        return {}
      }
      let alarm = Alarm(standing.schedule(delay, body))
      return { alarm.cancel() }
    }
    let early = EndingClock(now: standing.now, schedule: schedule)
    let watch = EndWatch(environment, limit: .milliseconds(400), early)
    watch.arm()
    clock.move(to: .milliseconds(400))
    #expect(watch.hasGivenUp)
    watch.end()
    #expect(clock.pending == 0)
    try environment.shutdown()
  }

  @Test func timesAreDividedAsDocumented() {
    let times = EndTimes(begun: .seconds(10), limit: .seconds(8))
    #expect(times.allowed(beginning: .seconds(10)) == .milliseconds(7_900))
    #expect(times.allowed(beginning: .seconds(16)) == .milliseconds(1_900))
    #expect(times.allowed(beginning: .milliseconds(17_850)) == .milliseconds(100))
    #expect(times.allowed(beginning: .milliseconds(17_900)) == .milliseconds(200))
    #expect(times.allowed(beginning: .seconds(30)) == .milliseconds(100))
    #expect(!times.isNearlyOver(.milliseconds(17_899)) && times.isNearlyOver(.milliseconds(17_900)))
    #expect(EndTimes(begun: .zero, limit: .milliseconds(100)).isNearlyOver(.milliseconds(50)))
    #expect(!times.isOver(.milliseconds(17_999)) && times.isOver(.seconds(18)))
    #expect(times.next(after: .seconds(10), report: .seconds(13)) == .seconds(13))
    #expect(times.next(after: .seconds(15), report: .seconds(20)) == .milliseconds(17_900))
    #expect(times.next(after: .milliseconds(17_900), report: .seconds(20)) == .milliseconds(17_910))
    #expect(times.next(after: .milliseconds(17_995), report: .seconds(20)) == .seconds(18))
    #expect(times.next(after: .seconds(26), report: .seconds(26)) == .seconds(27))
    let forever = EndTimes(begun: .zero, limit: nil)
    #expect(forever.next(after: .zero, report: .seconds(3)) == .seconds(3) && !forever.isOver(.seconds(1_000_000)))
    #expect(EndTimes(begun: .seconds(1), limit: .seconds(-1)).isOver(.seconds(1)))
    #expect(!EndTimes(begun: .seconds(1), limit: .seconds(Int64.max)).isNearlyOver(.seconds(1000)))
  }
}

private final class Item: Sendable {}
private final class Other: Sendable {}

private final class Slow: AsyncDisposableBean, Sendable {
  private let (begun, end): (Latch, Latch)
  private let journal: Journal

  init(_ begun: Latch, _ end: Latch, _ journal: Journal) {
    (self.begun, self.end, self.journal) = (begun, end, journal)
  }

  func preDestroy() async throws {
    begun.open()
    await end.wait()
    journal.note("slow")
  }
}

/// Keeps lines.
private final class Lines: Log, @unchecked Sendable {  // the journal is locked
  private let journal = Journal()
  var all: [String] { journal.entries }

  override func log(_ entry: LogEntry) { journal.note(format(entry)) }
}

/// Calls a closure with each line.
private final class Listener: Log, @unchecked Sendable {  // immutable
  private let body: @Sendable (String) -> Void

  init(_ body: @escaping @Sendable (String) -> Void) {
    self.body = body
    super.init(name: "listener", formatter: .message())
  }

  override func log(_ entry: LogEntry) { body(format(entry)) }
}

extension String {
  /// Returns the number of times that the text names a release of an item of the application.
  fileprivate func mentions(ofItem id: String) -> Int {
    let name = "Item '\(id)' in 'application'"
    return indices.count { self[$0...].hasPrefix(name) }
  }
}

/// Keeps an alarm as Dispatch does: the alarm is cancelled with the last reference to it.
private final class Alarm: Sendable {
  let cancel: @Sendable () -> Void
  init(_ cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
  deinit { cancel() }
}
