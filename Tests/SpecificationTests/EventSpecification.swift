import Beans
import TestSupport
import Testing

private struct OrderPlaced: Sendable { var number = 1 }
private struct OrderCancelled: Sendable {}
private class Alarm: @unchecked Sendable {}  // has no state
private final class FireAlarm: Alarm, @unchecked Sendable {}  // has no state

/// A bean without behaviour.
private final class Clerk: Sendable {}

/// A bean that is a listener by its type.
private final class Book: EventListener, Sendable {
  private let journal: Guarded<[String]>
  init(_ journal: Guarded<[String]>) { self.journal = journal }
  func receive(_ event: OrderPlaced) { journal.withLock { $0.append("book \(event.number)") } }
}

private struct Stamp: EventListener {
  let journal: Guarded<[String]>
  func receive(_ event: OrderPlaced) { journal.withLock { $0.append("stamp \(event.number)") } }
}

@Suite struct EventSpecification {
  @FreshEnvironment("shop") private var shop
  private let journal = Guarded<[String]>([])

  private var entries: [String] { journal.withLock { $0 } }

  /// A clerk that writes down its name at each order.
  private func clerk(_ name: String, in environment: Environment, lazy: Bool = false) -> TypedBeanDeclaration<Clerk> {
    environment.bean(Clerk.self, id: name, lazy: lazy, factory: Clerk.init).listens { [journal] (_, _: OrderPlaced) in
      journal.withLock { $0.append(name) }
    }
  }

  // MARK: receivers

  @Test("Listeners are called in order of definition")
  func listenersAreCalledInOrderOfDefinition() throws {
    let journal = journal
    try shop
      .define(shop.bean(Book.self, factory: { Book(journal) }))
      .define(clerk("clerk", in: shop))
      .define(shop.bean(Stamp.self, factory: { Stamp(journal: journal) }))
      .define(shop.bean(Book(journal), id: "copy"))
    try shop.publish(OrderPlaced(number: 7))
    #expect(entries == ["book 7", "clerk", "stamp 7", "book 7"])
  }

  @Test("An event without listeners is no error")
  func anEventWithoutListenersIsNoError() throws {
    try shop.publish(OrderPlaced())
    try shop.publish("an event")
    try shop.shutdown()
  }

  @Test("A bean may listen to several types")
  func aBeanMayListenToSeveralTypes() throws {
    let journal = journal
    try shop.define(
      shop.bean(Book.self, factory: { Book(journal) })
        .listens(to: OrderCancelled.self) { _, _ in journal.withLock { $0.append("cancelled") } }
        .listens { (_, event: OrderPlaced) in journal.withLock { $0.append("placed \(event.number)") } })
    try shop.publish(OrderPlaced(number: 2))
    try shop.publish(OrderCancelled())
    #expect(entries == ["book 2", "placed 2", "cancelled"])
  }

  @Test("The type of the event itself decides")
  func theTypeOfTheEventItselfDecides() throws {
    let journal = journal
    try shop.define(
      shop.bean(Clerk.self, factory: Clerk.init)
        .listens(to: Alarm.self) { _, _ in journal.withLock { $0.append("alarm") } }
        .listens(to: FireAlarm.self) { _, _ in journal.withLock { $0.append("fire") } }
        .listens(to: OrderPlaced.self) { _, _ in journal.withLock { $0.append("order") } })
    let alarms = [Alarm(), FireAlarm()]
    for alarm in alarms { try shop.publish(alarm) }
    let event: any Sendable = OrderPlaced()
    try shop.publish(event)
    #expect(entries == ["alarm", "fire", "order"])
  }

  @Test("The listener is the bean that lookups return")
  func theListenerIsTheBeanThatLookupsReturn() throws {
    let seen = Guarded<[ObjectIdentifier]>([])
    try shop.define(
      shop.bean(Clerk.self, factory: Clerk.init).listens { (clerk, _: OrderPlaced) in
        seen.withLock { $0.append(ObjectIdentifier(clerk)) }
      })
    try shop.publish(OrderPlaced())
    try shop.publish(OrderPlaced())
    let clerk = ObjectIdentifier(try shop.getBean(Clerk.self))
    #expect(seen.withLock { $0 } == [clerk, clerk])
  }

