import Beans
import Glibc

/// The fates of the beans of one round. Only the running thread writes to it.
final class Ledger: @unchecked Sendable {
  private(set) var created = 0
  private(set) var released = 0
  /// Objects that are still there.
  fileprivate(set) var alive = 0
  /// The broken rules.
  private(set) var faults: [String] = []

  func fault(_ what: String) { faults.append(what) }

  fileprivate func created(_ bean: Tracked) {
    (created, alive) = (created + 1, alive + 1)
    for taken in bean.dependencies where taken.isReleased { fault("\(bean.name) was made of \(taken.name), released") }
  }

  fileprivate func released(_ bean: Tracked) {
    released += 1
    if bean.isReleased { fault("\(bean.name) was released twice") }
    for taken in bean.dependencies where taken.isReleased { fault("\(taken.name) was released before \(bean.name)") }
  }
}

/// A bean that records its creation and release.
class Tracked: DisposableBean {
  let ledger: Ledger
  let dependencies: [Tracked]
  private(set) var isReleased = false

  init(_ ledger: Ledger, _ dependencies: Tracked...) {
    self.ledger = ledger
    self.dependencies = dependencies
    ledger.created(self)
  }

  deinit { ledger.alive -= 1 }

  var name: String { "\(type(of: self))" }

  func preDestroy() {
    ledger.released(self)
    isReleased = true
  }
}

/// One round of a scenario: bodies for threads, then the check of the outcome.
struct Round {
  let ledger: Ledger
  let environments: [Environment]
  let bodies: [() -> Void]
  /// Checks the outcome, and ends the round.
  let check: () throws -> Void
}

/// Runs rounds of one scenario in all schedules.
struct Scenario {
  let name: String
  var threads = 2
  let make: () throws -> Round

  /// Returns the faults of one execution.
  func execute(_ threads: ScheduledThreads, _ chooser: any Chooser) throws -> [String] {
    let ledger: Ledger
    let weak: [() -> Environment?]
    do {
      let round = try make()
      ledger = round.ledger
      weak = round.environments.map { environment in { [weak environment] in environment } }
      let end = threads.run(round.bodies, chooser)
      guard end == .finished else { return ["\(end)"] }
      do { try round.check() } catch { ledger.fault("\(error)") }
    }
    if ledger.created != ledger.released { ledger.fault("created \(ledger.created), released \(ledger.released)") }
    if ledger.alive != 0 { ledger.fault("\(ledger.alive) objects are still there") }
    // On a busy machine, the report of an end that takes longer than three seconds may hold its environment for a moment.
    let deadline = ContinuousClock.now + .seconds(10)
    while weak.contains(where: { $0() != nil }), ContinuousClock.now < deadline { sched_yield() }
    if weak.contains(where: { $0() != nil }) { ledger.fault("an environment is still there") }
    return ledger.faults
  }

  /// Tries all executions, or the first `limit`.
  ///
  /// - Returns: the number of executions, true if these are all, and the faults of the first that failed.
  func explore(limit: Int) throws -> (executions: Int, isComplete: Bool, failure: String?) {
    let threads = ScheduledThreads(count: self.threads)
    // The first executions fill caches for all: metadata, lookup tables.
    for _ in 0..<3 { _ = try execute(threads, FirstEnabled()) }
    var explorer = Explorer(threads: self.threads)
    var faults: [String] = []
    while faults.isEmpty, explorer.executions < limit {
      guard try explorer.explore({ faults = try execute(threads, $0) }) else {
        return (explorer.executions, true, nil)
      }
    }
    return (explorer.executions, false, faults.isEmpty ? nil : report(faults, explorer.schedule))
  }

  func report(_ faults: [String], _ schedule: Schedule) -> String {
    "\(name): \(faults.joined(separator: "; ")); again with SCHEDULE='\(name):\(schedule)'"
  }

  /// One execution that is known.
  func replay(_ schedule: Schedule) throws -> [String] {
    let threads = ScheduledThreads(count: self.threads)
    for _ in 0..<3 { _ = try execute(threads, FirstEnabled()) }
    return try execute(threads, Replay(schedule))
  }
}

/// Goes on as a schedule says, and one thread after the other behind its end.
final class Replay: Chooser {
  private var left: ArraySlice<ThreadNumber>
  private let rest = FirstEnabled()

  init(_ schedule: Schedule) { left = schedule.choices[...] }

  /// True if a thread of the schedule could not go on.
  private(set) var hasDeviated = false

  var isThrough: Bool { left.isEmpty }

  func choose(_ choice: Choice) -> ThreadNumber {
    guard let next = left.popFirst() else { return rest.choose(choice) }
    if choice.enabled.contains(next) { return next }
    hasDeviated = true
    return rest.choose(choice)
  }
}
