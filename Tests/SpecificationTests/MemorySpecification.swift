import Beans
import BeansInject
import Testing

/// The objects that are retained after the end, after a failure, and without an end.
@Suite("Retained and released objects", .timeLimit(.minutes(20)))
struct MemorySpecification {
  @FreshEnvironment private var environment

  @Test("A finished child is deallocated, though a bean of it holds it")
  func aFinishedChildIsDeallocated() throws {
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Tracked.self,
      configure: { try $0.define($0.bean(Holder.self, factory: { Holder($0, $1) })) })
    weak var weakChild: Environment?
    do {
      let child = try factory.build(Tracked(counters))
      _ = try child.getBean(Holder.self)
      weakChild = child
      child.finish()
      #expect(counters.died.value == 1)
      #expect(counters.destroyed.value == 0)
    }
    #expect(weakChild == nil)
    try environment.shutdown()
  }

  @Test("A live child without other references is held by its parent until the end")
  func aLiveChildIsHeldByItsParentAlone() throws {
    let factory = try environment.childFactory("request", seed: Void.self)
    weak let child = try factory.build(())
    #expect(child != nil)
    try environment.shutdown()
    #expect(child == nil)
  }

  @Test(
    "The environment, the contents of its plans and those of its children, and instances are deallocated after the end")
  func theEnvironmentAndItsPlanAreDeallocatedAfterTheEnd() throws {
    weak var weakEnvironment: Environment?
    weak var weakDeclaration: BeanDeclaration?
    weak var weakToken: Item?
    weak var weakChildDeclaration: BeanDeclaration?
    weak var weakChildToken: Item?
    weak var weakInstance: Tracked?
    do {
      let environment = try Environment()
      let instance = Tracked(Tracked.Counters())
      try environment.define(environment.bean(instance))
      let (token, childToken) = (Item(), Item())
      let declaration = environment.bean(Aware.self) {
        _ = token
        return Aware()
      }
      try environment.define(declaration)
      let factory = try environment.childFactory("request", seed: Int.self) { child in
        let declaration = child.bean(String.self) { (environment: Environment) in
          _ = childToken
          return environment.name
        }
        weakChildDeclaration = declaration
        try child.define(declaration)
      }
      _ = try? environment.startup()
      _ = try? factory.withChild(1) { try $0.getBean(String.self) }
      weakEnvironment = environment
      weakDeclaration = declaration
      weakToken = token
      weakChildToken = childToken
      weakInstance = instance
      try environment.shutdown()
    }
    #expect(weakEnvironment == nil)
    #expect(weakDeclaration == nil)
    #expect(weakToken == nil)
    #expect(weakChildDeclaration == nil)
    #expect(weakChildToken == nil)
    #expect(weakInstance == nil)
  }

  @Test("Objects of declarations are released at the end, though the environment is kept")
  func objectsOfDeclarationsAreReleasedAtTheEndOfAKeptEnvironment() throws {
    weak var pinned: Tracked?
    weak var property: Tracked?
    weak var instance: Tracked?
    weak var captured: Tracked?
    do {
      let (a, b, c) = (Tracked(.init()), Tracked(.init()), Tracked(.init()))
      // No other code uses it.
      nonisolated(unsafe) let d = Tracked(.init())
      (pinned, property, instance, captured) = (a, b, c, d)
      try environment.define(
        environment.bean(Keeper.self, factory: { Keeper($0) }).argument(0, value: a).property(\.other, value: b))
      try environment.define(environment.bean(c).onDestroy { _ in _ = d })
    }
    try environment.startup()
    #expect(pinned != nil && property != nil && instance != nil && captured != nil)
    try environment.shutdown()
    #expect(pinned == nil)
    #expect(property == nil)
    #expect(instance == nil)
    #expect(captured == nil)
  }

  @Test("An abandoned environment releases its beans and its plan without preDestroy")
  func anAbandonedEnvironmentReleasesItsBeans() throws {
    let counters = Tracked.Counters()
    weak var weakToken: Item?
    do {
      let environment = try Environment()
      let token = Item()
      weakToken = token
      try environment.define(
        environment.bean(Tracked.self) {
          _ = token
          return Tracked(counters)
        })
      try environment.define(environment.bean(Tracked(counters), id: "instance"))
      try environment.startup()
    }
    #expect(counters.died.value == 2)
    #expect(counters.destroyed.value == 0)
    #expect(weakToken == nil)
  }

  @Test("An abandoned environment with a factory of children releases its beans and its plan")
  func anAbandonedEnvironmentWithAFactoryReleasesItsBeans() throws {
    let counters = Tracked.Counters()
    weak var weakToken: Item?
    do {
      let environment = try Environment()
      let token = Item()
      weakToken = token
      try environment.define(environment.bean(Tracked(counters)).onDestroy { _ in _ = token })
      let factory = try environment.childFactory("request", seed: Void.self)
      try factory.withChild(()) { _ = try $0.getBean(Tracked.self) }
    }
    #expect(counters.died.value == 1)
    #expect(weakToken == nil)
  }

  @Test("An environment that never started is deallocated with the instances handed to it")
  func anEnvironmentThatNeverStartedIsDeallocated() throws {
    weak var weakEnvironment: Environment?
    let counters = Tracked.Counters()
    do {
      let environment = try Environment()
      try environment.define(environment.bean(Tracked(counters)))
      weakEnvironment = environment
    }
    #expect(weakEnvironment == nil)
    #expect(counters.died.value == 1)
  }

  @Test("A failed startup releases everything")
  func aFailedStartupReleasesEverything() throws {
    let counters = Tracked.Counters()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }))
    try environment.define(environment.bean(Tracked(counters), id: "instance"))
    try environment.define(environment.bean(Int.self, factory: { throw Boom() }))
    #expect(code { try environment.startup() } == .creationFailed)
    #expect(counters.died.value == 2)
    #expect(code { try environment.getBean(Int.self) } == .creationFailed)
  }

  @Test("A bean that fails half way is dropped, with its arguments")
  func aBeanThatFailsHalfWayIsDroppedWithItsArguments() throws {
    let counters = Tracked.Counters()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }).scope("prototype"))
    try environment.define(
      environment.bean(Keeper.self, lazy: true, factory: { Keeper($0) })
        .property(\.other, inject: InjectBean()).postConstruct { _ in throw Boom() })
    try environment.startup()
    for _ in 0..<3 { #expect(code { try environment.getBean(Keeper.self) } == .creationFailed) }
    #expect(counters.built.value == 6)
    #expect(counters.died.value == 6)
    try environment.shutdown()
  }

  @Test("A child that could not open releases its seed")
  func aChildThatCouldNotOpenReleasesItsSeed() throws {
    let counters = Tracked.Counters()
    let factory = try environment.childFactory("request", seed: Tracked.self)
    try environment.shutdown()
    #expect(code { try factory.build(Tracked(counters)) } == .finished)
    #expect(counters.died.value == 1)
  }

  /// Captured by factories, which a plan holds.
  private final class Item: Sendable {}

  private final class Holder {
    let tracked: Tracked
    let environment: Environment
    init(_ tracked: Tracked, _ environment: Environment) {
      self.tracked = tracked
      self.environment = environment
    }
  }

  private final class Keeper {
    let tracked: Tracked
    var other: Tracked?
    init(_ tracked: Tracked) { self.tracked = tracked }
  }

  private final class Aware: EnvironmentAware {
    var environment: Environment?
  }
}
