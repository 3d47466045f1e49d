import Beans
import Foundation
import Synchronization
import Testing

/// One test at a time: there is one scheduler.
@Suite("Schedules", .serialized) enum AllSchedules {}

extension AllSchedules {
  /// A check of the explorer itself, on steps of its own.
  @Suite("The findings of the explorer") struct ExplorerTests {
    /// All results that two threads with these bodies can have.
    private func results<R: Hashable>(_ make: () -> (bodies: [() -> Void], result: () -> R)) -> (Set<R>, Int) {
      var explorer = Explorer(threads: 2)
      let threads = ScheduledThreads(count: 2)
      var found: Set<R> = []
      while true {
        let (bodies, result) = make()
        guard explorer.explore({ #expect(threads.run(bodies, $0) == .finished) }) else { break }
        found.insert(result())
      }
      return (found, explorer.executions)
    }

    private final class Numbers {
      let a = ScheduledAtomic(0)
      let b = ScheduledAtomic(0)
      let lock = ScheduledLock()
      var seen = [0, 0]
    }

    @Test("Two threads that each write one number and read the other's do not both read the old value")
    func storeBuffer() {
      let (found, executions) = results { () -> ([() -> Void], () -> [Int]) in
        let numbers = Numbers()
        return (
          [
            {
              numbers.a.store(1, ordering: .sequentiallyConsistent)
              numbers.seen[0] = numbers.b.load(ordering: .sequentiallyConsistent)
            },
            {
              numbers.b.store(1, ordering: .sequentiallyConsistent)
              numbers.seen[1] = numbers.a.load(ordering: .sequentiallyConsistent)
            },
          ], { numbers.seen }
        )
      }
      #expect(found == [[0, 1], [1, 0], [1, 1]])
      #expect(executions == 3)
    }

    @Test("An addition by a read and a write is lost, and kept in a lock")
    func lostUpdate() {
      for isLocked in [false, true] {
        let (found, executions) = results { () -> ([() -> Void], () -> Int) in
          let numbers = Numbers()
          let add = {
            let old = numbers.a.load(ordering: .sequentiallyConsistent)
            numbers.a.store(old + 1, ordering: .sequentiallyConsistent)
          }
          let body = { if isLocked { numbers.lock.withLock(add) } else { add() } }
          return ([body, body], { numbers.a.load(ordering: .sequentiallyConsistent) })
        }
        #expect(found == (isLocked ? [2] : [1, 2]))
        #expect(executions == (isLocked ? 2 : 4), "\(executions)")
      }
    }
  }

  @Suite("Every interleaving of two threads") struct ScheduleTests {
    private let limit = Settings.number("SCHEDULES") ?? 2_000
    private let wholeLimit = Settings.number("SCHEDULES_WHOLE")

    @Test("A scenario keeps the promises in every schedule", arguments: Settings.scenarios.indices)
    func interleavings(_ index: Int) throws {
      let scenario = Settings.scenarios[index]
      let isSkipped = wholeLimit == nil && Scenario.long.contains(scenario.name)
      let isWhole = Scenario.whole.contains(scenario.name) && !isSkipped
      let begun = ContinuousClock.now
      let (executions, isComplete, failure) = try scenario.explore(limit: isWhole ? wholeLimit ?? 10_000 : limit)
      progress(
        "\(scenario.name): \(isComplete ? "all" : "the first") \(executions) executions, \(ContinuousClock.now - begun)"
      )
      #expect(failure == nil)
      #expect(isComplete || !isWhole, "\(executions) executions are not all")
    }

    @Test("All scenarios that have to be tried whole exist")
    func whole() {
      #expect(Scenario.whole.subtracting(Scenario.all.map(\.name)).isEmpty)
    }
  }

  @Suite("Schedules of four threads") struct RandomTests {
    @Test("Random scenarios keep the promises")
    func random() throws {
      let (count, begun) = (Settings.number("SCHEDULE_SEEDS") ?? 2_000, ContinuousClock.now)
      let threads = ScheduledThreads(count: 4)
      for seed in 0..<UInt64(count) {
        let (scenario, chooser) = (Scenario.random(seed), Random(seed))
        let faults = try scenario.execute(threads, chooser)
        if !faults.isEmpty {
          Issue.record("\(scenario.report(faults, chooser.schedule))")
          return
        }
      }
      progress("four threads: \(count) seeds, \(ContinuousClock.now - begun)")
    }
  }

  @Suite("One schedule") struct ReplayTests {
    @Test("A replayed schedule has the same outcome", .enabled(if: Settings.isReplay))
    func replay() throws {
      let (name, schedule) = try #require(Settings.schedule)
      let seed = name.split(separator: " ").last.flatMap { UInt64($0) }
      let scenario =
        name.hasPrefix("random ") ? seed.map { Scenario.random($0) } : Scenario.all.first { $0.name == name }
      #expect(try #require(scenario).replay(schedule) == [])
    }

    @Test("A printed schedule is read again, and runs the same way on other threads")
    func reading() throws {
      let (threads, others) = (ScheduledThreads(count: 4), ScheduledThreads(count: 4))
      for seed in 0..<UInt64(100) {
        let (scenario, chooser) = (Scenario.random(seed), Random(seed))
        // The first execution fills caches for all: metadata, lookup tables.
        _ = try scenario.execute(threads, FirstEnabled())
        #expect(try scenario.execute(threads, chooser) == [])
        let printed = try #require(Schedule("\(chooser.schedule)"))
        #expect(printed == chooser.schedule)
        let again = Replay(printed)
        #expect(try scenario.execute(others, again) == [])
        #expect(again.isThrough && !again.hasDeviated, "seed \(seed)")
      }
    }
  }
}

/// The settings in the environment of the process.
enum Settings {
  private static let all = ProcessInfo.processInfo.environment

  static func number(_ name: String) -> Int? { all[name].flatMap { Int($0) } }

  /// The scenarios of two threads with `SCENARIO` in their names.
  static var scenarios: [Scenario] {
    Scenario.all.filter { scenario in all["SCENARIO"].map { scenario.name.contains($0) } ?? true }
  }

  static var isReplay: Bool { all["SCHEDULE"] != nil }

  /// A scenario and a schedule of it: `SCHEDULE=name:digits`. Nil where that cannot be read.
  static var schedule: (name: String, schedule: Schedule)? {
    guard let parts = all["SCHEDULE"]?.split(separator: ":"), parts.count == 2, let schedule = Schedule(parts[1]) else {
      return nil
    }
    return (String(parts[0]), schedule)
  }
}
