import Beans
import Testing

/// A singleton that is not lazy exists before the beans that take it by a `Lazy`, and is released after them.
@Suite("The order of beans that are taken lazily", .timeLimit(.minutes(20))) struct LazyOrderSpecification {
  @FreshEnvironment("shop") private var environment
  private let journal = Journal()

  /// A kind of bean that a `Lazy<any Store>` finds.
  enum Kind: CaseIterable {
    case plain, decorated, decoratedTwice, decoratedByTaker, product, primary, alias, module
    case asynchronous, asynchronousDecorated, takerOfAsynchronous, asynchronousRelease

    fileprivate func define(in environment: Environment, _ journal: Journal) throws {
      @discardableResult
      func noted<T>(_ name: String, _ bean: TypedBeanDeclaration<T>) throws -> TypedBeanDeclaration<T> {
        try environment.define(bean.onDestroy { _ in journal.note("\(name) released") })
        return bean
      }
      @Sendable func shelf() -> Shelf { journal.noting("shelf created", Shelf()) }
      func asynchronous() throws {
        try noted("shelf", environment.bean(Shelf.self, async: { shelf() }))
      }
      func decorate(_ name: String = "box") throws {
        try noted(
          name,
          environment.decorate((any Store).self) { (_: any Store) -> any Store in
            journal.noting("\(name) created", Box())
          })
      }
      switch self {
      case .plain: try noted("shelf", environment.bean(Shelf.self, factory: { shelf() }))
      case .decorated:
        try noted("shelf", environment.bean(Shelf.self, factory: { shelf() }))
        try decorate()
      case .decoratedTwice:
        try noted("shelf", environment.bean(Shelf.self, factory: { shelf() }))
        try decorate()
        try decorate("chest")
      case .decoratedByTaker:
        try noted("shelf", environment.bean(Shelf.self, factory: { shelf() }))
        try noted(
          "box",
          environment.decorate((any Store).self) { (_: any Store, _: Label) -> any Store in
            journal.noting("box created", Box())
          })
        try noted("label", environment.bean(Label.self, factory: { journal.noting("label created", Label()) }))
      case .product:
        try environment.define(
          environment.bean(Workshop.self, factory: { Workshop { shelf() } }).target((any Store).self))
      case .primary:
        try noted("shelf", environment.bean(Shelf.self, factory: { shelf() }).primary())
        try environment.define(environment.bean(Shelf.self, factory: { Shelf() }).lazy())
      case .alias:
        try noted("shelf", environment.bean(Shelf.self, id: "shelf", factory: { shelf() }))
        try environment.alias("store", of: "shelf")
      case .module: try environment.include(Furniture(journal: journal))
      case .asynchronous: try asynchronous()
      case .asynchronousDecorated:
        try asynchronous()
        try decorate()
      case .takerOfAsynchronous:
        try noted("label", environment.bean(Label.self, async: { Label() }))
        try noted("shelf", environment.bean(Shelf.self, factory: { (_: Label) in shelf() }))
      case .asynchronousRelease:
        try environment.define(
          environment.bean(Shelf.self, factory: { shelf() })
            .onDestroy { _ in await journal.noteLater("shelf released") })
      }
    }
  }

  /// Declares the taker.
  private func take<each P>(in environment: Environment, _: repeat (each P).Type) throws -> TypedBeanDeclaration<Taker>
  {
    let journal = journal
    return environment.bean(Taker.self, factory: { (_: repeat each P) in journal.noting("taker created", Taker()) })
      .onDestroy { _ in journal.note("taker released") }
  }

  /// Expects that the taker was created last and released first.
  private func expectOrder(sourceLocation: SourceLocation = #_sourceLocation) {
    let entries = journal.entries
    let (created, released) = (entries.filter { $0.hasSuffix("created") }, entries.filter { $0.hasSuffix("released") })
    #expect(created.count > 1 && created.last == "taker created", "\(entries)", sourceLocation: sourceLocation)
    #expect(released.first == "taker released", "\(entries)", sourceLocation: sourceLocation)
    #expect(created.count == entries.filter { Set(created).contains($0) }.count, sourceLocation: sourceLocation)
  }

  @Test("A bean that is not lazy exists before its taker, and is released after it", arguments: Kind.allCases)
  func kinds(_ kind: Kind) async throws {
    try environment.define(take(in: environment, Lazy<any Store>.self))
    try kind.define(in: environment, journal)
    try await environment.ready()
    try await environment.shutdown()
    expectOrder()
  }

  /// A form in which the taker takes the store.
  enum Form: CaseIterable {
    case one, array, lazyArray, optional, dictionary, id, property, prototype, ofPrototype, required
  }

  @Test(
    "Each form of a Lazy orders its bean, plain, decorated or asynchronous", arguments: Form.allCases,
    [Kind.plain, .decorated, .asynchronous])
  func forms(_ form: Form, _ kind: Kind) async throws {
    let journal = journal
    func taker() throws -> BeanDeclaration {
      switch form {
      case .one: return try take(in: environment, Lazy<any Store>.self)
      case .array: return try take(in: environment, [Lazy<any Store>].self)
      case .lazyArray: return try take(in: environment, Lazy<[any Store]>.self)
      case .optional: return try take(in: environment, Lazy<any Store>?.self)
      case .dictionary: return try take(in: environment, Label.self, [String: Lazy<any Store>].self)
      case .id: return try take(in: environment, Lazy<any Store>.self).argument(0, ref: "store")
      case .property: return try take(in: environment).property("store", ref: "store")
      case .prototype: return try take(in: environment, Trolley.self)
      case .ofPrototype: return try take(in: environment, Lazy<Cart>.self)
      case .required: return try take(in: environment).requires(Trolley.self)
      }
    }
    try environment.define(taker())
    try environment.define(environment.bean(Label.self, factory: Label.init))
    try environment.define(
      environment.bean(Trolley.self, factory: { (_: Lazy<any Store>) in Trolley() }).scope("prototype"))
    try environment.define(environment.bean(Cart.self, factory: { (_: any Store) in Cart() }).scope("prototype"))
    let shelf =
      kind == .asynchronous
      ? environment.bean(Shelf.self, id: "store", async: { journal.noting("store created", Shelf()) })
      : environment.bean(Shelf.self, id: "store", factory: { journal.noting("store created", Shelf()) })
    try environment.define(shelf.onDestroy { _ in journal.note("store released") })
    if kind == .decorated {
      try environment.define(
        environment.decorate((any Store).self) { (_: any Store) -> any Store in journal.noting("box created", Box()) }
          .onDestroy { _ in journal.note("box released") })
    }
    try await environment.ready()
    try await environment.shutdown()
    expectOrder()
  }

  @Test("A bean that takes the taker comes after what the taker takes lazily, created asynchronously or not")
  func takersOfTakers() async throws {
    let journal = journal
    for isAsynchronous in [true, false] {
      let make: @Sendable (Taker) -> Box = { _ in journal.noting("box created", Box()) }
      let box =
        isAsynchronous
        ? environment.bean(Box.self, id: "async", async: { (taker: Taker) in make(taker) })
        : environment.bean(Box.self, id: "sync", factory: make)
      try environment.define(box)
    }
    try environment.define(take(in: environment, Lazy<Shelf>.self))
    try environment.define(
      environment.bean(
        Shelf.self,
        async: {
          for _ in 0..<50 { await Task.yield() }
          return journal.noting("shelf created", Shelf())
        }))
    try await environment.ready()
    #expect(journal.entries.prefix(2) == ["shelf created", "taker created"], "\(journal.entries)")
    #expect(journal.count(of: "box created") == 2)
    try await environment.shutdown()
  }

  @Test("A bean that needs its taker comes after it, as the circle demands; other lazily taken beans come before it")
  func circle() async throws {
    let journal = journal
    try environment.define(take(in: environment, Lazy<Box>.self, Lazy<Shelf>.self, Lazy<Label>.self))
    try environment.define(environment.bean(Box.self, factory: { (_: Taker) in journal.noting("box created", Box()) }))
    try environment.define(environment.bean(Shelf.self, factory: { journal.noting("shelf created", Shelf()) }))
    try environment.define(environment.bean(Label.self, async: { journal.noting("label created", Label()) }))
    try await environment.ready()
    #expect(journal.entries == ["shelf created", "label created", "taker created", "box created"])
    try await environment.shutdown()
  }

  @Test("Beans that take each other lazily are all built, and their other needs come first")
  func mutual() throws {
    let journal = journal
    try environment.define(take(in: environment, Lazy<Box>.self, Lazy<Shelf>.self))
    try environment.define(
      environment.bean(Box.self, factory: { (_: Lazy<Taker>) in journal.noting("box created", Box()) }))
    try environment.define(environment.bean(Shelf.self, factory: { journal.noting("shelf created", Shelf()) }))
    try environment.startup()
    #expect(journal.entries.first == "shelf created" && Set(journal.entries).count == 3, "\(journal.entries)")
    try environment.shutdown()
  }

  @Test("An asynchronous bean that awaits its taker in its factory is ready")
  func dynamicCircle() async throws {
    let journal = journal
    try environment.define(take(in: environment, Lazy<Shelf>.self))
    try environment.define(
      environment.bean(
        Shelf.self,
        async: { [unowned environment] in
          _ = try await environment.getBean(awaiting: Taker.self)
          return journal.noting("shelf created", Shelf())
        }))
    try await environment.ready()
    #expect(journal.entries == ["taker created", "shelf created"])
    try await environment.shutdown()
  }

  @Test("A bean that is declared as lazy is not built for its taker")
  func declaredAsLazy() async throws {
    let journal = journal
    try environment.define(take(in: environment, Lazy<Shelf>.self, Lazy<Label>.self))
    try environment.define(environment.bean(Shelf.self, factory: { journal.noting("shelf created", Shelf()) }).lazy())
    try environment.define(environment.bean(Label.self, async: { journal.noting("label created", Label()) }).lazy())
    try await environment.ready()
    #expect(journal.entries == ["taker created"])
    try await environment.shutdown()
  }

  @Test("A Provider orders nothing")
  func provider() throws {
    let journal = journal
    try environment.define(take(in: environment, Provider<Shelf>.self))
    try environment.define(environment.bean(Shelf.self, factory: { journal.noting("shelf created", Shelf()) }))
    try environment.startup()
    #expect(journal.entries == ["taker created", "shelf created"])
    try environment.shutdown()
  }

  @Test("ready() of a child orders the child's asynchronous beans that take each other lazily")
  func child() async throws {
    let journal = journal
    let requests = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(
        request.bean(Taker.self, async: { (_: Lazy<Shelf>) in journal.noting("taker created", Taker()) })
          .onDestroy { _ in journal.note("taker released") })
      try request.define(
        request.bean(
          Shelf.self,
          async: {
            for _ in 0..<50 { await Task.yield() }
            return journal.noting("shelf created", Shelf())
          }
        ).onDestroy { _ in journal.note("shelf released") })
    }
    try await environment.ready()
    try await requests.withChild(1) { request in _ = try await request.ready() }
    expectOrder()
    try await environment.shutdown()
  }

  @Test("A plain child environment orders its own beans")
  func plainChild() async throws {
    let child = try Environment(name: "branch", parent: environment)
    try child.define(take(in: child, Lazy<any Store>.self))
    try Kind.asynchronousDecorated.define(in: child, journal)
    try await child.ready()
    try await environment.shutdown()
    expectOrder()
  }
}

private protocol Store: AnyObject, Sendable {}

private final class Shelf: Store {}
private final class Box: Store {}
private final class Label: Sendable {}
private final class Taker: Sendable {
  // Set by the container, before another thread sees the bean.
  nonisolated(unsafe) var store: Lazy<any Store>?
}
private final class Trolley: Sendable {}
private final class Cart: Sendable {}

private final class Workshop: FactoryBean, Sendable {
  private let make: @Sendable () -> Shelf
  init(_ make: @escaping @Sendable () -> Shelf) { self.make = make }
  func create() -> Shelf { make() }
}

private struct Furniture: BeanModule {
  let journal: Journal

  func configure(_ environment: Environment) throws {
    let journal = journal
    try environment.define(environment.bean(Shelf.self, factory: { journal.noting("shelf created", Shelf()) }))
  }
}
