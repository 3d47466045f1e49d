import Beans
import TestSupport
import Testing

private protocol Service: AnyObject, Sendable { var journal: Journal { get } }
private protocol OtherFace: AnyObject, Sendable {}

/// Notes its completion and its release.
private class Impl: Service, OtherFace, Bean, DisposableBean, @unchecked Sendable {  // immutable
  let name: String
  let journal: Journal
  init(_ name: String, _ journal: Journal) { (self.name, self.journal) = (name, journal) }
  func postConstruct() { journal.note("\(name) begins") }
  func preDestroy() { journal.note("\(name) ends") }
}

private final class User: DisposableBean, Sendable {
  private let service: any OtherFace
  private let journal: Journal
  init(_ service: any OtherFace, _ journal: Journal) { (self.service, self.journal) = (service, journal) }
  func preDestroy() { journal.note("user ends") }
}

/// A plain class without a life cycle of its own.
private class Plain: @unchecked Sendable {}  // no state

private final class DisposablePlain: Plain, DisposableBean, @unchecked Sendable {  // immutable
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func preDestroy() { journal.note("plain ends") }
}

private struct Request: Sendable {}

@Suite("One object, several faces", .timeLimit(.minutes(20))) struct IdentitySpecification {
  private let journal = Journal()

  private func makeShop() throws -> Environment {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    return try environment.define(environment.bean(Impl.self, factory: { Impl("pool", journal) }))
  }

  // MARK: one environment

  @Test("A second declaration that returns a bean completes and releases nothing")
  func secondDeclaration() throws {
    let (environment, journal) = (try makeShop(), journal)
    try environment
      .define(
        environment.bean((any OtherFace).self, factory: { (impl: Impl) -> any OtherFace in impl })
          .postConstruct { _ in journal.note("callback begins") }
          .onDestroy { _ in journal.note("callback ends") }
      )
      .define(environment.bean((any Service).self, factory: { (impl: Impl) -> any Service in impl }))
      .startup()
    #expect(try environment.getBean((any OtherFace).self) === environment.getBean(Impl.self))
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  @Test("A face declared as a class is a face, whether the class has a life cycle or not")
  func classFaces() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(DisposablePlain.self, id: "plain", factory: { DisposablePlain(journal) }))
      .define(
        environment.bean(Plain.self, id: "face", factory: { (plain: DisposablePlain) -> Plain in plain })
          .argument(0, ref: "plain")
      )
      .define(
        environment.bean(DisposablePlain.self, id: "same", factory: { (plain: Plain) in plain as! DisposablePlain })
          .argument(0, ref: "face"))
    try environment.startup().shutdown()
    #expect(journal.entries == ["plain ends"])
  }

  @Test("A bean is released after all that use it through another face")
  func order() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Impl.self, lazy: true, factory: { Impl("pool", journal) }))
      .define(environment.bean((any OtherFace).self, lazy: true, factory: { (impl: Impl) -> any OtherFace in impl }))
      .define(environment.bean(User.self, lazy: true, factory: { User($0, journal) }))
    _ = try environment.getBean(Impl.self)
    _ = try environment.getBean(User.self)
    _ = try environment.getBean((any OtherFace).self)
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "user ends", "pool ends"])
  }

  @Test("A bean with several faces is counted once")
  func statistics() throws {
    let environment = try makeShop()
    try environment.define(environment.bean((any OtherFace).self, factory: { (impl: Impl) -> any OtherFace in impl }))
    try environment.startup()
    #expect(environment.statistics().map(\.created) == [1])
    try environment.shutdown()
    #expect(environment.statistics().map(\.released) == [1])
  }

  @Test("An instance declared twice is completed and released once")
  func instanceTwice() throws {
    let (environment, impl) = (try Environment(name: "shop"), Impl("pool", journal))
    try environment
      .define(environment.bean(impl, id: "one"))
      .define(environment.bean(impl, id: "two"))
    try environment.startup().shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  @Test("An object that two factories find elsewhere belongs to the one that runs first")
  func foundElsewhere() throws {
    let (environment, impl) = (try Environment(name: "shop"), Impl("pool", journal))
    try environment
      .define(environment.bean(Impl.self, factory: { impl }))
      .define(environment.bean((any OtherFace).self, factory: { impl }))
    try environment.startup().shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  @Test("Threads that build faces of one object complete it once")
  func threads() throws {
    for _ in 0..<50 {
      let (journal, environment) = (Journal(), try Environment(name: "shop"))
      let impl = Impl("pool", journal)
      try environment
        .define(environment.bean(Impl.self, lazy: true, factory: { impl }))
        .define(environment.bean((any OtherFace).self, lazy: true, factory: { impl }))
      try environment.startup()
      _ = try onThreads(2) { thread in
        if thread == 0 { return try ObjectIdentifier(environment.getBean(Impl.self)) }
        return try ObjectIdentifier(environment.getBean((any OtherFace).self))
      }
      try environment.shutdown()
      #expect(journal.entries == ["pool begins", "pool ends"])
    }
  }

  @Test("A declaration whose completion fails owns nothing: the next build completes the object")
  func failedOwner() throws {
    let (environment, impl, failing) = (try Environment(name: "shop"), Impl("pool", journal), Guarded(true))
    try environment
      .define(
        environment.bean((any OtherFace).self, id: "one", lazy: true, factory: { impl })
          .postConstruct { _ in if failing.withLock({ $0 }) { throw Boom() } }
      )
      .define(environment.bean(Impl.self, id: "two", lazy: true, factory: { impl }))
    #expect(code { try environment.getBean((any OtherFace).self, byId: "one") } == .creationFailed)
    failing.withLock { $0 = false }
    _ = try environment.getBean(Impl.self, byId: "two")
    _ = try environment.getBean((any OtherFace).self, byId: "one")
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool begins", "pool ends"])
  }

  @Test("Two values are two beans, though they are equal")
  func values() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Int.self, id: "one", factory: { 1 }).onDestroy { _ in journal.note("one") })
      .define(environment.bean(Int.self, id: "two", factory: { 1 }).onDestroy { _ in journal.note("two") })
    try environment.startup().shutdown()
    #expect(journal.entries == ["two", "one"])
  }

  // MARK: children

  @Test("The end of a request leaves a singleton alive that a request's bean forwards")
  func forwardedSingleton() throws {
    let environment = try makeShop()
    let requests = try environment.childFactory("request", seed: Request.self) { request in
      try request.define(request.bean((any OtherFace).self, factory: { (impl: Impl) -> any OtherFace in impl }))
    }
    try environment.startup()
    try requests.withChild(Request()) { _ = try $0.getBean((any OtherFace).self) }
    #expect(journal.entries == ["pool begins"])
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
    #expect(environment.statistics().map(\.released) == [0, 1])
  }

  @Test("An object that a child makes first belongs to the child")
  func madeInAChild() throws {
    let (environment, impl) = (try Environment(name: "shop"), Impl("pool", journal))
    let requests = try environment.childFactory("request", seed: Request.self) { request in
      try request.define(request.bean((any OtherFace).self, factory: { impl }))
        .define(request.bean((any Service).self, factory: { (face: any OtherFace) in face as! any Service }))
    }
    try requests.withChild(Request()) { _ = try $0.getBean((any Service).self) }
    #expect(journal.entries == ["pool begins", "pool ends"])
    try environment.shutdown()
  }

  @Test("Forwarding holds through many beans of a child")
  func manyBeans() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    let requests = try environment.childFactory("request", seed: Request.self) { request in
      for number in 0..<100 {
        try request.define(request.bean(Impl.self, id: "\(number)", factory: { Impl("\(number)", journal) }))
        try request.define(
          request.bean((any OtherFace).self, id: "face \(number)", factory: { $0 as Impl })
            .argument(0, ref: "\(number)"))
      }
    }
    try requests.withChild(Request()) { child in
      for number in 0..<100 { _ = try child.getBean((any OtherFace).self, byId: "face \(number)") }
    }
    try environment.shutdown()
    #expect(journal.entries == (0..<100).map { "\($0) begins" } + (0..<100).reversed().map { "\($0) ends" })
  }

  @Test("A face of a child's seed does not release the seed")
  func seed() throws {
    let (environment, impl) = (try Environment(name: "shop"), Impl("seed", journal))
    let requests = try environment.childFactory("request", seed: Impl.self) { request in
      try request.define(request.bean((any OtherFace).self, factory: { (impl: Impl) -> any OtherFace in impl }))
    }
    try requests.withChild(impl) { _ = try $0.getBean((any OtherFace).self) }
    try environment.shutdown()
    #expect(journal.entries == [])
  }

  // MARK: decorators, factory beans, post processors

  @Test("A decorator that returns its inner bean is another face of it", arguments: ["singleton", "prototype"])
  func decorator(scope: String) throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Impl.self, factory: { Impl("pool", journal) }).scope(scope))
      .define(environment.decorate((any Service).self) { (inner: any Service) in inner })
      .define(environment.decorate((any Service).self) { (inner: any Service) in inner })
    _ = try environment.getBean((any Service).self)
    try environment.shutdown()
    #expect(journal.entries == (scope == "singleton" ? ["pool begins", "pool ends"] : ["pool begins"]))
  }

  @Test("An existing bean that a factory bean returns has another face")
  func factoryBean() throws {
    struct Forwarding: FactoryBean {
      let impl: Impl
      func create() -> any OtherFace { impl }
    }
    let environment = try makeShop()
    try environment.define(
      environment.bean(Forwarding.self, factory: { (impl: Impl) in Forwarding(impl: impl) })
        .target((any OtherFace).self))
    _ = try environment.getBean((any OtherFace).self)
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  @Test("One object that a post processor puts in the place of two beans is completed and released once")
  func postProcessor() throws {
    final class Replacing: BeanPostProcessor, Sendable {
      let impl: Impl
      init(_ impl: Impl) { self.impl = impl }
      func process(_ bean: AnyObject) -> AnyObject { bean is Impl ? impl : bean }
    }
    let (environment, journal) = (try Environment(name: "shop"), journal)
    let impl = Impl("pool", journal)
    try environment
      .define(environment.bean(Replacing.self, factory: { Replacing(impl) }))
      .define(environment.bean(Impl.self, id: "one", factory: { Impl("one", journal) }))
      .define(environment.bean(Impl.self, id: "two", factory: { Impl("two", journal) }))
    try environment.startup().shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  @Test("An object in the place of one that a post processor has replaced is a bean of its own")
  func replacedObjects() throws {
    final class Replacing: BeanPostProcessor, Sendable {
      func process(_ bean: AnyObject) -> AnyObject { (bean as? Impl).map { Impl("replaced", $0.journal) } ?? bean }
    }
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment.define(environment.bean(Replacing.self, factory: { Replacing() }))
    for number in 0..<100 {
      try environment.define(
        environment.bean((any Service).self, id: "\(number)", lazy: true, factory: { Impl("made", journal) }))
    }
    // The next object is likely to get the memory of the replaced one.
    for number in 0..<100 { _ = try environment.getBean((any Service).self, byId: "\(number)") }
    #expect(journal.count(of: "replaced begins") == 100)
    try environment.shutdown()
    #expect(journal.count(of: "replaced ends") == 100)
  }

  // MARK: prototypes

  @Test("A prototype that forwards a bean completes nothing, at no lookup")
  func forwardingPrototype() throws {
    let environment = try makeShop()
    try environment.define(
      environment.bean((any OtherFace).self, factory: { (impl: Impl) -> any OtherFace in impl }).scope("prototype"))
    try environment.startup()
    for _ in 0..<3 { _ = try environment.getBean((any OtherFace).self) }
    #expect(journal.entries == ["pool begins"])
    let owned = try environment.getBean(Owned<any OtherFace>.self)
    try owned.release()
    #expect(journal.entries == ["pool begins"])
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  @Test("A prototype that a singleton returns as itself is completed once, and released by the singleton")
  func keptPrototype() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Impl.self, factory: { Impl("made", journal) }).scope("prototype"))
      .define(environment.bean((any OtherFace).self, id: "kept", factory: { (impl: Impl) -> any OtherFace in impl }))
      .define(
        environment.bean((any Service).self, id: "looked up") { (environment: Environment) -> any Service in
          try environment.getBean(Impl.self)
        })
    try environment.startup().shutdown()
    #expect(journal.entries == ["made begins", "made begins", "made ends", "made ends"])
  }

  @Test("A prototype that a bean keeps and others of the same build forward belongs to the bean that keeps it")
  func keptAndForwardedPrototype() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment.define(environment.bean(Impl.self, factory: { Impl("made", journal) }).scope("prototype"))
    let requests = try environment.childFactory("request", seed: Request.self) { request in
      try request
        .define(request.bean((any OtherFace).self, factory: { (impl: Impl) -> any OtherFace in impl }))
        .define(request.decorate((any OtherFace).self) { (inner: any OtherFace) in inner })
        .define(request.bean((any Service).self, factory: { (face: any OtherFace) in face as! any Service }))
        .define(request.bean(User.self, factory: { (faces: [any OtherFace]) in User(faces[0], journal) }))
    }
    try requests.withChild(Request()) { child in
      _ = try child.getBean(User.self)
      _ = try child.getBean((any Service).self)
    }
    #expect(journal.entries.filter { $0.hasSuffix("ends") } == ["user ends", "made ends"])
    try environment.shutdown()
    #expect(environment.statistics().map(\.released) == [2, 0])
  }

  // MARK: scopes and asynchronous creations

  @Test("A bean of a user's scope and a bean in a slot are one if one forwards the other")
  func scopes() throws {
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Impl.self, id: "slot", factory: { Impl("slot", journal) }))
      .define(environment.bean(Impl.self, id: "scoped", factory: { Impl("scoped", journal) }).scope("own"))
      .define(environment.bean((any OtherFace).self, id: "in slot", factory: { $0 as Impl }).argument(0, ref: "scoped"))
      .define(
        environment.bean((any OtherFace).self, id: "in scope", factory: { $0 as Impl }).argument(0, ref: "slot")
          .scope("own"))
    try environment.registerScope(AbstractBeanScope(name: "own"))
    try environment.startup()
    for id in ["in slot", "in scope"] { _ = try environment.getBean((any OtherFace).self, byId: id) }
    #expect(journal.entries == ["slot begins", "scoped begins"])
    try environment.shutdown()
    #expect(journal.entries == ["slot begins", "scoped begins", "scoped ends", "slot ends"])
  }

  @Test("A scope that destroys its instances by hand releases no bean that one of them forwards")
  func scopeWithoutCache() throws {
    /// A scope that keeps nothing.
    final class Fleeting: BeanScope, Sendable {
      let name = "fleeting"
      func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject {
        let instance = try factory.create(bean)
        try bean.destroy(instance)
        return instance
      }
      func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
      func finish() {}
    }
    let environment = try makeShop()
    try environment.registerScope(Fleeting())
    try environment.define(
      environment.bean((any OtherFace).self, factory: { (impl: Impl) -> any OtherFace in impl }).scope("fleeting"))
    try environment.startup()
    for _ in 0..<2 { _ = try environment.getBean((any OtherFace).self) }
    #expect(journal.entries == ["pool begins"])
    try environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  @Test("An existing bean that an asynchronous factory returns has another face")
  func asynchronous() async throws {
    let environment = try makeShop()
    try environment.define(
      environment.bean(
        (any OtherFace).self,
        async: { (impl: Impl) async -> any OtherFace in
          await Task.yield()
          return impl
        }))
    try await environment.ready()
    #expect(try environment.getBean((any OtherFace).self) === environment.getBean(Impl.self))
    try await environment.shutdown()
    #expect(journal.entries == ["pool begins", "pool ends"])
  }

  // MARK: Owned

  @Test("Owned releases the bean, the inner beans of its decorators and the prototypes they took, last made first")
  func ownedWithDecorators() throws {
    final class Part: DisposableBean, Sendable {
      private let name: String
      let journal: Journal
      init(_ name: String, _ journal: Journal) { (self.name, self.journal) = (name, journal) }
      func preDestroy() { journal.note("\(name) ends") }
    }
    final class Around: Service, DisposableBean, Sendable {
      let inner: any Service
      init(_ inner: any Service, _: Part) { self.inner = inner }
      var journal: Journal { inner.journal }
      func preDestroy() { journal.note("around ends") }
    }
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Part.self, id: "shared", factory: { Part("shared", journal) }))
      .define(environment.bean(Part.self, id: "part", factory: { Part("part", journal) }).scope("prototype"))
      .define(
        environment.bean(
          (any Service).self, factory: { (shared: Part) -> any Service in Impl("inner", shared.journal) }
        )
        .argument(0, ref: "shared").scope("prototype")
      )
      .define(
        environment.decorate((any Service).self) { (inner: any Service, part: Part) in Around(inner, part) }
          .argument(1, ref: "part"))
    try environment.startup()
    let ends = ["around ends", "part ends", "inner ends"]
    let store = try environment.getBean(Owned<any Service>.self)
    #expect(journal.entries == ["inner begins"])
    try store.release()
    #expect(Array(journal.entries.dropFirst(1)) == ends)
    try store.release()
    _ = try environment.getBean(Owned<any Service>.self)
    try environment.shutdown()
    #expect(Array(journal.entries.dropFirst(4)) == ["inner begins"] + ends + ["shared ends"])
  }

  @Test("A synchronous release that would have to await a part reports this, and releases nothing")
  func ownedWithAsyncPart() async throws {
    final class Part: AsyncDisposableBean, Sendable {
      let journal: Journal
      init(_ journal: Journal) { self.journal = journal }
      func preDestroy() async { journal.note("part ends") }
    }
    final class Whole: DisposableBean, Sendable {
      let part: Part
      init(_ part: Part) { self.part = part }
      func preDestroy() { part.journal.note("whole ends") }
    }
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Part.self, factory: { Part(journal) }).scope("prototype"))
      .define(environment.bean(Whole.self, factory: Whole.init).scope("prototype"))
    let whole = try environment.getBean(Owned<Whole>.self)
    func releaseSynchronously() throws { try whole.release() }
    try requireFault(.destructionFailed, message: "await release()") { try releaseSynchronously() }
    #expect(journal.entries == [])
    try await whole.release()
    #expect(journal.entries == ["whole ends", "part ends"])
    try await environment.shutdown()
  }

  @Test("Owned does not release prototypes of a singleton that was built on the way")
  func ownedBesideASingleton() throws {
    final class Holder: Sendable {
      let impl: Impl
      init(_ impl: Impl) { self.impl = impl }
    }
    final class Taker: Sendable {
      let holder: Holder
      init(_ holder: Holder) { self.holder = holder }
    }
    let (environment, journal) = (try Environment(name: "shop"), journal)
    try environment
      .define(environment.bean(Impl.self, factory: { Impl("part", journal) }).scope("prototype"))
      .define(environment.bean(Holder.self, lazy: true, factory: Holder.init))
      .define(environment.bean(Taker.self, factory: Taker.init).scope("prototype"))
    try environment.startup()
    try environment.getBean(Owned<Taker>.self).release()
    #expect(journal.entries == ["part begins"])
    try environment.shutdown()
  }
}
