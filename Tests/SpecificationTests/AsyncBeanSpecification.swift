import Beans
import Glibc
import TestSupport
import Testing

private final class Store: Sendable {
  let name: String
  init(_ name: String = "store") { self.name = name }
}

private final class Index: Sendable {}

private final class Service: Sendable {
  let store: Store
  init(store: Store) { self.store = store }
}

private struct Refused: Error {}

/// Awaits its own migration.
private final class Archive: AsyncBean, DisposableBean, Sendable {
  let journal: Journal
  init(journal: Journal) { self.journal = journal }

  func postConstruct() async throws { await journal.noteLater("migrated") }

  func preDestroy() { journal.note("closed") }
}

private final class Listener: Bean, DisposableBean, Sendable {
  let journal: Journal
  init(journal: Journal, archive: Archive) { self.journal = journal }
  func postConstruct() { journal.note("listening") }
  func preDestroy() { journal.note("no longer listening") }
}

@Suite("Asynchronous beans") struct AsyncBeanSpecification {
  @FreshEnvironment("shop") private var environment

  // MARK: startup

  @Test("Startup awaits asynchronous beans")
  func startupAwaitsAsynchronousBeans() async throws {
    try environment
      .define(environment.bean(Service.self, factory: Service.init))
      .define(
        environment.bean(
          Store.self,
          async: {
            await Task.yield()
            return Store()
          }))
    try await environment.ready()
    let service = try environment.getBean(Service.self)
    #expect(try service.store === environment.getBean(Store.self))
    try await environment.shutdown()
  }

  @Test("A listener opens when its dependencies are ready")
  func aListenerOpensWhenItsDependenciesAreReady() async throws {
    let journal = Journal()
    try environment
      .define(environment.bean(Listener.self, factory: Listener.init))
      .define(environment.bean(Archive.self, factory: Archive.init))
      .define(environment.bean(journal))
    try await environment.ready()
    #expect(journal.entries == ["migrated", "listening"])
    try await environment.shutdown()
    #expect(journal.entries == ["migrated", "listening", "no longer listening", "closed"])
  }

  @Test("Independent beans are created concurrently")
  func independentBeansAreCreatedConcurrently() async throws {
    let gate = AsyncGate()
    try environment
      .define(environment.bean(Store.self, async: { await gate.passing(Store()) }))
      .define(environment.bean(Index.self, async: { await gate.passing(Index()) }))
    async let started = environment.ready()
    // No factory continues before both have begun.
    await gate.arrivals(2)
    gate.open()
    #expect(try await started === environment)
    try await environment.shutdown()
  }

  @Test("A bean is built after the asynchronous bean that it takes")
  func aBeanIsBuiltAfterTheAsynchronousBeanThatItTakes() async throws {
    let journal = Journal()
    try environment
      .define(
        environment.bean(
          Index.self,
          async: { (service: Service) in journal.noting("index of \(service.store.name)", Index()) })
      )
      .define(environment.bean(Service.self, factory: Service.init))
      .define(
        environment.bean(
          Store.self,
          async: {
            await Task.yield()
            journal.note("store")
            return Store("orders")
          }))
    try await environment.ready()
    #expect(journal.entries == ["store", "index of orders"])
    try await environment.shutdown()
  }

  @Test("Startup awaits the parent first")
  func startupAwaitsTheParentFirst() async throws {
    let parent = try Environment(name: "shop")
    try parent.define(parent.bean(Store.self, async: { Store("of the parent") }))
    let child = try Environment(name: "branch", parent: parent)
    try child.define(child.bean(Service.self, factory: Service.init))
    try await child.ready()
    #expect(try child.getBean(Service.self).store === parent.getBean(Store.self))
    try await parent.shutdown()
  }

  @Test("Synchronous startup names the missing beans")
  func synchronousStartupNamesTheMissingBeans() async throws {
    func start(_ environment: Environment) throws { try environment.startup() }
    try environment
      .define(environment.bean(Service.self, factory: Service.init))
      .define(environment.bean(Store.self, async: { Store() }))
      .define(environment.bean("text"))
    try requireFault(.notReady, message: "Store", "Service", "try await ready()") { try start(environment) }
    // The environment has started all the same.
    #expect(try environment.getBean(String.self) == "text")
    try await environment.ready()
    try start(environment)
    try await environment.shutdown()
  }

  @Test("A synchronous lookup names the call to use")
  func aSynchronousLookupNamesTheCallToUse() async throws {
    try environment
      .define(environment.bean(Service.self, factory: Service.init))
      .define(environment.bean(Store.self, id: "orders", async: { Store() }))
    let line = #line - 1
    let fault = try requireFault(.notReady) { try environment.getBean(Service.self) }
    #expect(fault.message.contains("'try await ready()'") && fault.message.contains("getBean(awaiting: …)"))
    #expect(fault.path.first == "Service" && fault.path.last?.contains("orders") == true)
    #expect(fault.origin?.line == line)
    let service = try await environment.getBean(awaiting: Service.self)
    #expect(try environment.getBean(Service.self) === service)
    try await environment.shutdown()
  }

