import Beans
import TestSupport
import Testing

/// One lookup builds several beans in sequence. Beans whose build has not begun are available to all callers:
/// to a factory of the same lookup, and to another thread.
@Suite("Beans that one lookup builds", .timeLimit(.minutes(20)))
struct BatchSpecification {
  /// The place of the declarations: a request, or lazy singletons.
  enum Place: CaseIterable { case request, application }

  /// Returns an environment with the declarations of `declare`, whose beans are built when they are looked up.
  private func environment(_ place: Place, _ declare: (Environment) throws -> Void) throws -> Environment {
    let application = try Environment(name: "application")
    switch place {
    case .application:
      try declare(application)
      return try application.startup()
    case .request:
      let requests = try application.childFactory("request", seed: Int.self, configure: declare)
      return try requests.build(1)
    }
  }

  private func end(_ environment: Environment) throws {
    try (environment.parent ?? environment).shutdown() as Void
    #expect(environment.isReleased)
  }

  private func node(
    _ id: String, in environment: Environment, _ factory: @escaping @Sendable (Environment) throws -> [Node]
  ) throws {
    try environment.define(environment.bean(Node.self, id: id, lazy: true, factory: { Node(id, try factory($0)) }))
  }

  /// A bean that takes two others, in this order.
  private func pair(_ id: String, _ first: String, _ second: String, in environment: Environment) throws {
    try environment.define(
      environment.bean(
        Node.self, id: id, lazy: true, factory: { (first: Node, second: Node) in Node(id, [first, second]) }
      ).argument(0, ref: first).argument(1, ref: second))
  }

  // MARK: on one thread

  enum Lookup: CaseIterable { case byId, byType, all, optional, provider, lending, current }

  @Test(
    "A factory may look up a bean that its own lookup was to build later", arguments: Place.allCases, Lookup.allCases)
  func laterBean(place: Place, lookup: Lookup) throws {
    let built = Counter()
    let environment = try environment(place) { environment in
      try environment.define(
        environment.bean(Early.self, lazy: true) { (environment: Environment, later: Provider<Late>) in
          switch lookup {
          case .byId: Early(try environment.getBean(Late.self, byId: "late"))
          case .byType: Early(try environment.getBean(Late.self))
          case .all: Early(try environment.getBeansByType(Late.self)[0])
          case .optional: Early(try environment.getBean(Late?.self))
          case .provider: Early(try later.get())
          case .lending: Early(try environment.withBean(Late.self) { $0 })
          case .current: Early(try Environment.current?.getBean(Late.self))
          }
        })
      try environment.define(
        environment.bean(Base.self, lazy: true, factory: { Base() }).postConstruct { _ in built.increment() })
      try environment.define(
        environment.bean(Late.self, id: "late", lazy: true, factory: Late.init)
          .postConstruct { _ in built.increment() })
      try environment.define(environment.bean(Root.self, lazy: true, factory: Root.init))
    }
    let root = try Environment.$current.withValue(environment) { try environment.getBean(Root.self) }
    #expect(root.early.late === root.late)
    #expect(root.base === root.late.base)
    #expect(try environment.getBean(Late.self) === root.late)
    #expect(built.value == 2)
    try end(environment)
  }

  @Test("A later bean that a factory has looked up is released in its place", arguments: Place.allCases)
  func laterBeanIsReleasedInItsPlace(place: Place) throws {
    let journal = Journal()
    let environment = try environment(place) { environment in
      try environment.define(
        environment.bean(
          Early.self, lazy: true, factory: { (environment: Environment) in Early(try environment.getBean(Late.self)) }
        ).onDestroy { _ in journal.note("early") })
      try environment.define(
        environment.bean(Base.self, lazy: true, factory: { Base() }).onDestroy { _ in journal.note("base") })
      try environment.define(
        environment.bean(Late.self, lazy: true, factory: Late.init).onDestroy { _ in journal.note("late") })
      try environment.define(
        environment.bean(Root.self, lazy: true, factory: Root.init).onDestroy { _ in journal.note("root") })
    }
    _ = try environment.getBean(Root.self)
    try end(environment)
    #expect(journal.entries == ["root", "early", "late", "base"])
  }

