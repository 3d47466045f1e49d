import Beans
import Testing

/// The container keeps nothing alive after its end. Every test holds its objects in an inner function,
/// so that no local variable of its own keeps them.
@Suite("Objects that are not retained") struct RetentionSpecification {
  private struct Traces {
    weak var environment: Environment?
    weak var bean: Item?
    weak var token: Item?
  }

  @Test("An environment, its beans and its plan can be deallocated after shutdown")
  func afterShutdown() throws {
    func run() throws -> Traces {
      let environment = try Environment()
      let token = Item()
      try environment.define(
        environment.bean(Item.self) {
          _ = token
          return Item()
        })
      try environment.define(environment.bean(Holder.self, factory: Holder.init))
      let traces = Traces(environment: environment, bean: try environment.getBean(Item.self), token: token)
      try environment.shutdown()
      return traces
    }
    let traces = try run()
    #expect(traces.environment == nil)
    #expect(traces.bean == nil)
    #expect(traces.token == nil)
  }

  @Test("The plan ends with its environment: no declaration is kept, with providers and pinned arguments or without")
  func plan() throws {
    weak var plain: BeanDeclaration?
    weak var pinned: BeanDeclaration?
    func run() throws {
      let environment = try Environment()
      let (first, second) = (
        environment.bean(Item.self, id: "item"), environment.bean(Holder.self, factory: Holder.init)
      )
      (plain, pinned) = (first, second)
      try environment.define(first)
      try environment.define(second.argument(0, ref: "item"))
      try environment.define(environment.bean(Asking.self, factory: Asking.init))
      _ = try environment.getBean(Asking.self).item.get()
      try environment.shutdown()
    }
    try run()
    #expect(plain == nil)
    #expect(pinned == nil)
  }

  @Test("The plan of a factory's children ends with the environment that declared it")
  func planOfChildren() throws {
    weak var declaration: BeanDeclaration?
    weak var inherited: BeanDeclaration?
    func run() throws {
      let application = try Environment(name: "application")
      let shared = application.bean(Item.self).scope("request")
      inherited = shared
      try application.define(shared)
      let requests = try application.childFactory("request", seed: Int.self) { child in
        let own = child.bean(Holder.self, factory: Holder.init)
        declaration = own
        try child.define(own)
      }
      try requests.withChild(1) { child in _ = try child.getBean(Holder.self) }
      try application.shutdown()
    }
    try run()
    #expect(declaration == nil)
    #expect(inherited == nil)
  }

  @Test("A factory without other references ends with its environment, and with it the captures of its scope closure")
  func factory() throws {
    weak var token: Token?
    weak var factory: EnvironmentFactory<Int>?
    func run() throws {
      let application = try Environment(name: "application")
      let captured = Token()
      token = captured
      let requests = try application.childFactory(
        "request", seed: Int.self,
        scope: {
          captured.use()
          return AbstractBeanScope(name: "request")
        })
      factory = requests
      _ = try requests.withChild(1) { try $0.getBean(Int.self) }
      try application.shutdown()
    }
    try run()
    #expect(factory == nil)
    #expect(token == nil)
  }

  @Test("A seed lives as long as its child, and is not kept if no child can be opened")
  func seeds() throws {
    let application = try Environment(name: "application")
    let sessions = try application.childFactory("session", seed: Item.self) { _ in }
    let requests = try sessions.childFactory("request", seed: Item.self) { _ in }
    func open() throws -> Environment { try sessions.build(Item()) }

    weak var seed: Item?
    let session = try open()
    seed = try session.getBean(Item.self)
    #expect(seed != nil)
    session.finish()
    #expect(seed == nil)

    /// Returns whether the object is deallocated that a failed opening was handed.
    func isLetGo(_ open: (Item) throws -> Environment) throws -> Bool {
      weak var seed: Item?
      func run() throws {
        let item = Item()
        seed = item
        #expect(throws: EnvironmentError.self) { try open(item) }
      }
      try run()
      return seed == nil
    }
    #expect(try isLetGo { try requests.build($0) })
    #expect(try isLetGo { try requests.build($0, in: application) })
    #expect(try isLetGo { try requests.build($0, in: session) })
    try application.shutdown()
    #expect(try isLetGo { try sessions.build($0) })
  }

