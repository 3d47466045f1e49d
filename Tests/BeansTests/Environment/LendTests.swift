import TestSupport
import CBeansRuntime
import Synchronization
import Testing

@testable import Beans

/// Beans in use without having been counted in.
@Suite(.timeLimit(.minutes(5)))
struct LendTests {
  private func environment(_ counters: Tracked.Counters) throws -> Environment {
    let environment = try Environment()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) })).startup()
    // The first lookup finds the edge, the ones after it borrow.
    _ = try environment.getBean(Tracked.self)
    return environment
  }

  @Test func aLookupLeavesNoNote() throws {
    let environment = try environment(Tracked.Counters())
    _ = try environment.getBean(Tracked.self)
    #expect(beans_lend_count() == 0)
    #expect(!environment.isLent)
    try environment.shutdown() as Void
  }

  @Test func theEndWaitsForTheLastWhoBorrows() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    try environment.withBean(Tracked.self) { _ in
      #expect(environment.isLent == Environment.canLend)
      environment.finish()
      #expect(counters.destroyed.value == 0)
      try environment.shutdown() as Void
      #expect(counters.destroyed.value == 0)
    }
    #expect(counters.destroyed.value == 1)
    #expect(counters.died.value == 1)
    #expect(environment.isReleased)
  }

  @Test func theEndOfAnAncestorWaitsForOneWhoBorrowsThroughAChild() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    let factory = try Environment(name: "tenant", parent: environment).childFactory("request", seed: Int.self)
    let child = try factory.build(1)
    _ = try child.getBean(Tracked.self)
    try child.withBean(Tracked.self) { _ in
      environment.finish()
      #expect(counters.destroyed.value == 0)
    }
    try environment.shutdown() as Void
    #expect(counters.destroyed.value == 1)
  }

  @Test func aThrowingBodyGivesBack() throws {
    let environment = try environment(Tracked.Counters())
    #expect(throws: Boom.self) { try environment.withBean(Tracked.self) { _ in throw Boom() } }
    #expect(beans_lend_count() == 0)
    try environment.shutdown() as Void
  }

  @Test func whatIsLentIsWhatIsFound() throws {
    let counters = Tracked.Counters()
    let environment = try Environment()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }))
      .define(environment.bean(7, id: "seven")).startup()
    let tracked = try environment.getBean(Tracked.self)
    for _ in 0..<3 {
      #expect(try environment.withBean(Tracked.self) { $0 === tracked })
      #expect(try environment.withBean(Tracked?.self) { $0 === tracked })
      #expect(try environment.withBean(Int.self) { $0 } == 7)
      #expect(try environment.withBean(Int.self, byId: "seven") { $0 } == 7)
      #expect(try environment.getBean(Int.self, byId: "seven") == 7)
      #expect(try environment.getBean(Tracked?.self) === tracked)
      #expect(try environment.getBean(Environment.self) === environment)
      #expect(try environment.withBean(String?.self) { $0 } == nil)
    }
    #expect(beans_lend_count() == 0)
    try environment.shutdown() as Void
  }

  /// It knows what is around it, but holds none of it.
  @Test func whatIsBeingDeclaredLendsNothing() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(Tracked.Counters()) }))
    let tenants = try environment.childFactory("tenant", seed: Int.self)
    _ = try tenants.childFactory("session", seed: Int.self) { session in
      #expect(throws: EnvironmentError.self) { try session.withBean(Tracked.self) { _ in } }
      #expect(throws: EnvironmentError.self) { try session.getBean(Tracked.self) }
    }
    #expect(beans_lend_count() == 0)
    try environment.shutdown() as Void
  }

  /// More than one thread's notes have room for: those beyond go the ordinary way.
  @Test func deeplyNested() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    func nest(_ depth: Int) throws -> Int {
      try environment.withBean(Tracked.self) { _ in depth == 0 ? 1 : try 1 + nest(depth - 1) }
    }
    #expect(try nest(20) == 21)
    #expect(beans_lend_count() == 0)
    try environment.shutdown() as Void
    #expect(counters.destroyed.value == 1)
  }

  /// A thread's notes are handed on when it ends.
  @Test func threadsThatComeAndGo() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    for _ in 0..<50 {
      _ = try onThreads(2) { _ in try environment.withBean(Tracked.self) { _ in environment.isLent } }
    }
    #expect(!environment.isLent)
    try environment.shutdown() as Void
    #expect(counters.died.value == 1)
  }

  @Test func borrowersRaceTheEnd() throws {
    for _ in 0..<200 {
      let counters = Tracked.Counters()
      let environment = try environment(counters)
      let isAlive = try onThreads(3) { number -> Bool in
        if number == 0 {
          environment.finish()
          return true
        }
        var wasAlive = true
        while true {
          let seen = try? environment.withBean(Tracked.self) { _ in counters.died.value == 0 }
          guard let seen else { return wasAlive }
          wasAlive = wasAlive && seen
        }
      }
      #expect(!isAlive.contains(false))
      try environment.shutdown() as Void
      #expect(counters.destroyed.value == 1)
    }
  }

  @Test func prototypesMadeOfSingletonsAreTheCallers() throws {
    let counters = Tracked.Counters()
    let environment = try Environment()
    try environment.define(environment.bean(7))
      .define(environment.bean(Tracked.self, factory: { (_: Int) in Tracked(counters) }).scope("prototype")).startup()
    for _ in 0..<3 { _ = try environment.getBean(Tracked.self) }
    #expect(counters.built.value == 3)
    #expect(counters.died.value == 3)
    try environment.withBean(Tracked.self) { _ in #expect(counters.died.value == 3) }
    #expect(counters.died.value == 4)
    #expect(beans_lend_count() == 0)
    try environment.shutdown() as Void
  }
}
