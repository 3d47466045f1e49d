import TestSupport
import Testing

@testable import Beans

/// What is retained after the end, after a failure, and where nobody ended anything.
@Suite(.timeLimit(.minutes(5)))
struct MemoryTests {
  @Test func aFinishedChildIsDeallocated() throws {
    let environment = try Environment()
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

  @Test func aLiveChildIsHeldByItsParentAlone() throws {
    let environment = try Environment()
    let factory = try environment.childFactory("request", seed: Void.self)
    weak let child = try factory.build(())
    #expect(child != nil)
    try environment.shutdown()
    #expect(child == nil)
  }

  @Test func theEnvironmentAndItsPlanAreDeallocatedAfterTheEnd() throws {
    weak var weakEnvironment: Environment?
    weak var weakPlan: Plan?
    weak var weakChildPlan: Plan?
    weak var weakInstance: Tracked?
    do {
      let environment = try Environment()
      let instance = Tracked(Tracked.Counters())
      try environment.define(environment.bean(instance))
      try environment.define(environment.bean(Aware.self, factory: Aware.init))
      let factory = try environment.childFactory(
        "request", seed: Int.self,
        configure: { try $0.define($0.bean(String.self, factory: { (environment: Environment) in environment.name })) })
      _ = try? environment.startup()
      _ = try? factory.withChild(1) { try $0.getBean(String.self) }
      weakEnvironment = environment
      weakPlan = environment.plan
      weakChildPlan = environment.plan.factories.first
      weakInstance = instance
      try environment.shutdown()
    }
    #expect(weakEnvironment == nil)
    #expect(weakPlan == nil)
    #expect(weakChildPlan == nil)
    #expect(weakInstance == nil)
  }

  @Test func whatDeclarationsGaveIsLetGoAtTheEndThoughTheEnvironmentIsKept() throws {
    let environment = try Environment()
    weak var pinned: Tracked?
    weak var property: Tracked?
    weak var instance: Tracked?
    weak var captured: Tracked?
    do {
      let (a, b, c, d) = (Tracked(.init()), Tracked(.init()), Tracked(.init()), Tracked(.init()))
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

  @Test func anAbandonedEnvironmentReleasesItsBeans() throws {
    let counters = Tracked.Counters()
    weak var weakPlan: Plan?
    do {
      let environment = try Environment()
      try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }))
      try environment.define(environment.bean(Tracked(counters), id: "instance"))
      try environment.startup()
      weakPlan = environment.plan
    }
    #expect(counters.died.value == 2)
    #expect(counters.destroyed.value == 0)
    #expect(weakPlan == nil)
  }

  @Test func anAbandonedEnvironmentWithAFactoryReleasesItsBeans() throws {
    let counters = Tracked.Counters()
    weak var weakPlan: Plan?
    do {
      let environment = try Environment()
      try environment.define(environment.bean(Tracked(counters)))
      let factory = try environment.childFactory("request", seed: Void.self)
      try factory.withChild(()) { _ = try $0.getBean(Tracked.self) }
      weakPlan = environment.plan
    }
    #expect(counters.died.value == 1)
    #expect(weakPlan == nil)
  }

  @Test func anEnvironmentThatNeverStartedIsDeallocated() throws {
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

  @Test func aFailedStartupLetsGoOfEverything() throws {
    let counters = Tracked.Counters()
    let environment = try Environment()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }))
    try environment.define(environment.bean(Tracked(counters), id: "instance"))
    try environment.define(environment.bean(Int.self, factory: { throw Boom() }))
    #expect(code { try environment.startup() } == .creationFailed)
    #expect(counters.died.value == 2)
    #expect(code { try environment.getBean(Int.self) } == .creationFailed)
  }

  @Test func aBeanThatFailsHalfWayIsDroppedWithItsArguments() throws {
    let counters = Tracked.Counters()
    let environment = try Environment()
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

  @Test func aChildThatCouldNotOpenLetsGoOfItsSeed() throws {
    let environment = try Environment()
    let counters = Tracked.Counters()
    let factory = try environment.childFactory("request", seed: Tracked.self)
    try environment.shutdown()
    #expect(code { try factory.build(Tracked(counters)) } == .finished)
    #expect(counters.died.value == 1)
  }

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
