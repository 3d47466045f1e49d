import Beans
import Testing

/// Long chains must not be walked by recursion; a lookup that has to recurse fails while there is stack left.
/// Each test runs in a process of its own: an overflow is a crash.
@Suite("Long chains", .timeLimit(.minutes(20)))
struct StackDepthSpecification {
  @Test("A chain of 50,000 singletons starts and is released")
  func longChainsStartedEagerly() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      try Links.declare(50_000, in: environment, lazy: false)
      try environment.startup()
      #expect(try environment.getBean(Link.self, byId: "49999").number == 49_999)
      try environment.shutdown() as Void
      #expect(Links.destroyed.value == 50_000)
    }
  }

  /// The declarations begin at the far end, so no bean's dependency has been declared before it.
  @Test("A long chain starts in any order of declaration")
  func longChainsDeclaredBackwards() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      try Links.declare(20_000, in: environment, lazy: false, isReversed: true)
      try environment.startup()
      try environment.shutdown() as Void
      #expect(Links.destroyed.value == 20_000)
    }
  }

  @Test("A chain of 50,000 lazy beans is built by one lookup")
  func longChainsOfLazyBeans() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      try Links.declare(50_000, in: environment, lazy: true)
      try environment.startup()
      #expect(try environment.getBean(Link.self, byId: "49999").number == 49_999)
      try environment.shutdown() as Void
    }
  }

  @Test("A chain of 20,000 beans of a request is built by one lookup")
  func longChainsInAChildOfAFactory() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      let factory = try environment.childFactory(
        "request", seed: Void.self, configure: { try Links.declare(20_000, in: $0, lazy: false) })
      let child = try factory.build(())
      // The plan knows the whole chain, and builds it from its far end.
      #expect(try child.getBean(Link.self, byId: "19999").number == 19_999)
      try environment.shutdown() as Void
    }
  }

  @Test("A circle of 50,000 beans is reported")
  func longCirclesAreReported() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      try Links.declare(50_000, in: environment, lazy: false, isClosed: true)
      #expect(code { try environment.startup() } == .cyclicDependency)
    }
  }

  @Test("An abandoned environment with a long chain is deallocated")
  func longChainsInAnAbandonedEnvironment() async {
    await #expect(processExitsWith: .success) {
      for isReversed in [false, true] {
        weak var abandoned: Environment?
        do {
          let environment = try Environment()
          try Links.declare(20_000, in: environment, lazy: false, isReversed: isReversed)
          try environment.startup()
          abandoned = environment
        }
        #expect(abandoned == nil)
      }
    }
  }

  @Test("A chain of 1,000 templates is resolved")
  func longChainsOfTemplates() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      let environment = try Environment()
      try environment.define(environment.bean(7, id: "0").abstract())
      for number in 1..<1_000 {
        try environment.define(environment.template("\(number)").parent("\(number - 1)"))
      }
      try environment.define(environment.bean(Int.self, parent: "999"))
      #expect(try environment.getBean(Int.self) == 7)
    }
  }

  @Test("Products that build products without end fail, and the factory stays usable")
  func productsThatBuildProductsWithoutEnd() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      let environment = try Environment()
      try environment.define(
        environment.bindFactory(Link.self).with(LinkTag.self).to {
          (seed: Assisted<Int>, links: Provider<Factory<LinkTag>>) in
          Link(seed.get(), seed.get() == 0 ? nil : try links.get().build(seed.get() - 1))
        })
      let factory = try environment.getBean(Factory<LinkTag>.self)
      // The first pass takes the general path, the second one the fast path.
      for _ in 0..<2 {
        #expect(code { try factory.build(-1) } == .creationFailed)
        #expect(try factory.build(100).number == 100)
      }
      try environment.shutdown() as Void
    }
  }

  @Test("A thousand environments may be nested")
  func deeplyNestedEnvironments() async {
    await #expect(processExitsWith: .success) {
      let root = try Environment()
      try root.define(root.bean(7))
      var environment = root
      for number in 0..<1_000 {
        environment = try Environment(name: "\(number)", parent: environment)
      }
      #expect(try environment.getBean(Int.self) == 7)
      try root.shutdown() as Void
      #expect(environment.isReleased)
    }
  }

  @Test("Five factories may be nested, each child seeing all seeds and beans around it")
  func manyNestedFactories() throws {
    let environment = try Environment()
    try environment.define(environment.bean("root"))
    var factory = try environment.childFactory("scope 0", seed: Int.self)
    var factories = [factory]
    for depth in 1..<5 {
      factory = try factory.childFactory("scope \(depth)", seed: Int.self) { inner in
        try inner.define(inner.bean(Link.self, id: "\(depth)", factory: { (seed: Int, _: String) in Link(seed, nil) }))
      }
      factories.append(factory)
    }
    var child = try factories[0].build(0)
    for depth in 1..<5 { child = try factories[depth].build(depth, in: child) }
    #expect(try child.getBean(Link.self, byId: "4").number == 4)
    #expect(try child.getBean(Link.self, byId: "1").number == 1)
    #expect(try child.getBeansByType(Link.self).map(\.number) == [4, 3, 2, 1])
    #expect(try child.getBean(Int.self) == 4)
    #expect(code { try factories[3].build(0, in: child) } == .scopeNotActive)
    try environment.shutdown()
    #expect(child.isReleased)
  }

  @Test("Two hundred prototypes may look each other up in a chain")
  func prototypesThatLookUpPrototypes() throws {
    let environment = try Environment()
    for number in 0..<200 {
      try environment.define(
        environment.bean(Link.self, id: "\(number)") { (environment: Environment) in
          Link(number, number == 0 ? nil : try environment.getBean(Link.self, byId: "\(number - 1)"))
        }.scope("prototype"))
    }
    #expect(try environment.getBean(Link.self, byId: "199").number == 199)
    try environment.shutdown()
  }
}

/// Holds its neighbour without being held by it, and drops the reference before its own end, so only the container
/// could recurse.
private final class Link {
  let number: Int
  init(_ number: Int, _ other: Link?) { self.number = number }
}

private struct LinkTag: AssistedFactory {
  typealias Seed = Int
  typealias Element = Link
}

private enum Links {
  static let destroyed = Counter()

  static func declare(
    _ count: Int, in environment: Environment, lazy: Bool, isReversed: Bool = false, isClosed: Bool = false
  ) throws {
    for number in isReversed ? Array((0..<count).reversed()) : Array(0..<count) {
      let bean =
        number == 0 && !isClosed
        ? environment.bean(Link.self, id: "\(number)", lazy: lazy, factory: { Link(number, nil) })
        : environment.bean(Link.self, id: "\(number)", lazy: lazy, factory: { (other: Link) in Link(number, other) })
          .argument(0, ref: "\((number + count - 1) % count)")
      try environment.define(bean.onDestroy { _ in destroyed.increment() })
    }
  }
}
