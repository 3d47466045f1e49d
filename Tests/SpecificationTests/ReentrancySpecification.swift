import Beans
import TestSupport
import Testing

/// Calls into the container from unusual places: each ends in a bean or an error, in finite time.
@Suite("Calls from inside", .timeLimit(.minutes(20)))
struct ReentrancySpecification {
  @FreshEnvironment private var environment

  @Test("A factory may finish the environment for which it builds: its bean is released, once")
  func finishInsideAFactory() throws {
    let counters = Tracked.Counters()
    try environment.define(
      environment.bean(Tracked.self, lazy: true) { (environment: Environment) in
        environment.finish()
        return Tracked(counters)
      }
    ).startup()
    _ = try? environment.getBean(Tracked.self)
    #expect(environment.isReleased)
    #expect(counters.destroyed.value == 1)
    #expect(code { try environment.getBean(Tracked.self) } == .finished)
  }

  @Test("A factory may shut the environment down while it starts: the built beans are released")
  func shutdownInsideAFactoryAtStartup() throws {
    let counters = Tracked.Counters()
    try environment.define(environment.bean(Tracked.self, id: "a", factory: { Tracked(counters) }))
    try environment.define(
      environment.bean(Tracked.self, id: "b") { (environment: Environment) in
        try environment.shutdown() as Void
        return Tracked(counters)
      })
    try BackgroundThread { _ = try? environment.startup() }.value()
    #expect(environment.isReleased)
    #expect(counters.destroyed.value == counters.built.value)
    #expect(code { try environment.startup() } == .finished)
  }

