import Beans
import Synchronization
import TestSupport
import Testing

@Suite("Waiting for a build", .timeLimit(.minutes(20)))
struct WaitingSpecification {
  @FreshEnvironment private var environment

  @Test("Threads that wait share one build")
  func twoThreadsShareOneBuild() throws {
    let counters = Tracked.Counters()
    let gate = Gate()
    try environment.define(
      environment.bean(Tracked.self, lazy: true) {
        try gate.wait()
        return Tracked(counters)
      }
    ).startup()
    let workers = (0..<3).map { _ in BackgroundThread { ObjectIdentifier(try environment.getBean(Tracked.self)) } }
    for worker in workers { try worker.waitUntilAsleep() }
    gate.open()
    #expect(Set(try workers.map { try $0.value() }).count == 1)
    #expect(counters.built.value == 1)
    try environment.shutdown()
  }

  @Test("An error reaches all waiters, and the next lookup tries again")
  func anErrorReachesAllWaitersAndTheNextLookupTriesAgain() throws {
    let attempts = Counter()
    let gate = Gate()
    try environment.define(
      environment.bean(Int.self, lazy: true) {
        attempts.increment()
        try gate.wait()
        if attempts.value == 1 { throw Boom() }
        return 7
      }
    ).startup()
    let workers = (0..<2).map { _ in BackgroundThread { code { try environment.getBean(Int.self) } } }
    for worker in workers { try worker.waitUntilAsleep() }
    gate.open()
    let codes = try workers.map { try $0.value() }
    #expect(codes.contains(.creationFailed))
    #expect(codes.allSatisfy { $0 == nil || $0 == .creationFailed })
    #expect(try environment.getBean(Int.self) == 7)
    try environment.shutdown()
  }

  @Test("A circle across threads is cyclicDependency for each of them", arguments: [2, 3, 5])
  func circlesAcrossThreads(count: Int) throws {
    let gates = (0..<count).map { _ in Gate() }
    for number in 0..<count {
      try environment.define(
        environment.bean(String.self, id: "\(number)", lazy: true) { (environment: Environment) in
          gates[number].open()
          for gate in gates { try gate.wait() }
          return try environment.getBean(String.self, byId: "\((number + 1) % count)")
        })
    }
    try environment.startup()
    let workers = (0..<count).map { number in
      BackgroundThread { code { try environment.getBean(String.self, byId: "\(number)") } }
    }
    #expect(try workers.map { try $0.value() }.allSatisfy { $0 == .cyclicDependency })
    try environment.shutdown()
  }

  @Test("A circle that factories close on one thread is drawn from its entry")
  func aCircleOnOneThread() throws {
    for (id, other) in [("a", "b"), ("b", "c"), ("c", "a")] {
      try environment.define(
        environment.bean(
          String.self, id: id, lazy: true,
          factory: { (environment: Environment) in try environment.getBean(String.self, byId: other) }))
    }
    do {
      _ = try environment.getBean(String.self, byId: "b")
      Issue.record("no circle found")
    } catch let error as EnvironmentError {
      #expect(error.code == .cyclicDependency)
      #expect(error.path == ["String 'b'", "String 'c'", "String 'a'", "String 'b'"])
    }
    try environment.shutdown()
  }

  /// Failing and succeeding builds of one slot in quick succession: no caller waits for ever, none gets a second bean.
  @Test("Failing and succeeding builds in quick succession leave no thread waiting, and one bean")
  func failuresAndSuccessesInTurn() throws {
    let attempts = Counter()
    let counters = Tracked.Counters()
    let factory = try environment.childFactory("request", seed: Void.self) {
      try $0.define(
        $0.bean(Tracked.self) {
          attempts.increment()
          if attempts.value % 3 != 0 { throw Boom() }
          return Tracked(counters)
        })
    }
    for _ in 0..<100 {
      let child = try factory.build(())
      let found = try onThreads(3) { _ -> Set<ObjectIdentifier> in
        var found: Set<ObjectIdentifier> = []
        for _ in 0..<5 { if let bean = try? child.getBean(Tracked.self) { found.insert(ObjectIdentifier(bean)) } }
        return found
      }
      #expect(found.reduce(into: Set()) { $0.formUnion($1) }.count == 1)
      child.finish()
    }
    #expect(counters.destroyed.value == 100)
    try environment.shutdown()
  }
}
