@_spi(BeansPackage) import BeansErrors
import BeansLogging
import TestSupport
import Testing

@testable import Beans

/// Asynchronous creations for which calls wait, on a clock that the test moves.
@Suite(.timeLimit(.minutes(20))) struct CreationWatchTests {
  @Test func theLogNamesWaitingCallsFromTheThirdSecondOn() async {
    await #expect(processExitsWith: .success) {
      let (clock, lines, manager) = (
        StandingClock(), Lines(name: "lines", formatter: .level() + " " + .message()), LogManager()
      )
      manager.registerLogger("Beans", level: .warn, logs: [lines])
      let gate = Gate()
      let environment = try Environment(name: "shop")
      try environment
        .define(
          environment.bean(
            Hen.self, lazy: true,
            async: { (environment: Environment) in
              // A detached task has no values of the task that makes it: the container sees a call from elsewhere.
              try await Task.detached { _ = try await environment.getBean(awaiting: Egg.self) }.value
              return Hen()
            })
        )
        .define(
          environment.bean(
            Egg.self, lazy: true,
            async: { (environment: Environment) in
              try await Task.detached {
                gate.open()
                _ = try await environment.getBean(awaiting: Hen.self)
              }.value
              return Egg()
            }))
      let waiter = EndingClock.$current.withValue(clock.clock) {
        Task { _ = try await environment.getBean(awaiting: Hen.self) }
      }
      try await Task.detached { try gate.wait() }.value
      while environment.waitingCalls < 3 { await Task.yield() }
      clock.move(to: .milliseconds(2999))
      #expect(lines.all == [])
      clock.move(to: .seconds(3))
      let (hen, egg) = (lines.all.first ?? "", lines.all.last ?? "")
      #expect(lines.all.count == 2, "\(lines.all)")
      #expect(hen.hasPrefix("WARN the creation of Hen in 'shop' (BeansTests/CreationWatchTests.swift:"), "\(hen)")
      #expect(
        hen.contains("has taken 3.0 seconds; waiting for it: getBean(awaiting:) (BeansTests/CreationWatchTests.swift:"))
      #expect(
        hen.occurrences(of: "getBean(awaiting:)") == 2 && egg.occurrences(of: "getBean(awaiting:)") == 1, "\(lines.all)"
      )
      #expect(egg.hasPrefix("WARN the creation of Egg in 'shop'"), "\(egg)")
      clock.move(to: .milliseconds(12_999))
      #expect(lines.all.count == 2)
      clock.move(to: .seconds(13))
      #expect(lines.all.count == 4)
      environment.finish()
      let error = await #expect(throws: EnvironmentError.self) { try await waiter.value }
      #expect(error?.code == .finished)
      try await environment.shutdown()
      clock.move(to: .seconds(100))
      #expect(lines.all.count == 4 && clock.pending == 0)
    }
  }

  @Test func theLogNamesAtMostEightCreationsAtATime() async {
    await #expect(processExitsWith: .success) {
      let (clock, lines, manager) = (
        StandingClock(), Lines(name: "lines", formatter: .message()), LogManager()
      )
      manager.registerLogger("Beans", level: .warn, logs: [lines])
      let environment = try Environment(name: "shop")
      for number in 1...10 {
        try environment.define(
          environment.bean(
            Hen.self, id: "\(number)",
            async: {
              try await Task.sleep(for: .seconds(86_400))
              return Hen()
            }))
      }
      let waiter = EndingClock.$current.withValue(clock.clock) { Task { _ = try await environment.ready() } }
      while environment.waitingCalls < 10 { await Task.yield() }
      clock.move(to: .seconds(3))
      #expect(
        lines.all.count == 9 && lines.all.last == "2 more asynchronous creations have taken as long", "\(lines.all)")
      waiter.cancel()
      await #expect(throws: CancellationError.self) { try await waiter.value }
      try await environment.shutdown()
    }
  }

  @Test func aCreationInTimeIsNotLogged() async throws {
    let clock = StandingClock()
    let environment = try Environment(name: "shop")
    try environment.define(environment.bean(Hen.self, async: { Hen() }))
    try await EndingClock.$current.withValue(clock.clock) { try await environment.ready() }
    #expect(clock.pending == 1)
    clock.move(to: .seconds(3))
    #expect(clock.pending == 0)
    try await environment.shutdown()
  }
}

private final class Hen: Sendable {}
private final class Egg: Sendable {}

extension Environment {
  /// The number of calls that wait for creations now.
  fileprivate var waitingCalls: Int {
    existingExtras?.builds.withLock { $0.values.reduce(0) { $0 + $1.waitingCalls } } ?? 0
  }
}

extension String {
  fileprivate func occurrences(of word: String) -> Int {
    split(separator: word, omittingEmptySubsequences: false).count - 1
  }
}

/// Keeps lines.
private final class Lines: Log, @unchecked Sendable {  // the journal is locked
  private let journal = Journal()
  var all: [String] { journal.entries }

  override func log(_ entry: LogEntry) { journal.note(format(entry)) }
}