  @Test("Beans are released by shutdown itself, even while the environment is still held")
  func environmentHeld() throws {
    let environment = try Environment()
    func run() throws -> Traces {
      try environment.define(environment.bean(Item.self))
      let traces = Traces(bean: try environment.getBean(Item.self))
      try environment.shutdown()
      return traces
    }
    let traces = try run()
    #expect(traces.bean == nil)
    try requireFault(.finished) { try environment.getBean(Item.self) }
  }

  @Test("Beans and factories that hold their environment do not keep it alive after shutdown")
  func circles() throws {
    func run() throws -> Traces {
      let environment = try Environment()
      let token = Item()
      // Both the closure and the bean hold the environment strongly.
      try environment.define(
        environment.bean(Clinging.self) {
          _ = token
          return Clinging(try environment.getBean(Item.self))
        }.requires(Item.self).onDestroy { _ in _ = environment })
      try environment.define(environment.bean(Item.self))
      let traces = Traces(environment: environment, bean: try environment.getBean(Clinging.self).item, token: token)
      try environment.shutdown()
      return traces
    }
    let traces = try run()
    #expect(traces.environment == nil)
    #expect(traces.bean == nil)
    #expect(traces.token == nil)
  }

  @Test("A provider kept after the end keeps no bean alive")
  func provider() throws {
    func run() throws -> (Traces, Provider<Item>) {
      let environment = try Environment()
      try environment.define(environment.bean(Item.self))
      let provider = try environment.getBean(Provider<Item>.self)
      let traces = Traces(bean: try provider.get())
      try environment.shutdown()
      return (traces, provider)
    }
    let (traces, provider) = try run()
    #expect(traces.bean == nil)
    try requireFault(.finished) { try provider.get() }
  }

  @Test("A finished child and its beans are released by its parent and its factory")
  func finishedChild() throws {
    let application = try Environment(name: "application")
    let requests = try application.childFactory("request", seed: Item.self) { child in
      try child.define(child.bean(Holder.self, factory: Holder.init))
      try child.define(child.bean(Clinging.self))
    }
    func run() throws -> Traces {
      let seed = Item()
      let child = try requests.build(seed)
      _ = try child.getBean(Holder.self)
      _ = try child.getBean(Clinging.self)
      child.finish()
      return Traces(environment: child, bean: seed)
    }
    let traces = try run()
    #expect(traces.environment == nil)
    #expect(traces.bean == nil)
    try application.shutdown()
  }

  @Test("withChild leaves nothing behind, even if its body throws")
  func withChild() throws {
    let application = try Environment(name: "application")
    let requests = try application.childFactory("request", seed: Item.self) { child in
      try child.define(child.bean(Holder.self, factory: Holder.init))
    }
    func run(_ error: Boom?) throws -> Traces {
      var traces = Traces()
      do {
        try requests.withChild(Item()) { child in
          traces = Traces(environment: child, bean: try child.getBean(Holder.self).item)
          if let error { throw error }
        }
      } catch is Boom {
        #expect(error != nil)
      }
      return traces
    }
    for error in [nil, Boom()] {
      let traces = try run(error)
      #expect(traces.environment == nil)
      #expect(traces.bean == nil)
    }
    try application.shutdown()
  }

  @Test("A live child is held by its parent until it is finished")
  func liveChild() throws {
    let application = try Environment(name: "application")
    let requests = try application.childFactory("request", seed: Int.self)
    func run() throws -> Traces {
      Traces(environment: try requests.build(1))
    }
    let traces = try run()
    #expect(traces.environment != nil)
    try traces.environment?.shutdown()
    #expect(traces.environment == nil)
    try application.shutdown()
  }