  @Test("A bean that fails ends the startup")
  func aBeanThatFailsEndsTheStartup() async throws {
    let journal = Journal()
    try environment
      .define(environment.bean(journal))
      .define(environment.bean(Archive.self, factory: Archive.init))
      .define(environment.bean(Index.self, async: { (_: Archive) throws -> Index in throw Refused() }))
    let error = await #expect(throws: EnvironmentError.self) { try await environment.ready() }
    #expect(error?.code == .creationFailed)
    #expect(error?.underlying.first is Refused)
    #expect(journal.entries == ["migrated", "closed"])
    try requireFault(.creationFailed) { try environment.getBean(Journal.self) }
    await #expect(throws: EnvironmentError.self) { try await environment.ready() }
  }

  @Test("A cancelled startup may be tried again")
  func aCancelledStartupMayBeTriedAgain() async throws {
    let (gate, count) = (AsyncGate(), Guarded(0))
    try environment.define(
      environment.bean(
        Store.self,
        async: {
          count.withLock { $0 += 1 }
          await gate.pass()
          try Task.checkCancellation()
          return Store()
        }))
    let task = Task { _ = try await environment.ready() }
    await gate.arrivals(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    gate.open()
    try await environment.ready()
    #expect(count.withLock { $0 } == 2)
    try await environment.shutdown()
  }

  // MARK: lookups

  @Test("All tasks wait for one creation")
  func allTasksWaitForOneCreation() async throws {
    let (gate, count) = (AsyncGate(), Guarded(0))
    try environment.define(
      environment.bean(
        Store.self, lazy: true,
        async: {
          count.withLock { $0 += 1 }
          await gate.pass()
          return Store()
        }))
    let stores = try await withThrowingTaskGroup(of: Store.self) { group in
      for _ in 0..<100 { group.addTask { try await environment.getBean(awaiting: Store.self) } }
      await gate.arrivals(1)
      gate.open()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(stores.count == 100 && stores.allSatisfy { $0 === stores[0] })
    #expect(count.withLock { $0 } == 1)
    try await environment.shutdown()
  }

  @Test("A cancelled task does not cancel the others")
  func aCancelledTaskDoesNotCancelTheOthers() async throws {
    let gate = AsyncGate()
    try environment.define(
      environment.bean(
        Store.self, lazy: true,
        async: {
          await gate.pass()
          try Task.checkCancellation()
          return Store()
        }))
    let (early, late) = (
      Task { try await environment.getBean(awaiting: Store.self) },
      Task { try await environment.getBean(awaiting: Store.self) }
    )
    await gate.arrivals(1)
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
    gate.open()
    #expect(try await late.value.name == "store")
    try await environment.shutdown()
  }

  @Test("A creation that failed is tried again")
  func aCreationThatFailedIsTriedAgain() async throws {
    let count = Guarded(0)
    try environment.define(
      environment.bean(
        Store.self, lazy: true,
        async: {
          let isFirst = count.withLock { count in
            count += 1
            return count == 1
          }
          if isFirst { throw Refused() }
          return Store()
        }))
    try await requireAwaitedFault(.creationFailed) { try await environment.getBean(awaiting: Store.self) }
    #expect(try await environment.getBean(awaiting: Store.self).name == "store")
    try await environment.shutdown()
  }

  @Test("Every form of parameter can be awaited")
  func everyFormOfParameterCanBeAwaited() async throws {
    struct All: Sendable {
      let list: [Store]
      let maybe: Store?
      let lazy: Lazy<Store>
      let provider: Provider<Store>
      let tagged: Qualified<Refused, Store>
    }
    try environment
      .define(
        environment.bean(All.self) {
          (
            list: [Store], maybe: Store?, lazy: Lazy<Store>, provider: Provider<Store>,
            tagged: Qualified<Refused, Store>
          ) in
          All(list: list, maybe: maybe, lazy: lazy, provider: provider, tagged: tagged)
        }
      )
      .define(
        environment.bean(Store.self, id: "a", lazy: true, async: { Store("a") }).primary().qualifier(Refused.self)
      )
      .define(environment.bean(Store.self, id: "b", lazy: true, async: { Store("b") }))
    let all = try await environment.getBean(awaiting: All.self)
    #expect(all.list.map(\.name) == ["a", "b"])
    #expect(all.maybe === all.list[0] && all.tagged.value === all.list[0])
    #expect(try all.lazy.get() === all.list[0] && all.provider.get() === all.list[0])
    #expect(try await environment.getBean(awaiting: Store.self, byId: "b") === all.list[1])
    #expect(try await environment.getBean(awaiting: Qualified<Refused, Store>.self).value === all.list[0])
    try await environment.shutdown()
  }

  @Test("Values and protocols are awaited like objects")
  func valuesAndProtocolsAreAwaitedLikeObjects() async throws {
    struct Limits: Equatable, Sendable { var rows = 7 }
    try environment
      .define(environment.bean(Limits.self, async: { Limits() }))
      .define(environment.bean((any CustomStringConvertible).self, async: { "text" as any CustomStringConvertible }))
    try await environment.ready()
    #expect(try environment.getBean(Limits.self) == Limits())
    #expect(try environment.getBean((any CustomStringConvertible).self).description == "text")
    try await environment.shutdown()
  }

  @Test("A child of a factory awaits its own beans")
  func aChildOfAFactoryAwaitsItsOwnBeans() async throws {
    let journal = Journal()
    try environment.define(environment.bean(journal))
    let requests = try environment.childFactory("request", seed: String.self) { request in
      try request.define(
        request.bean(
          Store.self,
          async: { (name: String) in
            await Task.yield()
            return Store(name)
          }
        )
        .onDestroy { journal.note("released \($0.name)") })
    }
    let request = try requests.build("visitor")
    try requireFault(.notReady) { try request.getBean(Store.self) }
    let store = try await request.getBean(awaiting: Store.self)
    #expect(try request.getBean(Store.self) === store)
    request.finish()
    #expect(journal.entries == ["released visitor"])
    try await environment.shutdown()
  }

  @Test("Decorators and post processors receive the awaited bean")
  func decoratorsAndPostProcessorsReceiveTheAwaitedBean() async throws {
    let journal = Journal()
    try environment
      .define(environment.bean(journal))
      .define(
        environment.bean(Inspector.self) { (journal: Journal) in
          Inspector { if let store = $0 as? Store { journal.note("processed \(store.name)") } }
        }
      )
      .define(
        environment.bean(Store.self, async: { Store("inner") }).postConstruct { journal.note("complete \($0.name)") }
      )
      .define(environment.decorate(Store.self) { Store("outer of \($0.name)") })
    try await environment.ready()
    #expect(try environment.getBean(Store.self).name == "outer of inner")
    #expect(journal.entries == ["processed inner", "complete inner", "processed outer of inner"])
    try await environment.shutdown()
  }

  // MARK: the end

  @Test("An end waits for the creation and releases it")
  func anEndWaitsForTheCreationAndReleasesIt() async throws {
    let (gate, journal) = (AsyncGate(), Journal())
    try environment.define(
      environment.bean(
        Store.self, lazy: true,
        async: {
          await gate.pass()
          journal.note(Task.isCancelled ? "cancelled" : "not cancelled")
          return Store()
        }
      )
      .onDestroy { _ in journal.note("released") })
    let waiter = Task { try await environment.getBean(awaiting: Store.self) }
    await gate.arrivals(1)
    environment.finish()
    gate.open()
    try await environment.shutdown()
    #expect(journal.entries == ["cancelled", "released"])
    try await requireAwaitedFault(.finished) { try await waiter.value }
  }

  @Test("A factory may end its own environment")
  func aFactoryMayEndItsOwnEnvironment() async throws {
    try environment.define(
      environment.bean(
        Store.self, lazy: true,
        async: { (environment: Environment) in
          try await environment.shutdown()
          return Store()
        }))
    await #expect(throws: EnvironmentError.self) { try await environment.getBean(awaiting: Store.self) }
    try await environment.shutdown()
    #expect(environment.isFinished)
  }

  // MARK: faults

  @Test("A factory that awaits its own bean is a circle")
  func aFactoryThatAwaitsItsOwnBeanIsACircle() async throws {
    try environment
      .define(
        environment.bean(
          Store.self, lazy: true,
          async: { (environment: Environment) in
            _ = try await environment.getBean(awaiting: Index.self)
            return Store()
          })
      )
      .define(
        environment.bean(
          Index.self, lazy: true,
          async: { (environment: Environment) in
            _ = try await environment.getBean(awaiting: Service.self)
            return Index()
          })
      )
      .define(environment.bean(Service.self, lazy: true, factory: Service.init))
    let error = await #expect(throws: EnvironmentError.self) { try await environment.getBean(awaiting: Store.self) }
    #expect(error?.code == .cyclicDependency)
    #expect(error?.message.contains("Index → Store → Index") == true)
    #expect(error?.path == ["Index", "Store", "Index"])
    #expect(error?.origin?.file.hasSuffix("AsyncBeanSpecification.swift") == true)
    #expect(error?.steps.allSatisfy { $0.origin != nil } == true)
    try await environment.shutdown()
  }

  @Test("A prototype cannot be awaited")
  func aPrototypeCannotBeAwaited() throws {
    try environment
      .define(environment.bean(Store.self, async: { Store() }).scope("prototype"))
      .define(environment.bean(Archive.self, factory: Archive.init).scope("prototype"))
      .define(environment.bean(Journal()))
    let found = faults(of: environment)
    #expect(found.map(\.code) == [.invalidDeclaration, .invalidDeclaration])
    #expect(found.allSatisfy { $0.message.contains("asynchronously") && $0.origin != nil })
  }

  @Test("A post processor cannot be awaited")
  func aPostProcessorCannotBeAwaited() throws {
    final class Processor: BeanPostProcessor, Sendable { func process(_ bean: AnyObject) -> AnyObject { bean } }
    try environment.define(environment.bean(Processor.self, async: { Processor() }))
    #expect(faults(of: environment).map(\.code) == [.invalidDeclaration])
  }

  @Test("An undeclared asynchronous instance is refused")
  func anUndeclaredAsynchronousInstanceIsRefused() throws {
    class Plain: @unchecked Sendable {}  // immutable
    final class Slow: Plain, AsyncBean, @unchecked Sendable { func postConstruct() async {} }  // immutable
    try environment.define(environment.bean(Plain.self, lazy: true, factory: { Slow() }))
    try requireFault(.invalidDeclaration, message: "Slow") { try environment.getBean(Plain.self) }
    try environment.shutdown()
  }

  @Test("A task that arrives during the store gets the bean")
  func aTaskThatArrivesDuringTheStoreGetsTheBean() async throws {
    for _ in 0..<2_000 {
      let created = Guarded(0)
      let environment = try Environment(name: "shop")
      try environment
        .define(
          environment.bean(
            Store.self, lazy: true,
            async: {
              created.withLock { $0 += 1 }
              return Store()
            })
        )
        .define(environment.bean(Service.self, lazy: true, factory: Service.init))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = try await environment.getBean(awaiting: Service.self) } }
        try await group.waitForAll()
      }
      #expect(created.withLock { $0 } == 1)
      try await environment.shutdown()
    }
  }

  @Test("A task that waited for a premature build builds itself")
  func aTaskThatWaitedForAPrematureBuildBuildsItself() async throws {
    for _ in 0..<20 {
      let (creating, missed, mayCreate, runs) = (AsyncGate(), AsyncGate(), Latch(), Guarded(0))
      let environment = try Environment(name: "shop")
      try environment
        .define(
          environment.bean(
            Store.self, lazy: true,
            async: {
              creating.arrive()
              await mayCreate.wait()
              return Store()
            })
        )
        .define(
          environment.bean(Service.self, lazy: true) { (environment: Environment) in
            let run = runs.withLock {
              $0 += 1
              return $0
            }
            do { return Service(store: try environment.getBean(Store.self)) } catch {
              // Fails when the store is there, while the task waits for it.
              if run == 2 {
                missed.arrive()
                try waitUntil("the store") { (try? environment.getBean(Store.self)) != nil }
                for _ in 0..<10_000 { sched_yield() }
              }
              throw error
            }
          })
      async let service = environment.getBean(awaiting: Service.self)
      await creating.arrivals(1)
      let other = BackgroundThread { code { try environment.getBean(Service.self) } }
      await missed.arrivals(1)
      mayCreate.open()
      _ = try await service
      #expect(try other.value() == .notReady)
      try await environment.shutdown()
    }
  }

  @Test("An error that a factory has kept is thrown")
  func anErrorThatAFactoryHasKeptIsThrown() async throws {
    let kept = Guarded<(any Error)?>(nil)
    try environment
      .define(environment.bean(Store.self, lazy: true, async: { Store() }))
      .define(
        environment.bean(Index.self, lazy: true) { (environment: Environment) in
          if let error = kept.withLock({ $0 }) { throw error }
          do { _ = try environment.getBean(Store.self) } catch {
            kept.withLock { $0 = error }
            throw error
          }
          return Index()
        })
    try await requireAwaitedFault(.notReady) { try await environment.getBean(awaiting: Index.self) }
    try await environment.shutdown()
  }

  @Test("A loop of lookups and creations ends")
  func aLoopOfLookupsAndCreationsEnds() async throws {
    try environment.define(environment.bean(Store.self, lazy: true, async: { Store() }))
    // Threads that cannot wait look the bean up meanwhile, and get it or the error.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1_000 {
            do { _ = try environment.getBean(Store.self) } catch let error as EnvironmentError {
              #expect(error.code == .notReady)
            }
          }
        }
        group.addTask { _ = try await environment.getBean(awaiting: Store.self) }
      }
      try await group.waitForAll()
    }
    #expect(try environment.getBean(Store.self).name == "store")
    try await environment.shutdown()
  }
}
