import Beans
import Testing

/// Lookups of shorter-lived beans by the factory of a longer-lived one, alone or with others.
@Suite("Captive lookups") struct CaptiveLookupSpecification {
  @FreshEnvironment("application") private var application

  /// A lookup in the current request, whose result the singleton keeps.
  struct Lookup: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let look: @Sendable (Environment) throws -> Any
  }

  static let captiveLookups: [Lookup] = [
    Lookup(testDescription: "one, by type") { try $0.getBean(Visit.self) },
    Lookup(testDescription: "one, by id") { try $0.getBean(Visit.self, byId: "visit") },
    Lookup(testDescription: "one, as optional") { try $0.getBean(Visit?.self) as Any },
    Lookup(testDescription: "one, by a protocol") { try $0.getBean((any Visiting).self) },
    Lookup(testDescription: "getBeansByType") { try $0.getBeansByType(Visit.self) },
    Lookup(testDescription: "getBeansByType of a protocol") { try $0.getBeansByType((any Visiting).self) },
    Lookup(testDescription: "an array") { try $0.getBean([Visit].self) },
    Lookup(testDescription: "an array by id") { try $0.getBean([Visit].self, byId: "visit") },
    Lookup(testDescription: "a set") { try $0.getBean(Set<Visit>.self) },
    Lookup(testDescription: "a dictionary") { try $0.getBean([String: Visit].self) },
    Lookup(testDescription: "a lazy one") { try $0.getBean(Lazy<Visit>.self) },
    Lookup(testDescription: "a lazy array") { try $0.getBean(Lazy<[Visit]>.self) },
    Lookup(testDescription: "an array of lazy ones") { try $0.getBean([Lazy<Visit>].self) },
    Lookup(testDescription: "a dictionary of lazy ones") { try $0.getBean([String: Lazy<Visit>].self) },
    Lookup(testDescription: "a qualified one") { try $0.getBean(Qualified<Tag, Visit>.self) },
    Lookup(testDescription: "an array of qualified ones") { try $0.getBean([Qualified<Tag, Visit>].self) },
    Lookup(testDescription: "a prototype that takes one") { try $0.getBean(Taker.self) },
    Lookup(testDescription: "an array of prototypes that take several") { try $0.getBean([Collector].self) },
    Lookup(testDescription: "an owned prototype that takes one") { try $0.getBean(Owned<Taker>.self) },
    Lookup(testDescription: "a lazy prototype that takes one") { try $0.getBean(Lazy<Taker>.self) },
    Lookup(testDescription: "a prototype that takes a lazy one") { try $0.getBean(LazyTaker.self) },
    Lookup(testDescription: "a bean of the session") { try $0.getBean(Cart.self) },
    Lookup(testDescription: "beans of the session") { try $0.getBeansByType(Cart.self) },
    Lookup(testDescription: "the provider's one") { try $0.getBean(Providers.self).one.get() },
    Lookup(testDescription: "the provider's array") { try $0.getBean(Providers.self).all.get() },
    Lookup(testDescription: "the provider's dictionary") { try $0.getBean(Providers.self).named.get() },
    Lookup(testDescription: "the provider's lazy array") { try $0.getBean(Providers.self).lazy.get() },
    Lookup(testDescription: "the current one") { try $0.getBean(Providers.self).current.get() },
    Lookup(testDescription: "the current ones") { try $0.getBean(Providers.self).currentOnes.get() },
  ]

  static let harmlessLookups: [Lookup] = [
    Lookup(testDescription: "the seed") { try $0.getBean(Int.self) },
    Lookup(testDescription: "a singleton") { try $0.getBean(Clock.self) },
    Lookup(testDescription: "singletons") { try $0.getBeansByType(Clock.self) },
    Lookup(testDescription: "a lazy array of singletons") { try $0.getBean(Lazy<[Clock]>.self) },
    Lookup(testDescription: "a prototype that takes none") { try $0.getBean(Note.self) },
    Lookup(testDescription: "an array of prototypes") { try $0.getBean([Note].self) },
    Lookup(testDescription: "an owned prototype") { try $0.getBean(Owned<Note>.self) },
    Lookup(testDescription: "a provider of one") { try $0.getBean(Provider<Visit>.self) },
    Lookup(testDescription: "a prototype that takes a provider of several") { try $0.getBean(ProviderTaker.self) },
    Lookup(testDescription: "none of them") { try $0.getBeansByType(Absent.self) },
    Lookup(testDescription: "one of a registered scope") { try $0.getBean(Cached.self) },
    Lookup(testDescription: "several of a registered scope") { try $0.getBeansByType(Cached.self) },
  ]

  private struct Shop {
    let application: Environment
    let sessions: EnvironmentFactory<String>
    let requests: EnvironmentFactory<Int>
  }

  /// A shop whose lazy singleton keeps the result of a lookup in the current request while it is built.
  private func shop(_ lookup: Lookup) throws -> Shop {
    let application = try Environment(name: "application")
    let sessions = try application.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    try application.registerScope(AbstractBeanScope(name: "cached"))
    try application.define(
      all:
        application.bean(Visit.self, id: "visit").scope("request").qualifier(Tag.self),
      application.bean(Cart.self).scope("session"), application.bean(Clock.self),
      application.bean(Cached.self).scope("cached"),
      application.bean(Note.self).scope("prototype"),
      application.bean(Taker.self, factory: Taker.init).scope("prototype"),
      application.bean(Collector.self, factory: Collector.init).scope("prototype"),
      application.bean(LazyTaker.self, factory: LazyTaker.init).scope("prototype"),
      application.bean(ProviderTaker.self, factory: ProviderTaker.init).scope("prototype"),
      application.bean(Providers.self, factory: Providers.init),
      application.bean(
        Keeper.self, lazy: true,
        factory: { Keeper(try Environment.current.map { try lookup.look($0) } as Any) }))
    return Shop(application: application, sessions: sessions, requests: requests)
  }

  @Test(
    "A singleton that looks up a bean of a request or a session, in any form, would keep it: a captive",
    arguments: captiveLookups)
  func captive(_ lookup: Lookup) throws {
    let shop = try shop(lookup)
    for isBuilt in [false, true] {
      try shop.sessions.withChild("a") { session in
        try shop.requests.withChild(1, in: session) { request in
          // The error is the same if the beans have been built before, and the lookup is cached.
          if isBuilt { _ = try lookup.look(request) }
          let fault = try requireFault(.captiveDependency, through: "Keeper") { try request.getBean(Keeper.self) }
          #expect(fault.passes("Visit") || fault.passes("Cart"), "\(fault)")
          #expect(fault.origin?.file == #fileID, "\(fault)")
        }
      }
    }
    // The singleton has kept nothing, and can be built without a request.
    _ = try shop.application.getBean(Keeper.self)
    try shop.application.shutdown()
  }

  @Test("A singleton may look up beans in a request that do not end with it", arguments: harmlessLookups)
  func harmless(_ lookup: Lookup) throws {
    let shop = try shop(lookup)
    try shop.sessions.withChild("a") { session in
      try shop.requests.withChild(1, in: session) { _ = try $0.getBean(Keeper.self) }
    }
    try shop.application.shutdown()
  }

  @Test("A session's bean that looks up several of a request would keep them; a request's may look up the session's")
  func sessions() throws {
    let sessions = try application.childFactory("session", seed: String.self) { session in
      try session.define(
        all:
          session.bean(Keeper.self, factory: { Keeper(try Environment.current?.getBeansByType(Visit.self) as Any) }),
        session.bean(Cart.self))
    }
    let requests = try sessions.childFactory("request", seed: Int.self) { request in
      try request.define(
        all:
          request.bean(Visit.self),
        request.bean(
          Keeper.self, id: "own", factory: { Keeper(try Environment.current?.getBeansByType(Cart.self) as Any) }))
    }
    try sessions.withChild("a") { session in
      try requests.withChild(1, in: session) { request in
        _ = try request.getBean(Keeper.self, byId: "own")
        try requireFault(.captiveDependency) { try session.getBean(Keeper.self) }
      }
    }
    try application.shutdown()
  }

  @Test("A factory may use several beans of a request that it opens itself")
  func openedByTheFactory() throws {
    let requests = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Visit.self)) }
    try application.define(
      application.bean(
        Keeper.self, lazy: true,
        factory: { Keeper(try requests.withChild(1) { try $0.getBeansByType(Visit.self).count }) }))
    #expect(try application.getBean(Keeper.self).kept as? Int == 1)
    try application.shutdown()
  }

  @Test(
    "A bean of a registered scope may look up a request's beans, alone and with others",
    arguments: [false, true])
  func registeredScope(isTakenByASingleton: Bool) throws {
    try application.registerScope(AbstractBeanScope(name: "cached"))
    let requests = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Visit.self)) }
    try application.define(
      all:
        application.bean(Keeper.self, lazy: true) {
          Keeper([
            try Environment.current?.getBean(Visit.self) as Any,
            try Environment.current?.getBeansByType(Visit.self) as Any,
          ])
        }.scope("cached"),
      application.bean(
        KeeperTaker.self, lazy: true, factory: { try KeeperTaker(Environment.current?.getBean(Keeper.self)) }))
    try requests.withChild(1) { request in
      if isTakenByASingleton {
        _ = try request.getBean(KeeperTaker.self)
      } else {
        _ = try request.getBean(Keeper.self)
      }
    }
    try application.shutdown()
  }

  @Test("A bean of a scope object of a factory's child is judged like any other of that child")
  func scopeObject() throws {
    let requests = try application.childFactory(
      "request", seed: Int.self,
      configure: { try $0.define($0.bean(Visit.self)) }, scope: { AbstractBeanScope(name: "request") })
    try application.define(
      application.bean(
        Keeper.self, lazy: true, factory: { Keeper(try Environment.current?.getBeansByType(Visit.self) as Any) }))
    _ = try requests.withChild(1) { request in
      try requireFault(.captiveDependency) { try request.getBean(Keeper.self) }
    }
    try application.shutdown()
  }

  @Test("A prototype that is built for a singleton passes its lookups on")
  func throughAPrototype() throws {
    let requests = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Visit.self)) }
    try application.define(
      all:
        application.bean(
          Collector.self, factory: { Collector(visits: try Environment.current?.getBeansByType(Visit.self) ?? []) }
        ).scope("prototype"),
      application.bean(Keeper.self, lazy: true, factory: { (collector: Collector) in Keeper(collector) }))
    try requests.withChild(1) { request in
      try requireFault(.captiveDependency) { try request.getBean(Keeper.self) }
      _ = try request.getBean(Collector.self)
    }
    try application.shutdown()
  }

  @Test("Lazy prototypes that need each other are judged once each")
  func lazyCircle() throws {
    let requests = try application.childFactory("request", seed: Int.self)
    try application.define(
      all:
        application.bean(Left.self, factory: Left.init).scope("prototype"),
      application.bean(Right.self, factory: Right.init).scope("prototype"),
      application.bean(Keeper.self, lazy: true, factory: { Keeper(try Environment.current?.getBean(Left.self) as Any) })
    )
    try requests.withChild(1) { request in _ = try request.getBean(Keeper.self) }
    try application.shutdown()
  }
}

