import Beans
import Glibc
import Synchronization
import TestSupport
import Testing

/// Requests whose beans take only each other and singletons, and the calls that may come between them.
@Suite("Beans of a request that take each other", .timeLimit(.minutes(20)))
struct RequestGraphSpecification {
  private let counters = Tracked.Counters()

  /// Runs `body` in a child with the declarations of `declare`; all beans are gone afterwards.
  private func inChild(
    under declareParent: (Environment) throws -> Void = { _ in }, _ declare: (Environment) throws -> Void,
    _ body: (Environment) throws -> Void
  ) throws {
    let environment = try Environment()
    try declareParent(environment)
    let requests = try environment.childFactory("request", seed: Int.self, configure: declare)
    let request = try requests.build(1)
    try body(request)
    request.finish()
    try environment.shutdown() as Void
    #expect(counters.died.value == counters.built.value)
  }

  private func leaf(_ child: Environment) throws {
    let counters = counters
    try child.define(child.bean(Leaf.self, factory: { (seed: Int) in Leaf(counters, seed) }))
  }

  private func declare(_ child: Environment) throws {
    let counters = counters
    try leaf(child)
    try child.define(child.bean(Left.self, factory: { (leaf: Leaf) in Left(counters, leaf) }))
      .define(child.bean(Root.self, factory: { (_: Int, leaf: Leaf, left: Left) in Root(counters, leaf, left) }))
  }

  /// Returns the number of beans that the child has created; it is known at the latest when the child has finished.
  private func created(_ request: Environment) -> Int? {
    request.statistics().first { $0.scope == "request" }?.created
  }

  @Test("A lookup builds a bean and its dependencies, each once")
  func theOrderIsDirect() throws {
    try inChild(declare) { request in
      let root = try request.getBean(Root.self)
      #expect(root.left.leaf === root.leaf)
      #expect(root.leaf.seed == 1)
      #expect(created(request) == 3)
      #expect(try request.getBean(Left.self) === root.left)
    }
  }

  @Test("A lazy singleton that a bean of a request takes is built by the first request that needs it")
  func aLazySingletonIsBuiltByTheFirstRequest() throws {
    let counters = counters
    let lazy = Counter()
    try inChild(
      under: { parent in
        try parent.define(parent.bean(Singleton.self, lazy: true, factory: { lazy.counting(Singleton()) }))
      },
      { child in
        try leaf(child)
        try child.define(
          child.bean(Left.self, factory: { (leaf: Leaf, singleton: Singleton) in Left(counters, leaf, singleton) })
        ).define(child.bean(Root.self, factory: { (leaf: Leaf, left: Left) in Root(counters, leaf, left) }))
      }
    ) { request in
      #expect(lazy.value == 0)
      let root = try request.getBean(Root.self)
      let singleton = try request.getBean(Singleton.self)
      #expect(root.left.singleton === singleton)
      #expect(lazy.value == 1)
    }
  }

  @Test("A factory may look up, in the current environment, a bean that was to be built after it")
  func aFactoryLooksUpALaterBean() throws {
    let counters = counters
    try inChild({ child in
      try leaf(child)
      try child.define(
        child.bean(Left.self) { (leaf: Leaf) in
          _ = try Environment.current?.getBean(Other.self)
          return Left(counters, leaf)
        }
      ).define(child.bean(Other.self, factory: { (leaf: Leaf) in Other(counters, leaf) }))
        .define(child.bean(Fork.self, factory: { (left: Left, other: Other) in Fork(counters, left, other) }))
    }) { request in
      let fork = try Environment.$current.withValue(request) { try request.getBean(Fork.self) }
      #expect(fork.other.leaf === fork.left.leaf)
      #expect(try request.getBean(Other.self) === fork.other)
      #expect(created(request) == 4)
    }
  }

