import Beans
import Glibc
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

private final class Catalogue: Sendable {
  let (store, index): (Store, Index)
  init(store: Store, index: Index) { (self.store, self.index) = (store, index) }
}

private final class Archive: AsyncDisposableBean, Sendable {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }

  func preDestroy() async throws {
    for _ in 0..<100 { await Task.yield() }
    journal.note("released")
  }
}

@Suite("Asynchronous creations", .timeLimit(.minutes(20))) struct AsyncCreationSpecification {
  @FreshEnvironment("shop") private var environment

  // MARK: failures

  @Test("The first failure of ready() is thrown at once, though another creation hangs and ignores its cancellation")
  func aFailureIsThrownAtOnce() async throws {
    let (gate, journal) = (AsyncGate(), Journal())
    try environment
      .define(environment.bean(Index.self, factory: Index.init).onDestroy { _ in journal.note("index") })
      .define(
        environment.bean(
          Store.self,
          async: { (_: Index) in
            await gate.pass()
            journal.note(Task.isCancelled ? "cancelled" : "not cancelled")
            return Store()
          }
        ).onDestroy { _ in journal.note("store") }
      )
      .define(
        environment.bean(
          Service.self,
          async: { () throws -> Service in
            await gate.arrivals(1)
            throw Boom()
          }))
    try await requireAwaitedFault(.creationFailed, causes: [Boom()]) { try await environment.ready() }
    // The hanging factory uses the beans that it has taken.
    #expect(journal.entries == [])
    #expect(
      try await requireAwaitedFault(.creationFailed) { try await environment.getBean(awaiting: Store.self) }.causes == [
        Boom()
      ])
    gate.open()
    try await environment.shutdown()
    #expect(journal.entries == ["cancelled", "store", "index"])
  }

  @Test("A failure of ready() without other creations under way is thrown after the release of all built beans")
  func aFailureAloneReleasesFirst() async throws {
    let journal = Journal()
    try environment
      .define(environment.bean(Index.self, async: { Index() }).onDestroy { _ in journal.note("index") })
      .define(environment.bean(Store.self, async: { (_: Index) throws -> Store in throw Boom() }))
      .define(environment.bean(Service.self, async: { (store: Store) in Service(store: store) }))
    try await requireAwaitedFault(.creationFailed) { try await environment.ready() }
    #expect(journal.entries == ["index"])
    try await environment.shutdown()
  }

  @Test("The first failure of a lookup cancels the other creations for which no other caller waits")
  func aFailedLookupCancelsTheRest() async throws {
    let (gate, journal) = (AsyncGate(), Journal())
    try environment
      .define(
        environment.bean(
          Store.self, lazy: true,
          async: {
            await gate.pass()
            journal.note(Task.isCancelled ? "cancelled" : "not cancelled")
            return Store()
          })
      )
      .define(
        environment.bean(
          Index.self, lazy: true,
          async: { () throws -> Index in
            await gate.arrivals(1)
            throw Boom()
          })
      )
      .define(environment.bean(Catalogue.self, lazy: true, factory: Catalogue.init))
    let fault = try await requireAwaitedFault(.creationFailed) {
      try await environment.getBean(awaiting: Catalogue.self)
    }
    #expect(fault.path == ["Catalogue", "Index"])
    gate.open()
    // The environment is open, and the store was created all the same.
    #expect(try await environment.getBean(awaiting: Store.self).name == "store")
    #expect(journal.entries == ["cancelled"])
    try await environment.shutdown()
  }

  // MARK: side by side

  @Test("A lookup creates unordered beans concurrently, however they are taken")
  func aLookupCreatesConcurrently() async throws {
    struct All: Sendable { let (stores, index): ([Store], Index) }
    let gate = AsyncGate()
    for id in ["a", "b"] {
      try environment.define(environment.bean(Store.self, id: id, lazy: true, async: { await gate.passing(Store(id)) }))
    }
    try environment
      .define(environment.bean(Index.self, lazy: true, async: { await gate.passing(Index()) }))
      .define(
        environment.bean(All.self, lazy: true) { (stores: [Store], index: Index) in All(stores: stores, index: index) })
    async let all = environment.getBean(awaiting: All.self)
    await gate.arrivals(3)
    gate.open()
    #expect(try await all.stores.map(\.name) == ["a", "b"])
    try await environment.shutdown()
  }

  @Test("ready() creates the dependencies of a plain bean concurrently, lazy ones included")
  func readyCreatesLazyBeansConcurrently() async throws {
    let gate = AsyncGate()
    try environment
      .define(environment.bean(Store.self, lazy: true, async: { await gate.passing(Store()) }))
      .define(environment.bean(Index.self, lazy: true, async: { await gate.passing(Index()) }))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init))
    async let started = environment.ready()
    await gate.arrivals(2)
    gate.open()
    #expect(try await started.getBean(Catalogue.self).store.name == "store")
    try await environment.shutdown()
  }

  @Test("A creation begins when all of its dependencies exist, and does not wait for anything else")
  func aCreationWaitsForItsDependenciesOnly() async throws {
    let (slow, quick) = (AsyncGate(), AsyncGate())
    try environment
      .define(environment.bean(Index.self, async: { await slow.passing(Index()) }))
      .define(environment.bean(Store.self, async: { Store() }))
      .define(
        environment.bean(
          Service.self,
          async: { (store: Store) in
            quick.arrive()
            return Service(store: store)
          }))
    async let started = environment.ready()
    await quick.arrivals(1)
    slow.open()
    _ = try await started
    try await environment.shutdown()
  }

  @Test(
    "ready() of a factory's child creates the child's own asynchronous beans concurrently, and leaves lazy ones out")
  func aChildGetsReady() async throws {
    let (gate, journal) = (AsyncGate(), Journal())
    let visits = try environment.childFactory("visit", seed: String.self) { visit in
      try visit
        .define(visit.bean(Store.self, async: { (name: String) in await gate.passing(Store(name)) }))
        .define(visit.bean(Index.self, async: { await gate.passing(Index()) }))
        .define(
          visit.bean(
            Service.self, lazy: true,
            async: { (store: Store) in journal.noting("service", Service(store: store)) }))
    }
    let visit = try visits.build("visitor")
    async let started = visit.ready()
    await gate.arrivals(2)
    gate.open()
    #expect(try await started === visit)
    #expect(try visit.getBean(Store.self).name == "visitor")
    _ = try visit.getBean(Index.self)
    #expect(journal.entries == [])
    try await visit.ready()
    visit.finish()
    try await requireAwaitedFault(.finished) { try await visit.ready() }
    try await environment.shutdown()
  }

  @Test("A failed ready() of a factory's child leaves the child unchanged: the next call tries again")
  func aChildMayTryAgain() async throws {
    let attempts = Counter()
    let visits = try environment.childFactory("visit", seed: String.self) { visit in
      try visit.define(
        visit.bean(
          Store.self,
          async: { (name: String) throws -> Store in
            if attempts.increment() == 1 { throw Boom() }
            return Store(name)
          }))
    }
    let visit = try visits.build("visitor")
    #expect(try await requireAwaitedFault(.creationFailed) { try await visit.ready() }.causes == [Boom()])
    try await visit.ready()
    #expect(try visit.getBean(Store.self).name == "visitor")
    try await environment.shutdown()
  }

  @Test("A child's lookup creates the parent's beans and the child's concurrently")
  func acrossEnvironments() async throws {
    let gate = AsyncGate()
    try environment.define(environment.bean(Store.self, lazy: true, async: { await gate.passing(Store()) }))
    let visits = try environment.childFactory("visit", seed: String.self) { visit in
      try visit
        .define(visit.bean(Index.self, async: { await gate.passing(Index()) }))
        .define(visit.bean(Catalogue.self, factory: Catalogue.init))
    }
    let visit = try visits.build("visitor")
    async let catalogue = visit.getBean(awaiting: Catalogue.self)
    await gate.arrivals(2)
    gate.open()
    #expect(try await catalogue.store === environment.getBean(Store.self))
    try await environment.shutdown()
  }

  @Test("An asynchronous factory makes a child ready while its own environment is not")
  func aFactoryThatOpensAChild() async throws {
    let visits = try environment.childFactory("visit", seed: String.self) { visit in
      try visit.define(visit.bean(Store.self, async: { (name: String) in Store(name) }))
    }
    try environment.define(
      environment.bean(
        Index.self,
        async: { () throws -> Index in
          try await visits.withChild("visitor") { visit in
            let store = try await visit.ready().getBean(Store.self)
            #expect(store.name == "visitor")
          }
          return Index()
        }))
    try await environment.ready()
    try await environment.shutdown()
  }

  // MARK: the end

  @Test(
    "A task whose environment ends while it waits gets finished, even if the factory throws because it is cancelled")
  func aWaiterOfAnEndingEnvironment() async throws {
    for isPatient in [true, false] {
      let (begun, gate) = (AsyncGate(), AsyncGate())
      let environment = try Environment(name: "shop")
      let visits = try environment.childFactory("visit", seed: String.self) { visit in
        try visit
          .define(
            visit.bean(
              Store.self,
              async: { (name: String) throws -> Store in
                begun.arrive()
                if isPatient { await gate.pass() } else { try await Task.sleep(for: .seconds(86_400)) }
                return Store(name)
              })
          )
          .define(visit.bean(Service.self, async: { (store: Store) in Service(store: store) }))
      }
      let visit = try visits.build("visitor")
      let waiters = [
        Task { _ = try await visit.getBean(awaiting: Store.self) },
        Task { _ = try await visit.getBean(awaiting: Service.self) },
        Task { _ = try await visit.ready() },
      ]
      await begun.arrivals(1)
      visit.finish()
      for waiter in waiters {
        let fault = try await requireAwaitedFault(.finished) { try await waiter.value }
        #expect(fault.causes.isEmpty && fault.underlying.isEmpty)
      }
      gate.open()
      try await environment.shutdown()
    }
  }

  @Test("A child's task that waits for a bean of its parent gets finished when the parent ends")
  func aWaiterBelowAnEndingEnvironment() async throws {
    let begun = AsyncGate()
    try environment.define(
      environment.bean(
        Store.self, lazy: true,
        async: { () throws -> Store in
          begun.arrive()
          try await Task.sleep(for: .seconds(86_400))
          return Store()
        }))
    let visits = try environment.childFactory("visit", seed: String.self) { visit in
      try visit.define(visit.bean(Service.self, factory: Service.init))
    }
    let visit = try visits.build("visitor")
    let waiter = Task { _ = try await visit.getBean(awaiting: Service.self) }
    await begun.arrivals(1)
    environment.finish()
    try await requireAwaitedFault(.finished) { try await waiter.value }
    try await environment.shutdown()
  }

  // MARK: circles

  /// The ways in which an asynchronous factory asks for a bean.
  enum Asking: CaseIterable, Sendable {
    case lookup, wait, childTask, group, task

    fileprivate func callAsFunction<T: Sendable>(_ type: T.Type, in environment: Environment) async throws {
      switch self {
      case .lookup: _ = try environment.getBean(type)
      case .wait: _ = try await environment.getBean(awaiting: type)
      case .childTask:
        async let bean = environment.getBean(awaiting: type)
        _ = try await bean
      case .group:
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { _ = try await environment.getBean(awaiting: type) }
          try await group.waitForAll()
        }
      case .task: try await Task { _ = try await environment.getBean(awaiting: type) }.value
      }
    }
  }

  @Test("An asynchronous factory that looks its own bean up is a circle", arguments: Asking.allCases)
  func aFactoryThatLooksItsOwnBeanUp(ask: Asking) async throws {
    try environment.define(
      environment.bean(
        Store.self, lazy: true,
        async: { (environment: Environment) throws -> Store in
          try await ask(Store.self, in: environment)
          return Store()
        }))
    let fault = try await requireAwaitedFault(.cyclicDependency) { try await environment.getBean(awaiting: Store.self) }
    #expect(fault.path == ["Store", "Store"])
    #expect(fault.message.contains("Store → Store"))
    try await environment.shutdown()
  }

  @Test("An asynchronous factory that looks up a bean that takes its own is a circle", arguments: Asking.allCases)
  func aFactoryThatLooksItsTakerUp(ask: Asking) async throws {
    try environment
      .define(
        environment.bean(
          Store.self, lazy: true,
          async: { (environment: Environment) throws -> Store in
            try await ask(Service.self, in: environment)
            return Store()
          })
      )
      .define(environment.bean(Service.self, lazy: true, factory: Service.init))
    let fault = try await requireAwaitedFault(.cyclicDependency) {
      try await environment.getBean(awaiting: Service.self)
    }
    #expect(fault.path.first == "Store" && fault.path.last == "Store")
    try await environment.shutdown()
  }

  @Test("A circle of asynchronous factories is drawn with every creation on it", arguments: [Asking.lookup, .wait])
  func aCircleThroughWhatAnotherTakes(ask: Asking) async throws {
    try environment
      .define(
        environment.bean(
          Store.self, lazy: true,
          async: { (environment: Environment) throws -> Store in
            try await ask(Index.self, in: environment)
            return Store()
          })
      )
      .define(environment.bean(Service.self, lazy: true, async: { (store: Store) in Service(store: store) }))
      .define(
        environment.bean(
          Index.self, lazy: true,
          async: { (environment: Environment) throws -> Index in
            _ = try await environment.getBean(awaiting: Service.self)
            return Index()
          }))
    if ask == .lookup {
      // A lookup that cannot wait does not begin the creation that would close the circle.
      try await requireAwaitedFault(.notReady) { try await environment.getBean(awaiting: Store.self) }
    } else {
      let fault = try await requireAwaitedFault(.cyclicDependency) {
        try await environment.getBean(awaiting: Store.self)
      }
      #expect(fault.path == ["Index", "Service", "Store", "Index"])
    }
    try await environment.shutdown()
  }

  @Test("A lookup of the bean whose creation waits for the own one is a circle, even if it cannot wait")
  func aLookupOfTheTakerBelow() async throws {
    try environment
      .define(
        environment.bean(
          Store.self, lazy: true,
          async: { (environment: Environment) throws -> Store in
            _ = try await environment.getBean(awaiting: Index.self)
            return Store()
          })
      )
      .define(
        environment.bean(
          Index.self, lazy: true,
          async: { (environment: Environment) throws -> Index in
            _ = try environment.getBean(Store.self)
            return Index()
          }))
    let fault = try await requireAwaitedFault(.cyclicDependency) { try await environment.getBean(awaiting: Store.self) }
    #expect(fault.path == ["Index", "Store", "Index"])
    try await environment.shutdown()
  }

  @Test("A task that outlives its creation may look up its bean, and waits for the end of the environment")
  func aTaskThatIsLeftBehind() async throws {
    let (there, journal) = (AsyncGate(), Journal())
    try environment
      .define(environment.bean(journal))
      .define(
        environment.bean(
          Archive.self, lazy: true,
          async: { (environment: Environment, journal: Journal) in
            Task {
              await there.pass()
              _ = try await environment.getBean(awaiting: Archive.self)
              try await environment.shutdown()
              journal.note("ended")
              there.arrive()
            }
            return Archive(journal)
          }))
    _ = try await environment.getBean(awaiting: Archive.self)
    there.open()
    await there.arrivals(2)
    #expect(journal.entries == ["released", "ended"])
  }

  // MARK: cost

  @Test("ready() is linear in a chain of asynchronous beans, each taken through plain ones")
  func aChain() async {
    // A process of its own spends its time on nothing else.
    await #expect(processExitsWith: .success) {
      let (short, long) = try await (AsyncCreationSpecification.cost(10), AsyncCreationSpecification.cost(100))
      #expect(long < 20 * short, "\(short) and \(long)")
    }
  }

  @Test("A lookup is linear in a net of lazy asynchronous beans, and calls each factory once")
  func aNet() async throws {
    let calls = Counter()
    let (rows, columns) = (20, 5)
    for row in 0..<rows {
      for column in 0..<columns {
        // Each bean takes the whole row before it, so the paths to the first row are too many to follow each.
        let below = row == 0 ? [] : (0..<columns).map { BeanValue.reference("\(row - 1).\($0)") }
        try environment.define(
          environment.bean(
            Store.self, id: "\(row).\(column)", lazy: true,
            async: { (_: [Store]) in calls.counting(Store()) }
          ).argument(0, .list(below)))
      }
    }
    _ = try await environment.getBean(awaiting: Store.self, byId: "\(rows - 1).0")
    #expect(calls.value == (rows - 1) * columns + 1)
    try await environment.shutdown()
  }

  /// Returns the processor time for making so many beans ready in sequence: the best of several runs.
  private static func cost(_ count: Int) async throws -> Double {
    var best = Double.infinity
    for _ in 0..<7 {
      let environment = try Environment(name: "shop")
      try environment.define(environment.bean(Store.self, id: "0", async: { Store() }))
      for number in 1..<count {
        try environment
          .define(
            environment.bean(Service.self, id: "s\(number)", factory: Service.init)
              .argument(0, ref: "\(number - 1)")
          )
          .define(
            environment.bean(Store.self, id: "\(number)", async: { (_: Service) in Store() })
              .argument(0, ref: "s\(number)"))
      }
      let begin = clock()
      try await environment.ready()
      best = min(best, Double(clock() - begin))
      try await environment.shutdown()
    }
    return best
  }
}