private enum Tag {}

private protocol Visiting {}

private final class Visit: Initializable, Hashable, Visiting {
  init() {}
  static func == (left: Visit, right: Visit) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private final class Cart: Initializable { init() {} }
private final class Clock: Initializable { init() {} }
private final class Note: Initializable { init() {} }
private final class Cached: Initializable { init() {} }
private final class Absent {}

private final class Taker {
  init(visit: Visit) {}
}

private final class Collector {
  init(visits: [Visit]) {}
}

private final class LazyTaker {
  init(visits: [Lazy<Visit>]) {}
}

private final class ProviderTaker {
  init(visits: Provider<[Visit]>) {}
}

private final class Left {
  init(right: Lazy<Right>) {}
}

private final class Right {
  init(left: Lazy<Left>) {}
}

private final class KeeperTaker {
  let keeper: Keeper?
  init(_ keeper: Keeper?) { self.keeper = keeper }
}

private final class Providers {
  let one: Provider<Visit>
  let all: Provider<[Visit]>
  let named: Provider<[String: Visit]>
  let lazy: Provider<Lazy<[Visit]>>
  let current: Current<Visit>
  let currentOnes: Current<[Visit]>

  init(
    one: Provider<Visit>, all: Provider<[Visit]>, named: Provider<[String: Visit]>, lazy: Provider<Lazy<[Visit]>>,
    current: Current<Visit>, currentOnes: Current<[Visit]>
  ) {
    (self.one, self.all, self.named, self.lazy) = (one, all, named, lazy)
    (self.current, self.currentOnes) = (current, currentOnes)
  }
}

/// Keeps the value that it is given.
private final class Keeper {
  let kept: Any
  init(_ kept: Any) { self.kept = kept }
}