  @Test("A factory that looks up its taker closes a circle; without it the build continues where it stopped")
  func aFactoryLooksUpItsTaker() throws {
    let counters = counters
    try inChild({ child in
      try leaf(child)
      try child.define(
        child.bean(Left.self) { (leaf: Leaf) in
          _ = try Environment.current?.getBean(Left.self)
          return Left(counters, leaf)
        }
      ).define(child.bean(Root.self, factory: { (leaf: Leaf, left: Left) in Root(counters, leaf, left) }))
    }) { request in
      for _ in 0..<2 {
        let error = #expect(throws: EnvironmentError.self) {
          try Environment.$current.withValue(request) { try request.getBean(Root.self) }
        }
        #expect(error?.code == .cyclicDependency)
      }
      // Without the circle the build continues where it stopped.
      let root = try request.getBean(Root.self)
      #expect(root.leaf.seed == 1)
    }
  }

  @Test("A failing factory is named with its takers")
  func aFailingFactoryIsNamedWithItsTakers() throws {
    let counters = counters
    try inChild({ child in
      try leaf(child)
      try child.define(child.bean(Left.self, factory: { (_: Leaf) throws -> Left in throw Boom() }))
        .define(child.bean(Root.self, factory: { (leaf: Leaf, left: Left) in Root(counters, leaf, left) }))
    }) { request in
      let error = #expect(throws: EnvironmentError.self) { try request.getBean(Root.self) }
      #expect(error?.code == .creationFailed)
      #expect(error?.underlying.first is Boom)
      #expect(error?.path.count == 2)
      #expect(error?.path.last?.contains("Left") == true)
      #expect(created(request) == 1)
    }
  }

  /// Numbers around the bits of a word, and around the largest number of one byte.
  @Test(
    "A bean and its dependencies are found among any number of others", arguments: [62, 63, 64, 70, 252, 253, 254, 300])
  func manySlots(_ others: Int) throws {
    let counters = counters
    try inChild({ child in
      for number in 0..<others {
        try child.define(child.bean(Other.self, id: "\(number)", factory: { Other(counters, nil) }))
      }
      try declare(child)
    }) { request in
      let root = try request.getBean(Root.self)
      #expect(root.left.leaf === root.leaf)
      #expect(created(request) == 3)
      _ = try request.getBean(Other.self, byId: "0")
      #expect(counters.built.value == 4)
    }
  }

  /// A bean that the other thread is about to build is no circle.
  @Test("Two threads that look up the same bean of a child at the same time get one, and meet no circle")
  func twoThreadsMeet() throws {
    let counters = counters
    let environment = try Environment()
    let requests = try environment.childFactory("request", seed: Int.self, configure: declare)
    let rounds = 5_000
    let meeting = try Meeting((0..<rounds).map { try requests.build($0) })
    let failures = try onThreads(2) { _ -> [String] in
      var failures: [String] = []
      for number in 0..<rounds {
        meeting.arrive(at: number)
        do { _ = try meeting.requests[number].getBean(Root.self) } catch { failures.append("\(error)") }
      }
      return failures
    }
    #expect(failures == [[], []])
    #expect(meeting.requests.allSatisfy { created($0) == 3 })
    meeting.requests.forEach { $0.finish() }
    try environment.shutdown() as Void
    #expect(counters.built.value == 3 * rounds)
    #expect(counters.died.value == 3 * rounds)
  }

  /// A meeting of two threads that reach each request at the same time.
  private final class Meeting: Sendable {
    let requests: [Environment]
    private let arrived = Atomic(0)

    init(_ requests: [Environment]) { self.requests = requests }

    func arrive(at number: Int) {
      arrived.add(1, ordering: .acquiringAndReleasing)
      var patience = 1_000
      while arrived.load(ordering: .acquiring) < 2 * (number + 1) {
        patience -= 1
        if patience < 0 { sched_yield() }
      }
    }
  }

  private class Counted {
    private let tracked: Tracked
    init(_ counters: Tracked.Counters) { tracked = Tracked(counters) }
  }

  private final class Singleton {}

  private final class Leaf: Counted {
    let seed: Int
    init(_ counters: Tracked.Counters, _ seed: Int) {
      self.seed = seed
      super.init(counters)
    }
  }

  private final class Left: Counted {
    let leaf: Leaf
    let singleton: Singleton?
    init(_ counters: Tracked.Counters, _ leaf: Leaf, _ singleton: Singleton? = nil) {
      self.leaf = leaf
      self.singleton = singleton
      super.init(counters)
    }
  }

  private final class Other: Counted {
    let leaf: Leaf?
    init(_ counters: Tracked.Counters, _ leaf: Leaf?) {
      self.leaf = leaf
      super.init(counters)
    }
  }

  private final class Root: Counted {
    let leaf: Leaf
    let left: Left
    init(_ counters: Tracked.Counters, _ leaf: Leaf, _ left: Left) {
      self.leaf = leaf
      self.left = left
      super.init(counters)
    }
  }

  private final class Fork: Counted {
    let left: Left
    let other: Other
    init(_ counters: Tracked.Counters, _ left: Left, _ other: Other) {
      self.left = left
      self.other = other
      super.init(counters)
    }
  }
}