  @Test("A listener is built for the first event that it receives")
  func aListenerIsBuiltForTheFirstEventThatItReceives() throws {
    let journal = journal
    try shop.define(clerk("clerk", in: shop, lazy: true).postConstruct { _ in journal.withLock { $0.append("built") } })
    try shop.startup()
    try shop.publish(OrderCancelled())
    #expect(entries == [])
    try shop.publish(OrderPlaced())
    try shop.publish(OrderPlaced())
    #expect(entries == ["built", "clerk", "clerk"])
  }

  @Test("A prototype is built anew for each event")
  func aPrototypeIsBuiltAnewForEachEvent() throws {
    let journal = journal
    try shop.define(
      clerk("clerk", in: shop).scope("prototype").postConstruct { _ in journal.withLock { $0.append("built") } })
    try shop.publish(OrderPlaced())
    try shop.publish(OrderPlaced())
    #expect(entries == ["built", "clerk", "built", "clerk"])
  }

  @Test("A template passes its listeners on")
  func aTemplatePassesItsListenersOn() throws {
    let journal = journal
    try shop
      .define(clerk("template", in: shop).abstract())
      .define(shop.bean(Clerk.self, id: "silent", parent: "template"))
      .define(
        shop.bean(Clerk.self, id: "loud", parent: "template").listens { (_, _: OrderPlaced) in
          journal.withLock { $0.append("loud") }
        })
    try shop.publish(OrderPlaced())
    #expect(entries == ["template", "loud"])
  }

  @Test("A decorated bean receives, and its decorator only if declared")
  func aDecoratedBeanReceivesAndItsDecoratorOnlyIfDeclared() throws {
    let journal = journal
    try shop
      .define(shop.bean(Book.self, factory: { Book(journal) }))
      .define(shop.decorate(Book.self) { (_: Book) in Book(journal) })
    try shop.publish(OrderPlaced())
    #expect(entries == ["book 1"])

    let other = try Environment(name: "other")
    defer { try? other.shutdown() }
    try other
      .define(clerk("clerk", in: other))
      .define(
        other.decorate(Clerk.self) { (_: Clerk) in Clerk() }.listens { (_, _: OrderPlaced) in
          journal.withLock { $0.append("decorator") }
        })
    journal.withLock { $0 = [] }
    try other.publish(OrderPlaced())
    #expect(entries == ["clerk", "decorator"])
  }

  @Test("Private beans listen, and inactive ones do not")
  func privateBeansListenAndInactiveOnesDoNot() throws {
    struct Backroom: BeanModule {
      let journal: Guarded<[String]>
      func configure(_ environment: Environment) throws {
        let journal = journal
        try environment.define(environment.bean(Book.self, factory: { Book(journal) }).private())
      }
    }
    try shop
      .include(Backroom(journal: journal))
      .define(clerk("clerk", in: shop).profile("elsewhere"))
      .define(clerk("template", in: shop).abstract())
    try shop.publish(OrderPlaced())
    #expect(entries == ["book 1"])
  }

  @Test("A factory bean listens for itself")
  func aFactoryBeanListensForItself() throws {
    final class Agency: FactoryBean, Initializable {
      func create() -> Clerk { Clerk() }
    }
    let journal = journal
    try shop.define(
      shop.bean(Agency.self).target(Clerk.self).listens { (agency, _: OrderPlaced) in
        journal.withLock { $0.append("\(type(of: agency))") }
      })
    try shop.publish(OrderPlaced())
    #expect(entries == ["Agency"])
  }

  @Test("A product that is a listener receives")
  func aProductThatIsAListenerReceives() throws {
    final class Printer: FactoryBean {
      let journal: Guarded<[String]>
      init(_ journal: Guarded<[String]>) { self.journal = journal }
      func create() -> Book { Book(journal) }
    }
    let journal = journal
    try shop.define(shop.bean(Printer.self, factory: { Printer(journal) }).target(Book.self))
    try shop.publish(OrderPlaced())
    #expect(entries == ["book 1"])
  }

  // MARK: the tree

