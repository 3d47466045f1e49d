import Beans
import TestSupport
import Testing

/// A release hangs until the test has seen its result.
@Suite("A limit of a bean's own release", .timeLimit(.minutes(20)))
struct ReleaseLimitSpecification {
  private let journal = Journal()
  private let end = Gate("end of hanging releases")
  private let returned = Gate("return of the abandoned release")

  private func define(_ id: String, in environment: Environment, hanging: Bool = false) throws {
    let (journal, end, returned) = (journal, end, returned)
    let bean = environment.bean(Item.self, id: id, factory: { Item() })
      .onDestroy { _ in
        if hanging {
          defer { returned.open() }
          try end.wait()
        }
        journal.note(id)
      }
    if hanging { bean.releaseLimit(.milliseconds(1)) }
    try environment.define(bean)
  }

  /// Calls the synchronous form, from any context.
  private func shutDown(_ environment: Environment) throws { try environment.shutdown() }

  private func environment(hanging: Set<String>, _ ids: [String] = ["a", "b", "c"]) throws -> Environment {
    let environment = try Environment(name: "application")
    for id in ids { try define(id, in: environment, hanging: hanging.contains(id)) }
    return try environment.startup()
  }

  @Test("A release that hangs is abandoned and named; all others run, in reverse order of creation")
  func hangs() throws {
    let environment = try environment(hanging: ["b"])
    let fault = try requireFault(.destructionFailed) { try environment.shutdown() as Void }
    #expect(
      fault.message
        == "Item 'b' in 'application' has been abandoned: its release did not end within its limit of 0.001 seconds")
    #expect(fault.path == ["Item 'b'"])
    #expect(fault.origin?.file.hasSuffix("ReleaseLimitSpecification.swift") == true)
    #expect(journal.entries == ["c", "a"])
    #expect(environment.isReleased)
    end.open()
    try returned.wait()
  }

  @Test("A release that returns after it has been abandoned changes nothing")
  func returnsLater() throws {
    let environment = try environment(hanging: ["b"])
    let ends = Counter()
    environment.whenFinished { ends.increment() }
    try requireFault(.destructionFailed) { try environment.shutdown() as Void }
    end.open()
    try returned.wait()
    try environment.shutdown() as Void
    #expect(ends.value == 1)
    #expect(environment.statistics().first { $0.scope == "application" }?.released ?? 3 == 3)
    try requireFault(.finished) { try environment.getBean(Item.self, byId: "a") }
  }

  @Test("Several releases may hang: each is named, and the others are released")
  func severalHang() throws {
    let environment = try environment(hanging: ["a", "c"])
    let fault = try requireFault(.destructionFailed) { try environment.shutdown() as Void }
    #expect(fault.underlying.map { ($0 as? EnvironmentError)?.path } == [["Item 'c'"], ["Item 'a'"]])
    #expect(journal.entries == ["b"])
    end.open()
  }

  @Test("The limit of a template holds for the product of a factory bean that inherits it")
  func limitOfATemplate() throws {
    let (end, returned) = (end, returned)
    let environment = try Environment(name: "application")
    try environment
      .define(
        environment.bean(Maker.self, id: "maker", abstract: true, factory: { Maker(end: end, returned: returned) })
          .target(Hanging.self).releaseLimit(.milliseconds(1))
      )
      .define(environment.bean(Maker.self, id: "product", parent: "maker"))
    try environment.startup()
    let fault = try requireFault(.destructionFailed, path: ["Hanging 'product'"]) { try shutDown(environment) }
    #expect(fault.message.contains("within its limit of 0.001 seconds"))
    end.open()
    try returned.wait()
  }

  @Test("An asynchronous release that never returns is abandoned")
  func hangsAsynchronously() async throws {
    let latch = Latch()
    let environment = try Environment(name: "application")
    try define("a", in: environment)
    try environment.define(
      environment.bean(Connection.self, factory: { (_: Item) in Connection(latch) }).releaseLimit(.milliseconds(1)))
    try environment.startup()
    let fault = await #expect(throws: EnvironmentError.self) { try await environment.shutdown() }
    #expect(
      fault?.message
        == "Connection in 'application' has been abandoned: its release did not end within its limit of 0.001 seconds")
    #expect(journal.entries == ["a"])
    latch.open()
    try await environment.shutdown()
  }

  @Test("A synchronous release that hangs does not block an asynchronous shutdown")
  func hangsInAnAsynchronousShutdown() async throws {
    let environment = try environment(hanging: ["b"])
    try await requireAwaitedFault(path: ["Item 'b'"]) { try await environment.shutdown() }
    #expect(journal.entries == ["c", "a"])
    end.open()
  }

  @Test("A release that ends in time is like any other, and its error is reported")
  func endsInTime() async throws {
    for isAsynchronous in [false, true] {
      let environment = try Environment(name: "application")
      let journal = Journal()
      for id in ["a", "b", "c"] {
        try environment.define(
          environment.bean(Item.self, id: id, factory: { Item() })
            .onDestroy { _ in
              journal.note(id)
              if id == "b" { throw Boom() }
            }
            .releaseLimit(.seconds(10_000)))
      }
      try environment.startup()
      let fault = await #expect(throws: EnvironmentError.self) {
        if isAsynchronous { try await environment.shutdown() } else { try shutDown(environment) }
      }
      #expect(fault?.causes == [Boom()])
      #expect(journal.entries == ["c", "b", "a"])
    }
  }

  @Test("finish observes the limit, too: a request has been released when it returns")
  func finishOfARequest() throws {
    let application = try Environment(name: "application")
    let (journal, end) = (journal, end)
    let requests = try application.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Item.self, id: "a", factory: { Item() }).onDestroy { _ in journal.note("a") })
      try request.define(
        request.bean(Other.self, factory: { (_: Item) in Other() }).onDestroy { _ in try end.wait() }
          .releaseLimit(.milliseconds(1)))
    }
    let request = try requests.build(1)
    _ = try request.getBean(Other.self)
    request.finish()
    #expect(journal.entries == ["a"])
    let fault = try requireFault(.destructionFailed) { try request.shutdown() as Void }
    #expect(fault.message.hasPrefix("Other in 'request' has been abandoned"))
    try application.shutdown() as Void
    end.open()
  }

  @Test("Beans of a user's scope observe the limit, at any end of the scope", arguments: [true, false])
  func usersScope(isEndedEarly: Bool) throws {
    let environment = try Environment(name: "application")
    let scope = Shift(name: "shift")
    try environment.registerScope(scope)
    let (journal, end) = (journal, end)
    try environment.define(
      environment.bean(Item.self, id: "a", factory: { Item() }).onDestroy { _ in journal.note("a") }.scope("shift"))
    try environment.define(
      environment.bean(Other.self, factory: { (_: Item) in Other() }).onDestroy { _ in try end.wait() }
        .releaseLimit(.milliseconds(1)).scope("shift"))
    _ = try environment.getBean(Other.self)
    if isEndedEarly {
      scope.finish()
      #expect(journal.entries == ["a"])
    }
    let fault = try requireFault(.destructionFailed) { try environment.shutdown() as Void }
    #expect(fault.message.hasPrefix("Other in '\(isEndedEarly ? "shift" : "application")' has been abandoned"))
    #expect(journal.entries == ["a"])
    end.open()
  }

  @Test("A scope that keeps beans by itself and destroys them gets the failure")
  func destroy() throws {
    let environment = try Environment(name: "application")
    let (end, item) = (end, Item())
    let bean = environment.bean(item).onDestroy { _ in try end.wait() }.releaseLimit(.milliseconds(1))
    try requireFault(.destructionFailed, message: "has been abandoned") { try bean.destroy(item) }
    end.open()
  }

  @Test("A template passes its limit on, and a declaration that inherits from it may set another one")
  func templates() throws {
    let environment = try Environment(name: "application")
    let end = end
    try environment.define(environment.bean(Item.self, id: "template", abstract: true).releaseLimit(.milliseconds(1)))
    try environment.define(environment.bean(Other.self, id: "other", abstract: true).releaseLimit(.milliseconds(1)))
    try environment.define(
      environment.bean(Item.self, id: "a", parent: "template", factory: { Item() }).onDestroy { _ in try end.wait() })
    try environment.define(
      environment.bean(Other.self, parent: "other", factory: { Other() }).releaseLimit(.seconds(10_000)))
    try environment.startup()
    try requireFault(.destructionFailed, path: ["Item 'a'"]) { try environment.shutdown() as Void }
    end.open()
  }

  @Test("A shutdown inside a release that has a limit does not wait for itself")
  func inside() throws {
    let environment = try Environment(name: "application")
    try environment.define(
      environment.bean(Item.self, factory: { Item() }).onDestroy { [unowned environment] _ in
        try environment.shutdown() as Void
        try environment.shutdown(within: .seconds(10_000)) as Void
      }.releaseLimit(.seconds(10_000)))
    try environment.startup()
    try environment.shutdown() as Void
    #expect(environment.isReleased)
  }

  @Test("A prototype is not released, even if it has a limit")
  func prototypes() throws {
    let environment = try Environment(name: "application")
    let journal = journal
    try environment.define(
      environment.bean(Item.self, factory: { Item() }).onDestroy { _ in journal.note("released") }
        .scope("prototype").releaseLimit(.milliseconds(1)))
    _ = try environment.getBean(Item.self)
    try environment.shutdown() as Void
    #expect(journal.entries == [])
  }

  @Test("A limit that is not above zero is a fault of the declaration", arguments: [Duration.zero, .seconds(-1)])
  func notAboveZero(limit: Duration) throws {
    let environment = try Environment(name: "application")
    try environment.define(environment.bean(Item.self, factory: { Item() }).releaseLimit(limit))
    let fault = try requireFault(.invalidDeclaration) { try environment.startup() }
    #expect(fault.message == "releaseLimit has to be above zero, and is \(limit)")
    #expect(fault.origin != nil)
  }

  @Test("A limit retains nothing, nor does an abandoned release after it has returned")
  func retention() throws {
    weak var gone: Environment?
    func run() throws {
      let environment = try environment(hanging: ["b"])
      gone = environment
      try requireFault(.destructionFailed) { try environment.shutdown() as Void }
      end.open()
      try returned.wait()
    }
    try run()
    try waitUntil("the end of the environment") { gone == nil }
  }
}

private final class Item: Sendable {}
private final class Other: Sendable {}
private final class Shift: AbstractBeanScope, @unchecked Sendable {}  // adds nothing

private final class Connection: AsyncDisposableBean, Sendable {
  private let latch: Latch
  init(_ latch: Latch) { self.latch = latch }
  func preDestroy() async throws { await latch.wait() }
}

/// A product whose release hangs.
private final class Hanging: DisposableBean {
  private let end: Gate, returned: Gate

  init(end: Gate, returned: Gate) { (self.end, self.returned) = (end, returned) }

  func preDestroy() throws {
    defer { returned.open() }
    try end.wait()
  }
}

private final class Maker: FactoryBean {
  private let end: Gate, returned: Gate

  init(end: Gate, returned: Gate) { (self.end, self.returned) = (end, returned) }

  func create() throws -> Hanging { Hanging(end: end, returned: returned) }
}