  @Test("A plain child is released when it has been shut down")
  func plainChild() throws {
    let application = try Environment(name: "application")
    func run() throws -> Traces {
      let child = try Environment(name: "child", parent: application)
      try child.define(child.bean(Item.self))
      let traces = Traces(environment: child, bean: try child.getBean(Item.self))
      try child.shutdown()
      return traces
    }
    let traces = try run()
    #expect(traces.environment == nil)
    #expect(traces.bean == nil)
    try application.shutdown()
  }

  @Test("A prototype is kept by its user alone")
  func prototype() throws {
    let environment = try Environment()
    try environment.define(environment.bean(Item.self).scope("prototype"))
    func run() throws -> Traces { Traces(bean: try environment.getBean(Item.self)) }
    #expect(try run().bean == nil)
  }

  @Test("A custom scope and its beans are released")
  func customScope() throws {
    weak var scope: AbstractBeanScope?
    func run() throws -> Traces {
      let environment = try Environment()
      let cached = AbstractBeanScope(name: "cached")
      scope = cached
      try environment.registerScope(cached)
      try environment.define(environment.bean(Item.self).scope("cached"))
      let traces = Traces(environment: environment, bean: try environment.getBean(Item.self))
      try environment.shutdown()
      return traces
    }
    let traces = try run()
    #expect(traces.environment == nil)
    #expect(traces.bean == nil)
    #expect(scope == nil)
  }

  @Test("A failed environment keeps none of the beans that it had built")
  func failedStartup() throws {
    // The item is built on this thread.
    nonisolated(unsafe) weak var item: Item?
    let environment = try Environment()
    try environment.define(
      environment.bean(Item.self) {
        let built = Item()
        item = built
        return built
      })
    try environment.define(environment.bean(Clinging.self, factory: { throw Boom() }))
    try requireFault(.creationFailed) { try environment.startup() }
    #expect(item == nil)
  }

  @Test("A failed environment without other references is deallocated, with its factories")
  func failedEnvironment() throws {
    func run() throws -> Traces {
      let environment = try Environment()
      let token = Item()
      let requests = try environment.childFactory("request", seed: Int.self)
      try environment.define(
        environment.bean(Clinging.self) {
          _ = token
          throw Boom()
        })
      try requireFault(.creationFailed) { try requests.build(1) }
      return Traces(environment: environment, token: token)
    }
    let traces = try run()
    #expect(traces.environment == nil)
    #expect(traces.token == nil)
  }

  @Test("A release that throws does not keep its bean alive")
  func failedRelease() throws {
    let environment = try Environment()
    func run() throws -> Traces {
      try environment.define(environment.bean(Item.self).onDestroy { _ in throw Boom() })
      let traces = Traces(bean: try environment.getBean(Item.self))
      try requireFault(.destructionFailed) { try environment.shutdown() }
      return traces
    }
    #expect(try run().bean == nil)
  }

  @Test("An environment is not retained after shutdown() async either")
  func asynchronous() async throws {
    func run() async throws -> Traces {
      let environment = try Environment()
      try environment.define(environment.bean(Item.self))
      try environment.define(environment.bean(Clinging.self))
      _ = try environment.getBean(Clinging.self)
      let traces = Traces(environment: environment, bean: try environment.getBean(Item.self))
      try await environment.shutdown()
      return traces
    }
    let traces = try await run()
    #expect(traces.environment == nil)
    #expect(traces.bean == nil)
  }
}

private final class Item: Initializable, Sendable { init() {} }

private final class Token: Sendable {
  func use() {}
}

private final class Holder {
  let item: Item
  init(item: Item) { self.item = item }
}

private final class Asking {
  let item: Provider<Item>
  init(item: Provider<Item>) { self.item = item }
}

private final class Clinging: Initializable, EnvironmentAware {
  let item: Item?
  /// The reference is strong on purpose.
  var environment: Environment?
  init() { item = nil }
  init(_ item: Item) { self.item = item }
}
