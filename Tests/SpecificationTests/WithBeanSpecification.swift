import Beans
import TestSupport
import Testing

@Suite("withBean and the end", .timeLimit(.minutes(20)))
struct WithBeanSpecification {
  private func environment(_ counters: Tracked.Counters) throws -> Environment {
    let environment = try Environment()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) })).startup()
    _ = try environment.getBean(Tracked.self)
    return environment
  }

  @Test("The end waits until the last withBean has ended, and releases then")
  func theEndWaitsForTheLastBorrower() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    try environment.withBean(Tracked.self) { _ in
      environment.finish()
      #expect(counters.destroyed.value == 0)
      try environment.shutdown() as Void
      #expect(counters.destroyed.value == 0)
    }
    #expect(counters.destroyed.value == 1)
    #expect(counters.died.value == 1)
    #expect(environment.isReleased)
  }

  @Test("The end of an ancestor waits for a withBean of a child that uses the ancestor's bean")
  func theEndOfAnAncestorWaitsForABorrowerInAChild() throws {
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

  @Test("A body that throws returns the bean")
  func aThrowingBodyReturnsTheBean() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    #expect(throws: Boom.self) { try environment.withBean(Tracked.self) { _ in throw Boom() } }
    try environment.shutdown() as Void
    #expect(counters.destroyed.value == 1)
    #expect(counters.died.value == 1)
  }

  @Test("withBean lends the bean that getBean finds: object, optional, value, by id")
  func withBeanLendsTheBeanOfGetBean() throws {
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
    try environment.shutdown() as Void
  }

  @Test("withBean on the environment that configure receives throws")
  func aConfiguredEnvironmentLendsNothing() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(Tracked.Counters()) }))
    let tenants = try environment.childFactory("tenant", seed: Int.self)
    _ = try tenants.childFactory("session", seed: Int.self) { session in
      #expect(throws: EnvironmentError.self) { try session.withBean(Tracked.self) { _ in } }
      #expect(throws: EnvironmentError.self) { try session.getBean(Tracked.self) }
    }
    try environment.shutdown() as Void
  }

  @Test("withBean may be nested twenty deep")
  func deeplyNested() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    func nest(_ depth: Int) throws -> Int {
      try environment.withBean(Tracked.self) { _ in depth == 0 ? 1 : try 1 + nest(depth - 1) }
    }
    #expect(try nest(20) == 21)
    try environment.shutdown() as Void
    #expect(counters.destroyed.value == 1)
  }

  @Test("Threads that use a bean and end block nothing")
  func threadsThatComeAndGo() throws {
    let counters = Tracked.Counters()
    let environment = try environment(counters)
    for _ in 0..<50 {
      _ = try onThreads(2) { _ in try environment.withBean(Tracked.self) { _ in counters.died.value } }
    }
    #expect(counters.died.value == 0)
    try environment.shutdown() as Void
    #expect(counters.died.value == 1)
  }

  @Test("A bean is alive inside withBean, even while the environment ends")
  func borrowersRaceTheEnd() throws {
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

  @Test("A prototype is the caller's alone, and dies with the body of withBean")
  func prototypesMadeOfSingletonsAreTheCallers() throws {
    let counters = Tracked.Counters()
    let environment = try Environment()
    try environment.define(environment.bean(7))
      .define(environment.bean(Tracked.self, factory: { (_: Int) in Tracked(counters) }).scope("prototype")).startup()
    for _ in 0..<3 { _ = try environment.getBean(Tracked.self) }
    #expect(counters.built.value == 3)
    #expect(counters.died.value == 3)
    try environment.withBean(Tracked.self) { _ in #expect(counters.died.value == 3) }
    #expect(counters.died.value == 4)
    try environment.shutdown() as Void
  }
}
