import Beans
import TestSupport
import Testing

@Suite("Concurrency", .timeLimit(.minutes(20))) struct ConcurrencySpecification {
  @FreshEnvironment private var environment

  // MARK: single flight

  @Test("Threads that miss together get the one instance that one of them builds")
  func singleFlight() throws {
    let built = Counter()
    let gate = ThreadGate()
    try environment.define(
      environment.bean(Item.self, lazy: true) {
        built.increment()
        try gate.pass()
        return Item()
      })
    try environment.startup()
    let first = BackgroundThread { try environment.getBean(Item.self) }
    try gate.arrival()
    let others = (0..<7).map { _ in BackgroundThread { try environment.getBean(Item.self) } }
    for other in others { try other.waitUntilAsleep() }
    gate.open()
    let item = try first.value()
    for other in others { #expect(try other.value() === item) }
    #expect(built.value == 1)
  }

  @Test("A failed build gives every waiter the same error, and the next lookup tries again")
  func failedFlight() throws {
    let attempts = Counter()
    let gate = ThreadGate()
    try environment.define(
      environment.bean(Item.self, lazy: true) {
        let attempt = attempts.increment()
        guard attempt == 1 else { return Item() }
        try gate.pass()
        throw Boom(name: "attempt \(attempt)")
      })
    try environment.startup()
    let threads = [BackgroundThread { try environment.getBean(Item.self) }]
    try gate.arrival()
    let waiters = (0..<5).map { _ in BackgroundThread { try environment.getBean(Item.self) } }
    for waiter in waiters { try waiter.waitUntilAsleep() }
    gate.open()
    for thread in threads + waiters {
      try requireFault(.creationFailed, causes: [Boom(name: "attempt 1")]) { try thread.value() }
    }
    #expect(attempts.value == 1)
    _ = try environment.getBean(Item.self)
    #expect(attempts.value == 2)
  }

  @Test("A waiter whose own bean needs the failed one fails with the same cause")
  func failureThroughDependency() throws {
    let gate = ThreadGate()
    try environment.define(
      environment.bean(Item.self, lazy: true) {
        try gate.pass()
        throw Boom()
      })
    try environment.define(environment.bean(Box.self, lazy: true, factory: Box.init))
    try environment.startup()
    let direct = BackgroundThread { try environment.getBean(Item.self) }
    try gate.arrival()
    let indirect = BackgroundThread { try environment.getBean(Box.self) }
    try indirect.waitUntilAsleep()
    gate.open()
    try requireFault(.creationFailed) { try direct.value() }
    try requireFault(.creationFailed, through: "Box", causes: [Boom()]) { try indirect.value() }
  }

  @Test("Builds are shared per scope instance: two children build their own bean at the same time")
  func perScopeInstance() throws {
    let application = try Environment(name: "application")
    let meeting = MeetingPoint(of: 2, "both factories")
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Item.self, factory: { try meeting.before(Item()) }))
    }
    let children = try (0..<2).map { try requests.build($0) }
    let threads = children.map { child in BackgroundThread { try child.getBean(Item.self) } }
    #expect(try threads[0].value() !== threads[1].value())
    try application.shutdown()
  }

  @Test("Prototypes are not single-flight: two threads may be in the factory at once")
  func prototypes() throws {
    let meeting = MeetingPoint(of: 2, "both factories")
    try environment.define(environment.bean(Item.self, factory: { try meeting.before(Item()) }).scope("prototype"))
    try environment.startup()
    let threads = (0..<2).map { _ in BackgroundThread { try environment.getBean(Item.self) } }
    #expect(try threads[0].value() !== threads[1].value())
  }

  // MARK: unrelated lookups

  @Test("A slow factory does not block an unrelated bean, a filled slot, or a child")
  func slowFactory() throws {
    let gate = ThreadGate()
    try environment.define(environment.bean(Item.self, lazy: true, factory: { try gate.passing(Item()) }))
    try environment.define(environment.bean(Other.self, id: "eager", factory: Other.init))
    try environment.define(environment.bean(Other.self, id: "lazy", lazy: true, factory: Other.init))
    try environment.define(environment.bean(Other.self, id: "fresh", factory: Other.init).scope("prototype"))
    let requests = try environment.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Box.self, factory: { Box(item: Item()) }))
    }
    try environment.startup()
    let slow = BackgroundThread { try environment.getBean(Item.self) }
    try gate.arrival()
    let unrelated = BackgroundThread {
      for id in ["eager", "lazy", "fresh"] { _ = try environment.getBean(Other.self, byId: id) }
      try requests.withChild(1) { child in _ = try child.getBean(Box.self) }
      _ = environment.report()
    }
    try unrelated.value()
    gate.open()
    try slow.value()
  }

  @Test("No lock is held while user code runs: a factory may wait for a thread that uses the container")
  func factoryWaitsForAnotherThread() throws {
    try environment.define(environment.bean(Other.self, lazy: true, factory: Other.init))
    try environment.define(
      environment.bean(Item.self, lazy: true) { [unowned environment] in
        let other = Captured<Environment>()
        other.value = environment
        try BackgroundThread { _ = try other.value?.getBean(Other.self) }.value()
        return Item()
      })
    try environment.startup()
    try BackgroundThread { try environment.getBean(Item.self) }.value()
  }

  @Test("postConstruct, post processors and releases run without a lock, too")
  func callbacksWaitForAnotherThread() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.define(application.bean(Other.self, lazy: true, factory: Other.init))
    let holder = Captured<Environment>()
    let useContainer: @Sendable () throws -> Void = {
      let thread = BackgroundThread { _ = try holder.value?.getBean(Other.self) }
      try thread.value()
    }
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(
        child.bean(Item.self, factory: Item.init)
          .postConstruct { _ in try useContainer() }
          .onDestroy { _ in try useContainer() })
    }
    try application.startup()
    holder.value = application
    let child = try requests.build(1)
    try BackgroundThread {
      _ = try child.getBean(Item.self)
      try child.shutdown()
    }.value()
    holder.value = nil
  }

  // MARK: many threads

  @Test("Every lookup after startup is safe from any thread")
  func manyLookups() throws {
    try environment.define(environment.bean(Box.self, lazy: true, factory: Box.init))
    try environment.define(environment.bean(Item.self, lazy: true, factory: Item.init))
    for number in 0..<20 {
      try environment.define(environment.bean(Other.self, id: "\(number)", lazy: true, factory: Other.init))
    }
    try environment.startup()
    let meeting = MeetingPoint(of: 8)
    let threads = (0..<8).map { thread in
      BackgroundThread {
        try meeting.arriveAndWait()
        var found: [ObjectIdentifier] = []
        for round in 0..<2_000 {
          let box = try environment.getBean(Box.self)
          let item = try environment.getBean(Item.self)
          guard box.item === item else { throw Boom(name: "foreign item") }
          let id = "\((round + thread) % 20)"
          let other = try environment.getBean(Other.self, byId: id)
          if round >= 1_980 { found.append(ObjectIdentifier(other)) }
        }
        return Set(found)
      }
    }
    let all = try Set(environment.getBeansByType(Other.self).map { ObjectIdentifier($0) })
    for thread in threads { #expect(try thread.value() == all) }
    try requireFault(.unknownBean) { try environment.getBean(Other.self, byId: "20") }
  }

  @Test("Lookups that come together before startup start the environment once")
  func concurrentStartup() throws {
    let built = Counter()
    try environment.define(environment.bean(Item.self, factory: { built.counting(Item()) }))
    let meeting = MeetingPoint(of: 6)
    let threads = (0..<6).map { _ in BackgroundThread { try meeting.before(environment.getBean(Item.self)) } }
    let item = try environment.getBean(Item.self)
    for thread in threads { #expect(try thread.value() === item) }
    #expect(built.value == 1)
  }

  @Test("A failed startup gives every thread the same cause")
  func concurrentFailedStartup() throws {
    let attempts = Counter()
    try environment.define(
      environment.bean(Item.self, factory: { throw Boom(name: "attempt \(attempts.increment())") }))
    let meeting = MeetingPoint(of: 6)
    let threads = (0..<6).map { _ in BackgroundThread { try meeting.before(environment.getBean(Item.self)) } }
    for thread in threads {
      try requireFault(.creationFailed, causes: [Boom(name: "attempt 1")]) { try thread.value() }
    }
    #expect(attempts.value == 1)
  }

  @Test("Children may be opened and finished on many threads: every bean built is released, once")
  func manyChildren() throws {
    let application = try Environment(name: "application")
    let built = Counter()
    let released = Counter()
    try application.define(application.bean(Other.self, factory: Other.init))
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(
        child.bean(Box.self) { (number: Int, other: Other) in
          built.increment()
          if number % 10 == 0 { throw Boom() }
          return Box(item: Item())
        }.onDestroy { _ in released.increment() })
    }
    try application.startup()
    let threads = (0..<4).map { thread in
      BackgroundThread {
        for number in 0..<500 {
          try requests.withChild(number) { child in
            if number % 10 == 0 {
              try requireFault(.creationFailed) { try child.getBean(Box.self) }
            } else {
              _ = try child.getBean(Box.self)
            }
          }
        }
      }
    }
    for thread in threads { try thread.value() }
    #expect(built.value == 4 * 500)
    #expect(released.value == 4 * 450)
    try application.shutdown()
    #expect(released.value == 4 * 450)
  }
}

private final class Item: Sendable {}

private final class Other: Sendable {}

private final class Box: Sendable {
  let item: Item
  init(item: Item) { self.item = item }
}
