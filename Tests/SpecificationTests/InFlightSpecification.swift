import Beans
import Synchronization
import TestSupport
import Testing

@Suite("Builds in flight at the end", .timeLimit(.minutes(20))) struct InFlightSpecification {
  private let journal = Journal()

  @Test("A build in flight completes and is then released, too; lookups that come after finish throw")
  func buildInFlight() throws {
    let application = try Environment(name: "application")
    let journal = journal
    let gate = ThreadGate()
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(
        child.bean(Slow.self) {
          try gate.pass()
          journal.note("built")
          return Slow()
        }.postConstruct { _ in journal.note("constructed") }.onDestroy { _ in journal.note("released") })
    }
    try application.startup()
    let child = try requests.build(1)
    let building = BackgroundThread { _ = try child.getBean(Slow.self) }
    try gate.arrival()
    let finishing = BackgroundThread { child.finish() }
    try waitUntil("finished") {
      do { _ = try child.getBean(Int.self) } catch let error as EnvironmentError { return error.code == .finished }
      return false
    }
    try requireFault(.finished) { try child.getBean(Slow.self) }
    #expect(!journal.entries.contains("released"))
    gate.open()
    try finishing.value()
    _ = try building.result()
    try child.shutdown()
    #expect(journal.entries == ["built", "constructed", "released"])
    try application.shutdown()
  }

  @Test("shutdown returns only when a build in flight has been released")
  func shutdownWaitsForBuild() throws {
    let environment = try Environment()
    let journal = journal
    let gate = ThreadGate()
    try environment.define(
      environment.bean(Slow.self, lazy: true, factory: { try gate.passing(Slow()) })
        .onDestroy { _ in journal.note("released") })
    try environment.startup()
    let building = BackgroundThread { _ = try environment.getBean(Slow.self) }
    try gate.arrival()
    let shutting = BackgroundThread {
      try environment.shutdown()
      journal.note("shutdown returned")
    }
    try shutting.waitUntilAsleep()
    #expect(journal.entries.isEmpty)
    gate.open()
    try shutting.value()
    _ = try building.result()
    #expect(journal.entries == ["released", "shutdown returned"])
  }

  @Test("A build in flight that fails has nothing to release, and the waiting shutdown returns")
  func failingBuildInFlight() throws {
    let environment = try Environment()
    let journal = journal
    let gate = ThreadGate()
    try environment.define(
      environment.bean(Slow.self, lazy: true) {
        try gate.pass()
        throw Boom()
      }.onDestroy { _ in journal.note("released") })
    try environment.startup()
    let building = BackgroundThread { _ = try environment.getBean(Slow.self) }
    try gate.arrival()
    let shutting = BackgroundThread { try environment.shutdown() }
    try shutting.waitUntilAsleep()
    gate.open()
    try shutting.value()
    try requireFault(.creationFailed, .finished) { try building.value() }
    #expect(journal.entries.isEmpty)
  }

  @Test("Children opened while their parent finishes are either refused or released")
  func buildingChildrenDuringFinish() throws {
    let released = Counter()
    for _ in 0..<20 {
      let application = try Environment(name: "application")
      let requests = try application.childFactory("request", seed: Int.self) { child in
        try child.define(child.bean(Slow.self, factory: Slow.init).onDestroy { _ in released.increment() })
      }
      try application.startup()
      let before = released.value
      let meeting = MeetingPoint(of: 2)
      let opening = BackgroundThread {
        try meeting.arriveAndWait()
        var built = 0
        for number in 0..<100 {
          do {
            _ = try requests.build(number).getBean(Slow.self)
            built += 1
          } catch let error as EnvironmentError where error.code == .finished {
            // A bean that was built before its lookup was refused would be counted as released only.
            break
          }
        }
        return built
      }
      try meeting.arriveAndWait()
      try application.shutdown()
      let built = try opening.value()
      #expect(released.value - before >= built)
      #expect(released.value - before <= built + 1)
    }
  }

  @Test("A lookup that races with the end returns a bean or throws finished; each built bean is released once")
  func lookupsDuringShutdown() throws {
    for _ in 0..<30 {
      let environment = try Environment()
      let built = Counter()
      let released = Counter()
      for id in ["0", "1", "2", "3"] {
        try environment.define(
          environment.bean(
            Alive.self, id: id, lazy: true,
            factory: { built.counting(Alive()) }
          ).onDestroy { bean in
            let wasAlive = bean.isAlive.withLock { isAlive in
              defer { isAlive = false }
              return isAlive
            }
            if wasAlive { released.increment() }
          })
      }
      try environment.startup()
      let meeting = MeetingPoint(of: 4)
      let threads = (0..<3).map { thread in
        BackgroundThread {
          try meeting.arriveAndWait()
          var round = thread
          while true {
            do {
              _ = try environment.getBean(Alive.self, byId: "\(round % 4)")
            } catch let error as EnvironmentError {
              return error.code
            }
            round += 1
          }
        }
      }
      try meeting.arriveAndWait()
      try environment.shutdown()
      for thread in threads { #expect(try thread.value() == .finished) }
      #expect(built.value == released.value)
    }
  }
}

private final class Slow: Sendable {}

private final class Alive: Sendable {
  let isAlive = Guarded(true)
}
