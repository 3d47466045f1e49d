import Beans
import BeansInject
import Testing

@Suite("@Injected properties") struct InjectedSpecification {
  @FreshEnvironment private var environment

  @Test(
    "Classes, protocols, optionals, arrays, providers and the environment are injected, in a class and its superclass")
  func kinds() throws {
    try environment.define(environment.bean(Mailer.self))
    try environment.define(environment.bean(Service.self))
    let service = try environment.getBean(Service.self)
    let mailer = try environment.getBean(Mailer.self)
    #expect(service.mailer === mailer)
    #expect(service.any as? Mailer === mailer)
    #expect(service.maybe === mailer)
    #expect(service.missing == nil)
    #expect(service.all.map { ObjectIdentifier($0) } == [ObjectIdentifier(mailer)])
    #expect(try service.provider.get() === mailer)
    #expect(service.environment === environment)
  }

  @Test("Injected beans are built first, wherever they are declared")
  func order() throws {
    let journal = Journal()
    try environment.define(environment.bean(Client.self, factory: { journal.noting("client", Client()) }))
    try environment.define(environment.bean(Mailer.self, factory: { journal.noting("mailer", Mailer()) }))
    try environment.startup()
    #expect(journal.entries == ["mailer", "client"])
  }

  @Test("A property with an id gets the bean of that id, built first")
  func byId() throws {
    try environment.define(environment.bean(Reader.self))
    try environment.define(environment.bean(Store.self, id: "main", lazy: true).property("name", value: "main"))
    try environment.define(environment.bean(Store.self, id: "other").property("name", value: "other"))
    #expect(try environment.getBean(Reader.self).store.name == "main")
  }

  @Test("The declaration's own property wins, by name and by key path, even without such a bean")
  func explicit() throws {
    let own = Mailer()
    try environment.define(environment.bean(Client.self, id: "name").property("mailer", value: own))
    try environment.define(environment.bean(Client.self, id: "path").property(\.mailer, value: own))
    #expect(try environment.getBean(Client.self, byId: "name").mailer === own)
    #expect(try environment.getBean(Client.self, byId: "path").mailer === own)
    let second = try Environment()
    try second.define(second.bean(Mailer.self))
    try second.define(second.bean(Client.self, id: "name").property("mailer", value: own))
    try second.define(second.bean(Client.self, id: "path").property(\.mailer, value: own))
    #expect(try second.getBean(Client.self, byId: "name").mailer === own)
    #expect(try second.getBean(Client.self, byId: "path").mailer === own)
  }

  @Test("Each child of a factory injects its own bean")
  func children() throws {
    try environment.define(environment.bean(Mailer.self).scope("request"))
    let requests = try environment.childFactory("request", seed: Void.self) { child in
      try child.define(child.bean(Client.self))
    }
    let (first, second) = (try requests.build(()), try requests.build(()))
    #expect(try first.getBean(Client.self).mailer === first.getBean(Mailer.self))
    #expect(try first.getBean(Client.self).mailer !== second.getBean(Client.self).mailer)
    try environment.shutdown()
  }

  @Test("An object of a class that only the factory knows is injected, too")
  func unforeseen() throws {
    try environment.define(environment.bean(Mailer.self))
    try environment.define(environment.bean((any Post).self, factory: { Client() as any Post }))
    try environment.define(environment.bean(Base.self, factory: { Derived() }))
    #expect(try environment.getBean((any Post).self).hasMailer)
    #expect(try environment.getBean(Base.self).hasMailer)
  }

  @Test("An object the container did not build is injected on request, and nothing else happens to it")
  func foreign() throws {
    try environment.define(environment.bean(Mailer.self))
    let client = Client()
    try environment.inject(client)
    #expect(try client.mailer === environment.getBean(Mailer.self))
    #expect(!client.isConstructed)
    let reader = Reader()
    try requireFault(.unknownBean) { try environment.inject(reader) }
  }

  @Test("Properties are set before postConstruct")
  func beforePostConstruct() throws {
    try environment.define(environment.bean(Mailer.self))
    try environment.define(environment.bean(Client.self))
    #expect(try environment.getBean(Client.self).isConstructed)
  }