  @Test("The nearest listener is called first, and those of children are not")
  func theNearestListenerIsCalledFirstAndThoseOfChildrenAreNot() throws {
    try shop.define(clerk("shop", in: shop))
    let sessions = try shop.childFactory("session", seed: Int.self) { try $0.define(clerk("session", in: $0)) }
    let requests = try sessions.childFactory("request", seed: String.self) { try $0.define(clerk("request", in: $0)) }
    let session = try sessions.build(1)
    let other = try sessions.build(2)
    let request = try requests.build("a", in: session)
    try request.publish(OrderPlaced())
    #expect(entries == ["request", "session", "shop"])
    journal.withLock { $0 = [] }
    try other.publish(OrderPlaced())
    #expect(entries == ["session", "shop"])
    journal.withLock { $0 = [] }
    try shop.publish(OrderPlaced())
    #expect(entries == ["shop"])
  }

  @Test("A child that is started later publishes to its parents")
  func aChildThatIsStartedLaterPublishesToItsParents() throws {
    let journal = journal
    try shop
      .define(clerk("shop", in: shop))
      .define(
        shop.bean(Book.self, factory: { Book(journal) }).scope("prototype").postConstruct { _ in
          journal.withLock { $0.append("new") }
        })
    try shop.startup()
    let branch = try Environment(name: "branch", parent: shop)
    try branch.define(clerk("branch", in: branch))
    try branch.publish(OrderPlaced())
    #expect(entries == ["branch", "shop", "new", "book 1"])
    try branch.shutdown()
  }

  @Test("A bean of a request listens where its scope is open")
  func aBeanOfARequestListensWhereItsScopeIsOpen() throws {
    let seen = Guarded<[Int]>([])
    final class Log: Sendable {
      let request: Int
      init(request: Int) { self.request = request }
    }
    try shop.define(
      shop.bean(Log.self, factory: Log.init).scope("request").listens { (log, _: OrderPlaced) in
        seen.withLock { $0.append(log.request) }
      })
    let requests = try shop.childFactory("request", seed: Int.self)
    try shop.publish(OrderPlaced())
    try requests.withChild(3) { try $0.publish(OrderPlaced()) }
    try requests.withChild(4) { try $0.publish(OrderPlaced()) }
    #expect(seen.withLock { $0 } == [3, 4])
  }

  @Test("A prototype that needs a request listens in requests only")
  func aPrototypeThatNeedsARequestListensInRequestsOnly() throws {
    let seen = Guarded<[Int]>([])
    struct Note: Sendable { let request: Int }
    try shop.define(
      shop.bean(Note.self) { (request: Int) in Note(request: request) }.scope("prototype")
        .listens { (note, _: OrderPlaced) in seen.withLock { $0.append(note.request) } })
    let requests = try shop.childFactory("request", seed: Int.self)
    try shop.publish(OrderPlaced())
    try requests.withChild(3) { try $0.publish(OrderPlaced()) }
    #expect(seen.withLock { $0 } == [3])
  }