  @Test("A shutdown from inside withBean releases the bean when the body has ended")
  func shutdownInsideWithBean() throws {
    let counters = Tracked.Counters()
    try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }))
    try BackgroundThread {
      try environment.withBean(Tracked.self) { _ in
        try environment.shutdown() as Void
        #expect(counters.destroyed.value == 0)
      }
    }.value()
    #expect(counters.destroyed.value == 1)
  }

  @Test("A shutdown of the parent from inside a child's withBean releases everything when the body has ended")
  func shutdownOfTheParentInsideWithBeanOfAChild() throws {
    let counters = Tracked.Counters()
    let factory = try environment.childFactory(
      "request", seed: Void.self, configure: { try $0.define($0.bean(Tracked.self, factory: { Tracked(counters) })) })
    let child = try factory.build(())
    try BackgroundThread { try child.withBean(Tracked.self) { _ in try environment.shutdown() as Void } }.value()
    #expect(counters.destroyed.value == 1)
    #expect(environment.isReleased)
  }

  @Test("A child's factory may shut the parent down: its bean is released, once")
  func shutdownOfTheParentInsideAFactoryOfAChild() throws {
    let counters = Tracked.Counters()
    let factory = try environment.childFactory("request", seed: Void.self) {
      try $0.define(
        $0.bean(Tracked.self) { (child: Environment) in
          try child.parent?.shutdown() as Void?
          return Tracked(counters)
        })
    }
    let child = try factory.build(())
    try BackgroundThread { _ = try? child.getBean(Tracked.self) }.value()
    #expect(counters.destroyed.value == 1)
    #expect(environment.isReleased)
  }

  @Test("A release in a child may shut the parent down")
  func shutdownOfTheParentInsideAReleaseOfAChild() throws {
    let (environment, journal) = (environment, Journal())
    let factory = try environment.childFactory("request", seed: Void.self) {
      try $0.define(
        $0.bean(Tracked.self, factory: { Tracked(Tracked.Counters()) })
          .onDestroy { _ in
            try environment.shutdown() as Void
            journal.note("destroyed")
          })
    }
    let child = try factory.build(())
    _ = try child.getBean(Tracked.self)
    try BackgroundThread { child.finish() }.value()
    #expect(journal.entries == ["destroyed"])
    #expect(environment.isReleased)
  }

  @Test("A bean may await the shutdown that awaits its own release")
  func awaitedShutdownInsideAnAwaitedRelease() async throws {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      let environment = try Environment()
      try environment.define(environment.bean(ShuttingDown.self, factory: { ShuttingDown($0) }))
      try environment.startup()
      try await environment.shutdown()
      #expect(environment.isReleased)
    }
  }

  @Test("Lookups in preDestroy and in deinit throw finished")
  func lookupsInReleasesThrow() throws {
    let journal = Journal()
    try environment.define(environment.bean(Looking.self, factory: { Looking($0, journal) }))
    try environment.define(environment.bean(7)).startup()
    try environment.shutdown()
    #expect(journal.entries == ["preDestroy finished", "deinit finished"])
  }

  @Test("A factory may call startup of the environment that is starting")
  func startupInsideAFactory() throws {
    try environment.define(
      environment.bean(Tracked.self) { (environment: Environment) in
        try environment.startup()
        return Tracked(Tracked.Counters())
      }
    ).startup()
    _ = try environment.getBean(Tracked.self)
  }

  @Test("A declaration from inside a factory is frozen")
  func declaringInsideAFactory() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(Tracked.self) { (environment: Environment) in
        let defining = code { try environment.define(environment.bean(7)) }
        let scoping = code { try environment.registerScope(AbstractBeanScope(name: "late")) }
        let opening = code { try environment.childFactory("late", seed: Void.self) }
        journal.note([defining, scoping, opening].map { "\($0, default: "nil")" }.joined(separator: " "))
        return Tracked(Tracked.Counters())
      }
    ).startup()
    #expect(journal.entries == ["frozen frozen frozen"])
  }

  @Test("A factory may open and end a child while the environment starts")
  func openingAChildInsideAFactoryAtStartup() throws {
    let factory = try environment.childFactory(
      "request", seed: Int.self,
      configure: { try $0.define($0.bean(String.self, factory: { (seed: Int) in "\(seed)" })) })
    let journal = Journal()
    try environment.define(
      environment.bean(Tracked.self) {
        try factory.withChild(5) { journal.note(try $0.getBean(String.self)) }
        return Tracked(Tracked.Counters())
      }
    ).startup()
    #expect(journal.entries == ["5"])
    try environment.shutdown()
  }

  @Test("A factory may start a plain child of the environment that is starting")
  func aPlainChildStartedInsideAFactoryOfItsParent() throws {
    let child = try Environment(name: "child", parent: environment)
    try child.define(child.bean(7))
    let journal = Journal()
    try environment.define(
      environment.bean(
        Tracked.self,
        factory: { journal.noting("\(try child.getBean(Int.self))", Tracked(Tracked.Counters())) })
    ).startup()
    #expect(journal.entries == ["7"])
    try environment.shutdown()
    #expect(child.isReleased)
  }

  /// One thread starts the parent and looks up in the child, another starts the child and needs the parent.
  @Test("A parent and its child, started by two threads that need each other, both come to an end")
  func parentAndChildStartedByTwoThreadsThatNeedEachOther() async {
    await #expect(processExitsWith: .success) {
      Watchdog.start()
      let environment = try Environment()
      let child = try Environment(name: "child", parent: environment)
      try child.define(child.bean(7))
      let gate = ThreadGate()
      let childThread = Captured<BackgroundThread<Void>>()
      try environment.define(
        environment.bean(Tracked.self) {
          try gate.pass()
          // The other thread has begun to start the child and waits for this startup.
          try childThread.value?.waitUntilAsleep()
          _ = try? child.getBean(Int.self)
          return Tracked(Tracked.Counters())
        })
      let parentThread = BackgroundThread { _ = try environment.startup() }
      try gate.arrival()
      let starting = BackgroundThread<Void> { _ = try? child.startup() }
      childThread.value = starting
      gate.open()
      _ = try parentThread.value()
      _ = try starting.value()
      // The factory holds the child, which holds the environment.
      try environment.shutdown() as Void
    }
  }

  @Test("A scope whose name looks beans up does not crash")
  func lookupsFromTheNameOfAScope() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      let scope = CuriousScope(environment)
      try environment.registerScope(scope)
      try environment.define(environment.bean(7).scope("curious"))
      scope.isCurious.withLock { $0 = true }
      _ = try? environment.startup()
      try? environment.shutdown() as Void
    }
  }

  @Test("A prototype that looks itself up is a circle")
  func aPrototypeThatLooksItselfUp() throws {
    try environment.define(
      environment.bean(Tracked.self, factory: { (environment: Environment) in try environment.getBean(Tracked.self) })
        .scope("prototype"))
    #expect(code { try environment.getBean(Tracked.self) } == .cyclicDependency)
  }

  /// Each level is another environment, so no bean is met twice.
  @Test("A bean that opens children without end fails before the stack does")
  func aBeanThatOpensChildrenWithoutEnd() async {
    await #expect(processExitsWith: .success) {
      let environment = try Environment()
      let factories = Factories()
      factories.request = try environment.childFactory("request", seed: Void.self) {
        try $0.define(
          $0.bean(Tracked.self) { [unowned factories] in
            try factories.request?.withChild(()) { try $0.getBean(Tracked.self) } ?? Tracked(Tracked.Counters())
          })
      }
      let child = try factories.request?.build(())
      #expect(code { try child?.getBean(Tracked.self) } != nil)
      try environment.shutdown() as Void
    }
  }

  @Test("A start of the environment inside configure freezes it")
  func startingInsideConfigure() throws {
    try environment.define(environment.bean("outer"))
    let opened = code {
      try environment.childFactory("request", seed: Void.self) {
        try environment.startup()
        try $0.define($0.bean(7))
      }
    }
    #expect(opened == .frozen)
  }

  @Test("An error of configure leaves the environment usable")
  func throwingInsideConfigureLeavesTheEnvironmentUsable() throws {
    #expect(throws: Boom.self) {
      try environment.childFactory("request", seed: Void.self, configure: { _ in throw Boom() })
    }
    let factory = try environment.childFactory("request", seed: Void.self, configure: { try $0.define($0.bean(7)) })
    #expect(try factory.build(()).getBean(Int.self) == 7)
    try environment.shutdown()
  }

  @Test("The environment of configure, kept beyond it, refuses each use and affects no child")
  func theEnvironmentOfConfigureOutlivingIt() throws {
    var leaked: Environment?
    let factory = try environment.childFactory("request", seed: Void.self) {
      leaked = $0
      try $0.define($0.bean(7))
    }
    let template = try #require(leaked)
    #expect(code { try template.define(template.bean("late")) } == .frozen)
    #expect(code { try template.getBean(Int.self) } == .scopeNotActive)
    #expect(code { try template.startup() } == .scopeNotActive)
    #expect(code { try Environment(parent: template).startup() } == .scopeNotActive)
    let child = try factory.build(())
    // The end of the template ends no child.
    try template.shutdown()
    #expect(try child.getBean(Int.self) == 7)
    #expect(try factory.build(()).getBean(Int.self) == 7)
    try environment.shutdown()
  }

  @Test("A factory of children is finished after the end, and declaring is frozen")
  func aFactoryAfterTheEnd() throws {
    let factory = try environment.childFactory("request", seed: Int.self)
    try environment.shutdown()
    #expect(code { try factory.build(1) } == .finished)
    #expect(code { try factory.withChild(1) { _ in } } == .finished)
    #expect(code { try factory.childFactory("inner", seed: Void.self) } == .frozen)
    #expect(code { try environment.define(environment.bean(7)) } == .frozen)
    #expect(code { try Environment(parent: environment) } == .finished)
  }
}

private final class Factories: @unchecked Sendable {  // set before the environment starts
  var request: EnvironmentFactory<Void>?
}

private final class ShuttingDown: AsyncDisposableBean {
  let environment: Environment
  init(_ environment: Environment) { self.environment = environment }
  func preDestroy() async throws { try await environment.shutdown() }
}

private final class Looking: DisposableBean {
  let environment: Environment
  let journal: Journal
  init(_ environment: Environment, _ journal: Journal) {
    self.environment = environment
    self.journal = journal
  }
  func preDestroy() { journal.note("preDestroy \(code { try environment.getBean(Int.self) }, default: "nil")") }
  deinit { journal.note("deinit \(code { try environment.getBean(Int.self) }, default: "nil")") }
}

private final class CuriousScope: BeanScope {
  let environment: Environment
  /// A flag that is set after the last declaration: before that, a lookup would start the environment.
  let isCurious = Guarded(false)
  init(_ environment: Environment) { self.environment = environment }
  var name: String {
    if isCurious.withLock({ $0 }) { _ = try? environment.getBean(Int.self) }
    return "curious"
  }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { try factory.create(bean) }
  func finish() {}
}