  @Test("A property can be set by hand without a container, and an optional is nil")
  func byHand() {
    let client = Client()
    let mailer = Mailer()
    client.mailer = mailer
    #expect(client.mailer === mailer)
    #expect(Service().missing == nil)
  }

  @Test("A key path that sets another property of the type is no excuse for a missing bean")
  func otherPath() throws {
    try environment.define(environment.bean(Pair.self, lazy: true).property(\.second, value: Mailer()))
    try requireFault(.unknownBean, message: "'first'") { try environment.getBean(Pair.self) }
    let both = try Environment()
    let (first, second) = (Mailer(), Mailer())
    try both.define(both.bean(Pair.self).property(\.second, value: second).property(\.first, value: first))
    #expect(try both.getBean(Pair.self).first === first)
    #expect(try both.getBean(Pair.self).second === second)
  }

  // MARK: faults

  @Test("Missing and ambiguous beans are faults at startup, even of lazy beans")
  func faults() throws {
    try environment.define(environment.bean(Client.self, id: "client", lazy: true))
    try requireFault(.unknownBean, message: "mailer", through: "'client'") { try environment.startup() }
    let second = try Environment()
    try second.define(second.bean(Mailer.self))
    try second.define(second.bean(Mailer.self))
    try second.define(second.bean(Client.self, lazy: true))
    try requireFault(.ambiguousBean) { try second.startup() }
  }

  @Test("A cycle is found at startup, and so is a captive")
  func cycleAndCaptive() throws {
    try environment.define(environment.bean(Chicken.self, lazy: true))
    try environment.define(environment.bean(Egg.self, lazy: true))
    try requireFault(.cyclicDependency) { try environment.startup() }
    let second = try Environment()
    try second.define(second.bean(Mailer.self).scope("request"))
    try second.define(second.bean(Client.self, lazy: true))
    _ = try second.childFactory("request", seed: Void.self)
    try requireFault(.captiveDependency) { try second.startup() }
  }

  @Test("A missing bean with any id is a fault at startup; a wrong id or type is one when the object is built")
  func byIdFaults() throws {
    try environment.define(environment.bean(Store.self))
    try environment.define(environment.bean(Reader.self, lazy: true))
    try requireFault(.unknownBean) { try environment.startup() }
    let second = try Environment()
    try second.define(second.bean(Store.self, id: "mian"))
    try second.define(second.bean(Reader.self, lazy: true))
    try second.startup()
    #expect(try requireFault(.unknownBean) { try second.getBean(Reader.self) }.message.contains("'mian'"))
    let third = try Environment()
    try third.define(third.bean(Store.self, id: "store"))
    try third.define(third.bean(Mailer.self, id: "main"))
    try third.define(third.bean(Reader.self, lazy: true))
    try requireFault(.typeMismatch) { try third.getBean(Reader.self) }
  }
}

private protocol Post: AnyObject { var hasMailer: Bool { get } }

private final class Mailer: Initializable, Post {
  var hasMailer: Bool { true }
  init() {}
}

private class ServiceBase: Initializable {
  @Injected var mailer: Mailer
  required init() {}
}

private final class Service: ServiceBase {
  @Injected var any: any Post
  @Injected var maybe: Mailer?
  @Injected var missing: Store?
  @Injected var all: [Mailer]
  @Injected var provider: Provider<Mailer>
  @Injected var environment: Environment
}

private final class Client: Initializable, Post, Bean {
  @Injected var mailer: Mailer
  var isConstructed = false
  var hasMailer: Bool { mailer.hasMailer }
  init() {}
  func postConstruct() { isConstructed = mailer.hasMailer }
}

private class Base {
  var hasMailer: Bool { false }
}

private final class Derived: Base {
  @Injected var mailer: Mailer
  override var hasMailer: Bool { mailer.hasMailer }
}

private final class Pair: Initializable {
  @Injected var first: Mailer
  var second: Mailer = Mailer()
  init() {}
}

private final class Store: Initializable {
  var name = ""
  init() {}
}

private final class Reader: Initializable {
  @InjectedById("main") var store: Store
  init() {}
}

private final class Chicken: Initializable {
  @Injected var egg: Egg
  init() {}
}

private final class Egg: Initializable {
  @Injected var chicken: Chicken
  init() {}
}