  @Test("A later bean that fails in a factory's lookup is tried again in its turn", arguments: Place.allCases)
  func laterBeanFailsOnce(place: Place) throws {
    let attempts = Counter()
    let environment = try environment(place) { environment in
      try environment.define(
        environment.bean(
          Early.self, lazy: true,
          factory: { (environment: Environment) in Early(try? environment.getBean(Late.self)) }))
      try environment.define(environment.bean(Base.self, lazy: true, factory: { Base() }))
      try environment.define(
        environment.bean(Late.self, lazy: true) { (base: Base) in
          if attempts.increment() == 1 { throw Boom() }
          return Late(base)
        })
      try environment.define(environment.bean(Root.self, lazy: true, factory: Root.init))
    }
    let root = try environment.getBean(Root.self)
    #expect(root.early.late == nil)
    #expect(attempts.value == 2)
    try end(environment)
  }

  @Test(
    "The failure of a factory makes the remaining beans of its lookup available to all callers",
    arguments: Place.allCases)
  func failureFreesTheRest(place: Place) throws {
    let environment = try environment(place) { environment in
      try node("bad", in: environment) { _ in throw Boom() }
      try node("rest", in: environment) { _ in [] }
      try pair("root", "bad", "rest", in: environment)
    }
    try requireFault(.creationFailed) { try environment.getBean(Node.self, byId: "root") }
    let rest = try BackgroundThread { try environment.getBean(Node.self, byId: "rest") }.value()
    #expect(try environment.getBean(Node.self, byId: "rest") === rest)
    try requireFault(.creationFailed) { try environment.getBean(Node.self, byId: "root") }
    try end(environment)
  }

  // MARK: across threads

  /// Thread n builds first-n, then second-n; first-n looks up second-(n + 1). No bean needs itself.
  @Test(
    "Threads whose factories look up each other's later beans meet neither deadlock nor circle",
    arguments: Place.allCases, [2, 3, 4])
  func mutualLookups(place: Place, count: Int) throws {
    let meeting = MeetingPoint(of: count, "all factories")
    let environment = try environment(place) { environment in
      for number in 0..<count {
        try node("first-\(number)", in: environment) { environment in
          try meeting.before([try environment.getBean(Node.self, byId: "second-\((number + 1) % count)")])
        }
        try node("second-\(number)", in: environment) { _ in [] }
        try pair("root-\(number)", "first-\(number)", "second-\(number)", in: environment)
      }
    }
    let threads = (0..<count).map { number in
      BackgroundThread { try environment.getBean(Node.self, byId: "root-\(number)") }
    }
    let roots = try threads.map { try $0.value() }
    for number in 0..<count {
      let other = roots[(number + 1) % count]
      #expect(roots[number].nodes[0].nodes[0] === other.nodes[1])
    }
    try end(environment)
  }

  @Test(
    "Threads whose factories do need each other's beans meet a circle, later beans included",
    arguments: Place.allCases)
  func circleThroughLaterBeans(place: Place) throws {
    let meeting = MeetingPoint(of: 2, "both factories")
    let environment = try environment(place) { environment in
      for number in 0..<2 {
        try node("first-\(number)", in: environment) { environment in
          try meeting.before([try environment.getBean(Node.self, byId: "second-\(1 - number)")])
        }
        // The bean needs the first one of its own thread, which waits for the second one of the other.
        try node("second-\(number)", in: environment) { environment in
          [try environment.getBean(Node.self, byId: "first-\(number)")]
        }
        try pair("root-\(number)", "first-\(number)", "second-\(number)", in: environment)
      }
    }
    let threads = (0..<2).map { number in
      BackgroundThread { code { try environment.getBean(Node.self, byId: "root-\(number)") } }
    }
    let codes = try threads.map { try $0.value() }
    #expect(codes.contains(.cyclicDependency), "\(codes)")
    try end(environment)
  }

