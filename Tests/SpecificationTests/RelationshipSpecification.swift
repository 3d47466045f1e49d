import Beans
import TestSupport
import Testing

private class Part: @unchecked Sendable, Hashable {  // immutable
  let name: String
  init(_ name: String) { self.name = name }
  static func == (left: Part, right: Part) -> Bool { left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private final class Machine: Sendable {
  let part: Lazy<Part>
  init(part: Lazy<Part>) { self.part = part }
}

private final class Guest: Sendable {
  let name: String
  init(_ name: String) { self.name = name }
}

@Suite struct LazySpecification {
  @FreshEnvironment("shop") private var environment

  @Test("A lazy dependency is built by its first use and kept")
  func aLazyDependencyIsBuiltByItsFirstUseAndKept() throws {
    let count = Guarded(0)
    try environment
      .define(environment.bean(Machine.self, factory: Machine.init))
      .define(
        environment.bean(Part.self, lazy: true) {
          count.withLock { $0 += 1 }
          return Part("part")
        })
    let machine = try environment.getBean(Machine.self)
    #expect(count.withLock { $0 } == 0)
    let part = try machine.part.get()
    #expect(try machine.part.get() === part)
    #expect(try environment.getBean(Part.self) === part)
    #expect(count.withLock { $0 } == 1)
  }

  @Test("A prototype is created once for each lazy dependency")
  func aPrototypeIsCreatedOnceForEachLazyDependency() throws {
    try environment
      .define(environment.bean(Machine.self, id: "one", factory: Machine.init))
      .define(environment.bean(Machine.self, id: "two", factory: Machine.init))
      .define(environment.bean(Part.self, factory: { Part("part") }).scope("prototype"))
    let (one, two) = (
      try environment.getBean(Machine.self, byId: "one"), try environment.getBean(Machine.self, byId: "two")
    )
    #expect(try one.part.get() === one.part.get())
    #expect(try one.part.get() !== two.part.get())
  }

  @Test("Two beans may need each other")
  func twoBeansMayNeedEachOther() throws {
    final class Left: Sendable {
      let right: Lazy<Right>
      init(right: Lazy<Right>) { self.right = right }
    }
    final class Right: Sendable {
      let left: Left
      init(left: Left) { self.left = left }
    }
    try environment
      .define(environment.bean(Left.self, factory: Left.init))
      .define(environment.bean(Right.self, factory: Right.init))
    let left = try environment.getBean(Left.self)
    #expect(try left.right.get().left === left)
  }

  @Test("Beans that need each other are deallocated with their environment")
  func beansThatNeedEachOtherAreDeallocatedWithTheirEnvironment() throws {
    final class Left: Sendable {
      let right: Lazy<Right>
      let made: Lazy<Made>
      init(right: Lazy<Right>, made: Lazy<Made>) { (self.right, self.made) = (right, made) }
    }
    final class Right: Sendable {
      let left: Left
      init(left: Left) { self.left = left }
    }
    final class Made: Sendable {
      let left: Left
      init(left: Left) { self.left = left }
    }
    weak var (seen, prototype): (Left?, Made?)
    let kept: Lazy<Right>
    do {
      let environment = try Environment(name: "shop")
      try environment
        .define(environment.bean(Left.self, factory: Left.init))
        .define(environment.bean(Right.self, factory: Right.init))
        .define(environment.bean(Made.self, factory: Made.init).scope("prototype"))
      let left = try environment.getBean(Left.self)
      #expect(try left.right.get().left === left)
      #expect(try left.made.get() === left.made.get())
      (seen, prototype, kept) = (left, try left.made.get(), left.right)
      try environment.shutdown()
    }
    #expect(seen == nil)
    #expect(prototype == nil)
    try requireFault(.finished) { try kept.get() }
  }

  @Test("Every form of parameter can be lazy")
  func everyFormOfParameterCanBeLazy() throws {
    final class All: Sendable {
      let list: Lazy<[Part]>
      let maybe: Lazy<Part?>
      let each: [Lazy<Part>]
      let byId: [String: Lazy<Part>]
      let absent: Lazy<Guest>?
      let environment: Lazy<Environment>
      init(
        list: Lazy<[Part]>, maybe: Lazy<Part?>, each: [Lazy<Part>], byId: [String: Lazy<Part>], absent: Lazy<Guest>?,
        environment: Lazy<Environment>
      ) {
        (self.list, self.maybe, self.each, self.byId) = (list, maybe, each, byId)
        (self.absent, self.environment) = (absent, environment)
      }
    }
    let count = Guarded(0)
    func part(_ name: String) -> TypedBeanDeclaration<Part> {
      environment.bean(Part.self, id: name, lazy: true) {
        count.withLock { $0 += 1 }
        return Part(name)
      }
    }
    try environment
      .define(part("a").primary())
      .define(part("b"))
      .define(environment.bean(All.self, factory: All.init))
    let all = try environment.getBean(All.self)
    #expect(all.each.count == 2 && all.byId.keys.sorted() == ["a", "b"] && all.absent == nil)
    #expect(count.withLock { $0 } == 0)
    #expect(try all.byId["b"]?.get().name == "b")
    #expect(count.withLock { $0 } == 1)
    #expect(try all.each.map { try $0.get().name } == ["a", "b"])
    #expect(try all.list.get().map(\.name) == ["a", "b"])
    #expect(try all.maybe.get()?.name == "a")
    #expect(try all.environment.get() === environment)
    #expect(count.withLock { $0 } == 2)
  }

  @Test("Lookups return lazy dependencies")
  func lookupsReturnLazyDependencies() throws {
    try environment
      .define(environment.bean(Part.self, id: "a", factory: { Part("a") }))
      .define(environment.bean(Part.self, id: "b", factory: { Part("b") }).scope("prototype"))
    #expect(try environment.getBean([Lazy<Part>].self).map { try $0.get().name } == ["a", "b"])
    #expect(try environment.getBean([String: Lazy<Part>].self)["a"]?.get().name == "a")
    #expect(try environment.getBean(Lazy<Part>.self, byId: "b").get().name == "b")
    #expect(try environment.getBean(Provider<Lazy<[Part]>>.self).get().get().count == 2)
    try requireFault(.ambiguousBean) { try environment.getBean(Lazy<Part>.self) }
    try requireFault(.unknownBean) { try environment.getBean(Lazy<Guest>.self) }
  }

  @Test("A lazy dependency is checked with the rest")
  func aLazyDependencyIsCheckedWithTheRest() throws {
    try environment
      .define(environment.bean(Machine.self, factory: Machine.init))
      .define(environment.bean(Guest.self, factory: { (_: Lazy<Machine>, _: [Lazy<[Part]>]) in Guest("") }))
    #expect(try startupFaults(of: environment).map(\.code) == [.unknownBean, .invalidDeclaration])
  }

  @Test("A lazy dependency is kept, so it must live as long")
  func aLazyDependencyIsKeptSoItMustLiveAsLong() throws {
    try environment
      .define(environment.bean(Machine.self, factory: Machine.init))
      .define(environment.bean(Part.self, factory: { (_: Guest) in Part("part") }).scope("prototype"))
    _ = try environment.childFactory("request", seed: Guest.self)
    try environment.define(environment.bean(Guest.self, id: "other", factory: { Guest("") }).scope("request"))
    #expect(try startupFaults(of: environment).map(\.code) == [.captiveDependency])
  }

  @Test("A build that fails is tried again")
  func aBuildThatFailsIsTriedAgain() throws {
    let count = Guarded(0)
    try environment
      .define(environment.bean(Machine.self, factory: Machine.init))
      .define(
        environment.bean(Part.self, lazy: true) {
          let number = count.withLock { count -> Int in
            count += 1
            return count
          }
          if number == 1 { throw Boom() }
          return Part("part")
        })
    let machine = try environment.getBean(Machine.self)
    #expect(try requireFault(.creationFailed) { try machine.part.get() }.causes == [Boom()])
    #expect(try machine.part.get().name == "part")
  }

  @Test("Concurrent uses of a lazy dependency get one instance")
  func concurrentUsesOfALazyDependencyGetOneInstance() throws {
    let count = Guarded(0)
    let gate = Gate("the factory")
    try environment
      .define(environment.bean(Machine.self, factory: Machine.init))
      .define(
        environment.bean(Part.self) {
          count.withLock { $0 += 1 }
          try gate.wait()
          return Part("part")
        }.scope("prototype"))
    let machine = try environment.getBean(Machine.self)
    let threads = (0..<4).map { _ in BackgroundThread { try machine.part.get() } }
    for thread in threads { try thread.waitUntilAsleep() }
    gate.open()
    let parts = try threads.map { try $0.value() }
    #expect(parts.allSatisfy { $0 === parts[0] })
    #expect(count.withLock { $0 } == 1)
  }

  @Test("A lazy bean that needs itself is a circle")
  func aLazyBeanThatNeedsItselfIsACircle() throws {
    final class Selfish: Sendable { let name = "" }
    let holder = Guarded<Lazy<Selfish>?>(nil)
    try environment.define(
      environment.bean(Selfish.self) { () throws -> Selfish in
        _ = try holder.withLock { $0 }?.get()
        return Selfish()
      }.scope("prototype"))
    let lazy = try environment.getBean(Lazy<Selfish>.self)
    holder.withLock { $0 = lazy }
    try requireFault(.cyclicDependency) { try lazy.get() }
  }

  @Test("A lazy dependency throws after the end")
  func aLazyDependencyThrowsAfterTheEnd() throws {
    try environment.define(environment.bean(Part.self, factory: { Part("part") }))
    let (early, late) = (try environment.getBean(Lazy<Part>.self), try environment.getBean(Lazy<Part>.self))
    _ = try early.get()
    try environment.shutdown()
    try requireFault(.finished) { try early.get() }
    try requireFault(.finished) { try late.get() }
    #expect(try Lazy(Part("by hand")).get().name == "by hand")
  }
}

@Suite struct CurrentSpecification {
  @FreshEnvironment("shop") private var environment

  private final class Audit: Sendable {
    let visitor: Current<Guest>
    init(visitor: Current<Guest>) { self.visitor = visitor }
  }

  @Test("A singleton reaches the request that is running")
  func aSingletonReachesTheRequestThatIsRunning() throws {
    try environment.define(environment.bean(Audit.self, factory: Audit.init))
    let requests = try environment.childFactory("request", seed: String.self) { request in
      try request.define(request.bean(Guest.self, factory: Guest.init))
    }
    let audit = try environment.getBean(Audit.self)
    for name in ["Ada", "Grace"] {
      let found = try requests.withChild(name) { request throws -> Bool in
        try audit.visitor.get() === request.getBean(Guest.self) && audit.visitor.get().name == name
      }
      #expect(found)
    }
    try requireFault(.scopeNotActive) { try audit.visitor.get() }
  }

  @Test("Tasks of a request reach the running request, too")
  func tasksOfARequestReachTheRunningRequestToo() async throws {
    try environment.define(environment.bean(Audit.self, factory: Audit.init))
    let requests = try environment.childFactory("request", seed: Guest.self)
    let audit = try environment.getBean(Audit.self)
    let name = try await requests.withChild(Guest("Ada")) { _ in try await Task { try audit.visitor.get().name }.value }
    #expect(name == "Ada")
    try await environment.shutdown()
  }

  @Test("A current bean that no child declares is a fault")
  func aCurrentBeanThatNoChildDeclaresIsAFault() throws {
    try environment
      .define(environment.bean(Audit.self, factory: Audit.init))
      .define(environment.bean(Guest.self, factory: { Guest("outside") }))
    _ = try environment.childFactory("request", seed: Int.self)
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(fault.message.contains("no child of 'shop' has a bean of type Guest of its own"))
  }

  @Test("A bean declared for the scope of a child is reached")
  func aBeanDeclaredForTheScopeOfAChildIsReached() throws {
    try environment
      .define(environment.bean(Audit.self, factory: Audit.init))
      .define(environment.bean(Guest.self, factory: { (number: Int) in Guest("\(number)") }).scope("request"))
    let requests = try environment.childFactory("request", seed: Int.self)
    let audit = try environment.getBean(Audit.self)
    #expect(try requests.withChild(7) { _ throws -> String in try audit.visitor.get().name } == "7")
  }

  @Test("A current child of another environment is ignored")
  func aCurrentChildOfAnotherEnvironmentIsIgnored() throws {
    let (one, two) = (try Environment(name: "one"), try Environment(name: "two"))
    defer { for environment in [one, two] { try? environment.shutdown() } }
    var factories: [EnvironmentFactory<Guest>] = []
    for environment in [one, two] {
      try environment.define(environment.bean(Audit.self, factory: Audit.init))
      factories.append(try environment.childFactory("request", seed: Guest.self))
    }
    let audit = try one.getBean(Audit.self)
    let found = try factories[1].withChild(Guest("Ada")) { _ throws in code { try audit.visitor.get() } }
    #expect(found == .scopeNotActive)
  }
}

@Suite struct CollectionParameterSpecification {
  @FreshEnvironment("shop") private var environment

  private final class Box: Sendable {
    let byId: [String: Part]
    let distinct: Set<Part>
    init(byId: [String: Part], distinct: Set<Part>) { (self.byId, self.distinct) = (byId, distinct) }
  }

  @Test("Beans are injected by their ids and as a set")
  func beansAreInjectedByTheirIdsAndAsASet() throws {
    try environment
      .define(environment.bean(Part.self, id: "a", factory: { Part("one") }))
      .define(environment.bean(Part.self, id: "b", factory: { Part("one") }))
      .define(environment.bean(Part.self, factory: { Part("two") }))
      .define(environment.bean(Box.self, factory: Box.init))
    let box = try environment.getBean(Box.self)
    #expect(box.byId.mapValues(\.name) == ["a": "one", "b": "one"])
    #expect(box.distinct.map(\.name).sorted() == ["one", "two"])
    #expect(try environment.getBean([String: Part].self)["a"] === box.byId["a"])
    #expect(try environment.getBean(Set<Part>.self).count == 2)
  }

  @Test("A child sees outer beans that it does not hide")
  func aChildSeesOuterBeansThatItDoesNotHide() throws {
    try environment
      .define(environment.bean(Part.self, id: "a", factory: { Part("outer a") }))
      .define(environment.bean(Part.self, id: "b", factory: { Part("outer b") }))
      .define(environment.decorate(Part.self) { (inner: Part) in Part("decorated \(inner.name)") })
    let child = try Environment(name: "child", parent: environment)
    try child.define(child.bean(Part.self, id: "a", factory: { Part("inner a") }))
    #expect(try child.getBean([String: Part].self).mapValues(\.name) == ["a": "inner a", "b": "decorated outer b"])
  }

  @Test("A bean of exactly the type comes first")
  func aBeanOfExactlyTheTypeComesFirst() throws {
    try environment
      .define(environment.bean([String: Int].self, factory: { ["one": 1] }))
      .define(environment.bean(Set<Int>.self, factory: { [1, 2] }))
      .define(
        environment.bean(Part.self) { (limits: [String: Int], numbers: Set<Int>) in
          Part("\(limits["one"] ?? 0) \(numbers.count)")
        })
    #expect(try environment.getBean(Part.self).name == "1 2")
    #expect(try environment.getBean([String: Int].self) == ["one": 1])
  }

  @Test("A dictionary or set without beans is a fault")
  func aDictionaryOrSetWithoutBeansIsAFault() throws {
    try environment
      .define(environment.bean(Box.self, factory: Box.init))
    #expect(try startupFaults(of: environment).map(\.code) == [.unknownBean, .unknownBean])
  }

  @Test("A pinned dictionary is passed as it is")
  func aPinnedDictionaryIsPassedAsItIs() throws {
    try environment.define(
      environment.bean(Part.self, factory: { (limits: [String: Int]) in Part("\(limits["a"] ?? 0)") })
        .argument(0, value: ["a": 5]))
    #expect(try environment.getBean(Part.self).name == "5")
  }
}

/// An object that is created for one taker, and has to be released.
private final class Cursor: DisposableBean, Sendable {
  let journal: Journal
  let number: Int
  init(journal: Journal, counter: Counter) { (self.journal, number) = (journal, counter.increment()) }
  func preDestroy() { journal.note("cursor \(number)") }
}

@Suite struct OwnedSpecification {
  @FreshEnvironment("shop") private var environment

  private final class Reader: DisposableBean, Sendable {
    let journal: Journal
    let cursor: Owned<Cursor>
    init(journal: Journal, cursor: Owned<Cursor>) { (self.journal, self.cursor) = (journal, cursor) }
    func preDestroy() { journal.note("reader") }
  }

  private final class Shelf: Sendable {
    let cursors: Provider<Owned<Cursor>>
    init(cursors: Provider<Owned<Cursor>>) { self.cursors = cursors }
  }

  private let journal = Journal()

  private func makeEnvironment() throws -> Environment {
    let environment = try Environment(name: "shop")
    return
      try environment
      .define(environment.bean(journal))
      .define(environment.bean(Counter()))
      .define(environment.bean(Cursor.self, factory: Cursor.init).scope("prototype"))
  }

  @Test("The taker releases its owned bean")
  func theTakerReleasesItsOwnedBean() throws {
    let environment = try makeEnvironment()
    try environment.define(environment.bean(Reader.self, factory: Reader.init))
    let reader = try environment.getBean(Reader.self)
    #expect(try reader.cursor.get().number == 1)
    try reader.cursor.release()
    try reader.cursor.release()
    #expect(journal.entries == ["cursor 1"])
    try requireFault(.finished) { try reader.cursor.get() }
    try environment.shutdown()
    #expect(journal.entries == ["cursor 1", "reader"])
  }

  @Test("Remaining owned beans are released with the environment in reverse order")
  func remainingOwnedBeansAreReleasedWithTheEnvironmentInReverseOrder() throws {
    let environment = try makeEnvironment()
    try environment
      .define(environment.bean(Reader.self, factory: Reader.init))
      .define(environment.bean(Shelf.self, factory: Shelf.init))
      .define(environment.bean("late", id: "late").lazy().onDestroy { [journal] _ in journal.note("late") })
      .startup()
    let shelf = try environment.getBean(Shelf.self)
    let second = try shelf.cursors.get()
    _ = try environment.getBean(String.self)
    let third = try shelf.cursors.get()
    #expect(try [second.get().number, third.get().number] == [2, 3])
    try environment.shutdown()
    // The reader comes before the cursor that it has taken; younger beans come first.
    #expect(journal.entries == ["cursor 3", "late", "cursor 2", "reader", "cursor 1"])
    try requireFault(.finished) { try second.get() }
    try third.release()
    #expect(journal.entries.count == 5)
  }

  @Test("A request releases beans owned by its beans")
  func aRequestReleasesBeansOwnedByItsBeans() throws {
    let environment = try makeEnvironment()
    defer { try? environment.shutdown() }
    let requests = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Reader.self, factory: Reader.init))
    }
    for _ in 0..<2 {
      try requests.withChild(1) { _ = try $0.getBean(Reader.self) }
    }
    #expect(journal.entries == ["reader", "cursor 1", "reader", "cursor 2"])
  }

  @Test("Each taker has its own instance")
  func eachTakerHasItsOwnInstance() throws {
    final class All: Sendable {
      let one: Owned<Cursor>
      let maybe: Owned<Cursor>?
      let none: Owned<Part>?
      let list: [Owned<Cursor>]
      let lazy: Lazy<Owned<Cursor>>
      init(
        one: Owned<Cursor>, maybe: Owned<Cursor>?, none: Owned<Part>?, list: [Owned<Cursor>], lazy: Lazy<Owned<Cursor>>
      ) {
        (self.one, self.maybe, self.none, self.list, self.lazy) = (one, maybe, none, list, lazy)
      }
    }
    let environment = try makeEnvironment()
    try environment.define(environment.bean(All.self, factory: All.init))
    let all = try environment.getBean(All.self)
    #expect(try all.one.get().number == 1)
    #expect(try all.maybe?.get().number == 2)
    #expect(all.none == nil)
    #expect(try all.list.map { try $0.get().number } == [3])
    #expect(try all.lazy.get().get().number == 4)
    #expect(try environment.getBean(Owned<Cursor>.self).get().number == 5)
    try environment.shutdown()
    #expect(journal.entries == (1...5).reversed().map { "cursor \($0)" })
  }

  @Test("Only a prototype can be owned")
  func onlyAPrototypeCanBeOwned() throws {
    try environment
      .define(environment.bean(Part.self, id: "part", factory: { Part("part") }))
      .define(environment.bean(Guest.self, factory: { (_: Owned<Part>) in Guest("guest") }))
      .define(environment.bean(Machine.self, factory: { (_: [Owned<Part>], part: Lazy<Part>) in Machine(part: part) }))
    let found = faults(of: environment)
    #expect(found.map(\.code) == [.invalidDeclaration, .invalidDeclaration])
    #expect(found.allSatisfy { $0.message.contains("only a prototype can be Owned") })
  }

  @Test("A failure of a release is thrown by release")
  func aFailureOfAReleaseIsThrownByRelease() throws {
    struct Stuck: Error {}
    try environment.define(
      environment.bean(Part.self, factory: { Part("part") }).scope("prototype").onDestroy { _ in throw Stuck() })
    let (early, late) = (try environment.getBean(Owned<Part>.self), try environment.getBean(Owned<Part>.self))
    try requireFault(.destructionFailed) { try early.release() }
    try early.release()
    try requireFault(.destructionFailed) { try environment.shutdown() }
    try requireFault(.finished) { try late.get() }
  }

  @Test("An asynchronous release of an owned bean is awaited")
  func anAsynchronousReleaseOfAnOwnedBeanIsAwaited() async throws {
    final class Slow: AsyncDisposableBean, Sendable {
      let journal: Journal
      init(journal: Journal) { self.journal = journal }
      func preDestroy() async { await journal.noteLater("slow") }
    }
    try environment
      .define(environment.bean(journal))
      .define(environment.bean(Slow.self, factory: Slow.init).scope("prototype"))
    let (early, late) = (try environment.getBean(Owned<Slow>.self), try environment.getBean(Owned<Slow>.self))
    try await early.release()
    #expect(journal.entries == ["slow"])
    try await environment.shutdown()
    #expect(journal.entries == ["slow", "slow"])
    try requireFault(.finished) { try late.get() }
  }

  @Test("Thousands of owned beans are released while the environment ends")
  func thousandsOfOwnedBeansAreReleasedWhileTheEnvironmentEnds() async throws {
    let counter = Counter()
    try environment.define(
      environment.bean(Part.self, factory: { Part("part") }).scope("prototype").onDestroy { _ in counter.increment() })
    let parts = try (0..<2_000).map { _ in try environment.getBean(Owned<Part>.self) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await environment.shutdown() }
      for first in 0..<4 {
        group.addTask { for index in stride(from: first, to: parts.count, by: 4) { try? await parts[index].release() } }
      }
    }
    #expect(counter.value == parts.count)
  }

  @Test("A release may end its environment")
  func aReleaseMayEndItsEnvironment() async throws {
    func make() throws -> Owned<Part> {
      let environment = try Environment(name: "shop")
      try environment.define(
        environment.bean(Part.self, factory: { Part("part") }).scope("prototype")
          .onDestroy { [journal] _ in
            try environment.shutdown()
            journal.note("ended")
          })
      return try environment.getBean(Owned<Part>.self)
    }
    func release(_ part: Owned<Part>) throws { try part.release() }
    try release(make())
    try await make().release()
    #expect(journal.entries == ["ended", "ended"])
  }

  @Test("An owned bean created by hand is released by hand")
  func anOwnedBeanCreatedByHandIsReleasedByHand() throws {
    let part = Owned(Part("by hand")) { [journal] in journal.note("given back") }
    #expect(try part.get().name == "by hand")
    try part.release()
    try part.release()
    #expect(journal.entries == ["given back"])
  }
}