  @Test("A listener hidden by a nearer id is left out")
  func aListenerHiddenByANearerIdIsLeftOut() throws {
    try shop.define(clerk("clerk", in: shop)).define(clerk("other", in: shop))
    let requests = try shop.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Clerk.self, id: "clerk", factory: Clerk.init))
    }
    try requests.withChild(1) { try $0.publish(OrderPlaced()) }
    #expect(entries == ["other"])
  }

  @Test("A user's scope decides which instance receives")
  func aUsersScopeDecidesWhichInstanceReceives() throws {
    let journal = journal
    let scope = AbstractBeanScope(name: "shift")
    try shop.registerScope(scope)
    try shop
      .define(clerk("clerk", in: shop).scope("shift").postConstruct { _ in journal.withLock { $0.append("built") } })
      .define(clerk("other", in: shop))
    try shop.publish(OrderPlaced())
    try shop.publish(OrderPlaced())
    #expect(entries == ["built", "clerk", "other", "clerk", "other"])
    journal.withLock { $0 = [] }
    scope.finish()
    try shop.publish(OrderPlaced())
    #expect(entries == ["other"])
  }

  @Test("The scope object of a child returns the listener")
  func theScopeObjectOfAChildReturnsTheListener() throws {
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(clerk("request", in: $0))
    } scope: {
      AbstractBeanScope(name: "request")
    }
    let request = try requests.build(1)
    try request.publish(OrderPlaced())
    try request.publish(OrderPlaced())
    #expect(entries == ["request", "request"])
    #expect(shop.statistics().first { $0.scope == "request" }?.opened == 1)
  }

  // MARK: failures

  @Test("A listener that throws stops no other")
  func aListenerThatThrowsStopsNoOther() throws {
    let line = #line + 2
    try shop
      .define(shop.bean(Clerk.self, id: "broken", factory: Clerk.init).listens { (_, _: OrderPlaced) in throw Boom() })
      .define(clerk("clerk", in: shop))
    try requireFault(.listenerFailed, message: "OrderPlaced", path: ["Clerk 'broken'"], causes: [Boom()], line: line) {
      try shop.publish(OrderPlaced())
    }
    #expect(entries == ["clerk"])
  }

  @Test("All failures are thrown together")
  func allFailuresAreThrownTogether() throws {
    let broken = { (id: String, environment: Environment) in
      environment.bean(Clerk.self, id: id, lazy: true, factory: Clerk.init).listens { (_, _: OrderPlaced) in
        throw Boom(name: id)
      }
    }
    try shop
      .define(broken("first", shop))
      .define(
        shop.bean(Clerk.self, id: "second", lazy: true, factory: { throw Boom(name: "built") })
          .listens { (_, _: OrderPlaced) in })
    let requests = try shop.childFactory("request", seed: Int.self) { try $0.define(broken("inner", $0)) }
    let fault = try requireFault(.listenerFailed) { try requests.withChild(1) { try $0.publish(OrderPlaced()) } }
    let parts = fault.underlying.compactMap { $0 as? EnvironmentError }
    #expect(parts.map(\.code) == [.listenerFailed, .listenerFailed, .listenerFailed])
    #expect(parts.map(\.path) == [["Clerk 'inner'"], ["Clerk 'first'"], ["Clerk 'second'"]])
    #expect(parts.allSatisfy { $0.origin != nil })
    #expect(fault.causes.map(\.name) == ["inner", "first", "built"])
  }

  @Test("An asynchronous listener fails until it exists")
  func anAsynchronousListenerFailsUntilItExists() async throws {
    let line = #line + 3
    try shop
      .define(
        shop.bean(Clerk.self, id: "slow", async: { Clerk() }).listens { [journal] (_, _: OrderPlaced) in
          journal.withLock { $0.append("slow") }
        }
      )
      .define(clerk("quick", in: shop))
    // A lookup starts the environment as far as possible, and so does an event.
    let fault = try requireFault(.listenerFailed, path: ["Clerk 'slow'"]) { try shop.publish(OrderPlaced()) }
    #expect(fault.isFrom(file: #fileID, line: line))
    #expect(fault.underlying.compactMap { ($0 as? EnvironmentError)?.code } == [.notReady])
    #expect(entries == ["quick"])
    try await shop.ready()
    try shop.publish(OrderPlaced())
    #expect(entries == ["quick", "slow", "quick"])
    try await shop.shutdown()
  }

  @Test("A listener of a type that no event has is a fault")
  func aListenerOfATypeThatNoEventHasIsAFault() throws {
    try shop.define(shop.bean(Clerk.self, factory: Clerk.init).listens(to: (any Sendable).self) { _, _ in })
    try requireFault(.invalidDeclaration, path: ["Clerk"]) { try shop.startup() }
  }

  @Test("A listener of a template has to fit the bean")
  func aListenerOfATemplateHasToFitTheBean() throws {
    try shop
      .define(clerk("template", in: shop).abstract())
      .define(shop.bean(Alarm.self, parent: "template", factory: Alarm.init))
    try requireFault(.typeMismatch) { try shop.startup() }
  }

  @Test("A faulty listener of a decorator is reported once")
  func aFaultyListenerOfADecoratorIsReportedOnce() throws {
    try shop
      .define(shop.bean(Clerk.self, id: "first", factory: Clerk.init))
      .define(shop.bean(Clerk.self, id: "second", factory: Clerk.init))
      .define(shop.decorate(Clerk.self) { (_: Clerk) in Clerk() }.listens(to: (any Sendable).self) { _, _ in })
    #expect(faults(of: shop).map(\.code) == [.invalidDeclaration])
  }

  // MARK: from inside

  @Test("A listener may publish and look beans up")
  func aListenerMayPublishAndLookBeansUp() throws {
    let journal = journal
    try shop
      .define(
        shop.bean(Clerk.self, id: "first", factory: Clerk.init).listens { [shop] (_, _: OrderPlaced) in
          try shop.publish(OrderCancelled())
          _ = try shop.getBean(Clerk.self, byId: "second")
        }
      )
      .define(
        shop.bean(Clerk.self, id: "second", factory: Clerk.init)
          .listens { (_, _: OrderCancelled) in
            journal.withLock { $0.append("cancelled") }
            throw Boom()
          }
      )
      .define(clerk("third", in: shop))
    try requireFault(.listenerFailed, path: ["Clerk 'first'", "Clerk 'second'"]) { try shop.publish(OrderPlaced()) }
    #expect(entries == ["cancelled", "third"])
  }

  /// The test runs in a process of its own: an overflow is a crash.
  @Test("An event that publishes itself for ever is an error")
  func anEventThatPublishesItselfForEverIsAnError() async {
    await #expect(processExitsWith: .success) {
      let shop = try Environment(name: "shop")
      try shop.define(
        shop.bean(Clerk.self, factory: Clerk.init).listens { (_, event: OrderPlaced) in try shop.publish(event) })
      let fault = try requireFault(.listenerFailed) { try shop.publish(OrderPlaced()) }
      // The path has no step for each of the thousands of levels.
      #expect(fault.path == ["Clerk", "'shop'"])
      try shop.shutdown() as Void
    }
  }

  @Test("A factory may publish during startup")
  func aFactoryMayPublishDuringStartup() throws {
    try shop
      .define(
        shop.bean(Clerk.self, id: "eager") { (shop: Environment) in
          try shop.publish(OrderPlaced())
          return Clerk()
        }
      )
      .define(clerk("clerk", in: shop))
    try shop.startup()
    #expect(entries == ["clerk"])
  }

  @Test("An event of a factory that its listener waits for is a circle")
  func anEventOfAFactoryThatItsListenerWaitsForIsACircle() throws {
    final class Talker: Sendable {}
    final class Ear: Sendable { init(_: Talker) {} }
    try shop
      .define(
        shop.bean(Talker.self) { (shop: Environment) in
          try shop.publish(OrderPlaced())
          return Talker()
        }
      )
      .define(shop.bean(Ear.self, factory: Ear.init).listens { (_, _: OrderPlaced) in })
    let fault = try requireFault(.listenerFailed) { try shop.startup() }
    let inner = fault.underlying.compactMap { $0 as? EnvironmentError }
    #expect(inner.map(\.code) == [.cyclicDependency], "\(fault)")
  }

  @Test("Threads that wait for each other's listeners find the circle")
  func threadsThatWaitForEachOthersListenersFindTheCircle() throws {
    final class Talker: Sendable {}
    final class Ear: Sendable {}
    let (talks, listens) = (Gate("the talker's factory"), Gate("the listener's factory"))
    try shop
      .define(
        shop.bean(Talker.self, lazy: true) { (shop: Environment) in
          talks.open()
          try listens.wait()
          try shop.publish(OrderPlaced())
          return Talker()
        }
      )
      .define(
        shop.bean(Ear.self, lazy: true) { (shop: Environment) in
          listens.open()
          try talks.wait()
          _ = try shop.getBean(Talker.self)
          return Ear()
        }.listens { (_, _: OrderPlaced) in })
    let results = try onThreads(2) { [shop] number in
      Result { number == 0 ? _ = try shop.getBean(Talker.self) : try shop.publish(OrderPlaced()) }
    }
    let faults = results.compactMap { if case .failure(let error) = $0 { error as? EnvironmentError } else { nil } }
    #expect(!faults.isEmpty)
    #expect(faults.allSatisfy { "\($0)".contains("cyclicDependency") }, "\(faults)")
  }

  // MARK: the end

  @Test("A bean that is released cannot publish")
  func aBeanThatIsReleasedCannotPublish() throws {
    let code = Guarded<EnvironmentError.Code?>(nil)
    try shop.define(
      clerk("clerk", in: shop).onDestroy { [shop] _ in
        do { try shop.publish(OrderPlaced()) } catch let error as EnvironmentError {
          code.withLock { $0 = error.code }
        }
      })
    try shop.startup().shutdown()
    #expect(code.withLock { $0 } == .finished)
    #expect(entries == [])
  }

  @Test("An environment that has ended publishes nothing")
  func anEnvironmentThatHasEndedPublishesNothing() throws {
    try shop.define(clerk("shop", in: shop))
    let requests = try shop.childFactory("request", seed: Int.self)
    let request = try requests.build(1)
    request.finish()
    try requireFault(.finished) { try request.publish(OrderPlaced()) }
    try requireFault(.finished) { try request.publish("without listeners") }
    try shop.shutdown()
    try requireFault(.finished) { try shop.publish(OrderPlaced()) }
    #expect(entries == [])
  }

  @Test("An ending environment receives no events")
  func anEndingEnvironmentReceivesNoEvents() throws {
    try shop
      .define(clerk("shop", in: shop))
      .define(shop.bean(Clerk.self, factory: Clerk.init).listens { [shop] (_, _: OrderPlaced) in shop.finish() })
      .define(clerk("late", in: shop))
    let requests = try shop.childFactory("request", seed: Int.self) { request in
      try request.define(clerk("request", in: request))
    }
    try requests.build(1).publish(OrderPlaced())
    #expect(entries == ["request", "shop"])
    try shop.shutdown()
  }

  @Test("An event reaches the parents of a child that ends in a listener")
  func anEventReachesTheParentsOfAChildThatEndsInAListener() throws {
    try shop.define(clerk("shop", in: shop))
    let requests = try shop.childFactory("request", seed: Int.self) { request in
      try request.define(
        request.bean(Clerk.self) { (_: Environment) in Clerk() }.listens { (_, _: OrderPlaced) in
          Environment.current?.finish()
        })
      try request.define(clerk("request", in: request))
    }
    try requests.withChild(1) { try $0.publish(OrderPlaced()) }
    #expect(entries == ["shop"])
  }

  @Test("A shutdown in a listener begins the end only")
  func aShutdownInAListenerBeginsTheEndOnly() throws {
    let journal = journal
    try shop.define(
      clerk("clerk", in: shop).listens { [shop] (_, _: OrderCancelled) in try shop.shutdown() }
        .onDestroy { _ in journal.withLock { $0.append("released") } })
    try shop.publish(OrderCancelled())
    try shop.shutdown()
    #expect(entries == ["released"])
  }

  @Test("A listener that holds its environment is released at the end")
  func aListenerThatHoldsItsEnvironmentIsReleasedAtTheEnd() throws {
    weak var gone: Environment?
    do {
      let other = try Environment(name: "other")
      gone = other
      try other.define(other.bean(Clerk.self, factory: Clerk.init).listens { (_, _: OrderPlaced) in _ = other.name })
      try other.publish(OrderPlaced())
      try other.shutdown()
    }
    #expect(gone == nil)
  }

  @Test("Many threads may publish while the environment ends")
  func manyThreadsMayPublishWhileTheEnvironmentEnds() throws {
    let count = Guarded(0)
    try shop.define(
      shop.bean(Clerk.self, factory: Clerk.init).listens { (_, _: OrderPlaced) in count.withLock { $0 += 1 } })
    let requests = try shop.childFactory("request", seed: Int.self) { try $0.define(clerk("request", in: $0)) }
    try shop.startup()
    let shop = shop
    let published = try onThreads(4) { number in
      var published = 0
      for round in 0..<200 {
        if number == 0, round == 100 { shop.finish() }
        do {
          try requests.withChild(round) { request in
            try request.publish(OrderPlaced())
            published += shop.isFinished ? 0 : 1
          }
        } catch let error as EnvironmentError where error.code == .finished {}
      }
      return published
    }
    try shop.shutdown()
    #expect(count.withLock { $0 } >= published.reduce(0, +))
  }
}