  @Test(
    "A thread that waits for another one's build blocks no bean whose build has not begun", arguments: Place.allCases)
  func blockedBuilder(place: Place) throws {
    let gate = ThreadGate()
    let environment = try environment(place) { environment in
      try node("slow", in: environment) { _ in try gate.passing([]) }
      try node("first", in: environment) { [try $0.getBean(Node.self, byId: "slow")] }
      try node("second", in: environment) { _ in [] }
      try pair("root", "first", "second", in: environment)
    }
    let slow = BackgroundThread { try environment.getBean(Node.self, byId: "slow") }
    try gate.arrival()
    let blocked = BackgroundThread { try environment.getBean(Node.self, byId: "root") }
    try blocked.waitUntilAsleep()
    let second = try BackgroundThread { try environment.getBean(Node.self, byId: "second") }.value()
    gate.open()
    let root = try blocked.value()
    #expect(root.nodes[1] === second)
    #expect(root.nodes[0].nodes[0] === (try slow.value()))
    try end(environment)
  }

  @Test(
    "A thread that waits for a parameter's bean blocks no bean whose build has not begun", arguments: Place.allCases
  )
  func builderBlockedByAParameter(place: Place) throws {
    let gate = ThreadGate()
    let environment = try environment(place) { environment in
      try node("slow", in: environment) { _ in try gate.passing([]) }
      try node("second", in: environment) { _ in [] }
      try pair("root", "slow", "second", in: environment)
    }
    let slow = BackgroundThread { try environment.getBean(Node.self, byId: "slow") }
    try gate.arrival()
    let blocked = BackgroundThread { try environment.getBean(Node.self, byId: "root") }
    try blocked.waitUntilAsleep()
    let second = try BackgroundThread { try environment.getBean(Node.self, byId: "second") }.value()
    gate.open()
    #expect(try blocked.value().nodes[1] === second)
    _ = try slow.value()
    try end(environment)
  }

  @Test("A slow factory blocks no bean that its thread was to build later", arguments: Place.allCases)
  func slowFactory(place: Place) throws {
    let gate = ThreadGate()
    let environment = try environment(place) { environment in
      try node("slow", in: environment) { _ in try gate.passing([]) }
      try node("second", in: environment) { _ in [] }
      try pair("root", "slow", "second", in: environment)
    }
    let building = BackgroundThread { try environment.getBean(Node.self, byId: "root") }
    try gate.arrival()
    let second = try BackgroundThread { try environment.getBean(Node.self, byId: "second") }.value()
    gate.open()
    #expect(try building.value().nodes[1] === second)
    try end(environment)
  }

  @Test(
    "A factory that waits for a thread of its own may have the thread look up a later bean", arguments: Place.allCases
  )
  func factoryWaitsForAThread(place: Place) throws {
    let environment = try environment(place) { environment in
      try node("first", in: environment) { environment in
        [try BackgroundThread { try environment.getBean(Node.self, byId: "second") }.value()]
      }
      try node("second", in: environment) { _ in [] }
      try pair("root", "first", "second", in: environment)
    }
    let root = try environment.getBean(Node.self, byId: "root")
    #expect(root.nodes[0].nodes[0] === root.nodes[1])
    try end(environment)
  }
}

private final class Node: Sendable {
  let id: String
  let nodes: [Node]
  init(_ id: String, _ nodes: [Node]) {
    self.id = id
    self.nodes = nodes
  }
}

private final class Base: Sendable {}

private final class Late: Sendable {
  let base: Base
  init(_ base: Base) { self.base = base }
}

private final class Early: Sendable {
  let late: Late?
  init(_ late: Late?) { self.late = late }
}

private final class Root: Sendable {
  let early: Early
  let base: Base
  let late: Late
  init(_ early: Early, _ base: Base, _ late: Late) {
    self.early = early
    self.base = base
    self.late = late
  }
}
