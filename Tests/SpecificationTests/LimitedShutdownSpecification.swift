import Beans
import TestSupport
import Testing

/// A release hangs until the test has seen its result, so only abandoned releases depend on the time.
@Suite("A shutdown with a limit", .timeLimit(.minutes(20)))
struct LimitedShutdownSpecification {
  private let journal = Journal()
  /// Notes the releases that hang, when they begin.
  private let hung = Journal()
  private let end = Gate("end of hanging releases")

  private func define(_ ids: [String], in environment: Environment, hanging: Set<String> = []) throws {
    let (journal, hung, end) = (journal, hung, end)
    for id in ids {
      try environment.define(
        environment.bean(Item.self, id: id, factory: { Item() })
          .onDestroy { _ in
            if hanging.contains(id) {
              hung.note(id)
              try end.wait()
            }
            journal.note(id)
          })
    }
  }

  private func environment(hanging: Set<String> = []) throws -> Environment {
    let environment = try Environment(name: "application")
    try define(["a", "b", "c"], in: environment, hanging: hanging)
    return try environment.startup()
  }

  /// Calls the synchronous form, from any context.
  private func shutDown(_ environment: Environment) throws { try environment.shutdown(within: long) }

  private func waitForEnd(of environment: Environment) throws {
    let released = Gate("end of '\(environment.name)'")
    environment.whenFinished { released.open() }
    try released.wait()
  }

  /// A limit that is long enough for all releases that do not hang.
  private let long = Duration.seconds(10_000)

  @Test("An end in time equals that of any shutdown")
  func inTime() async throws {
    for isAsynchronous in [false, true] {
      let journal = Journal()
      let application = try Environment(name: "application")
      let child = try Environment(name: "child", parent: application)
      for (environment, id) in [(application, "a"), (application, "b"), (child, "x")] {
        try environment.define(
          environment.bean(Item.self, id: id, factory: { Item() }).onDestroy { _ in
            journal.note(id)
            if id == "b" { throw Boom() }
          })
      }
      try child.startup()
      let fault = await #expect(throws: EnvironmentError.self) {
        if isAsynchronous {
          try await application.shutdown(within: long)
        } else {
          try shutDown(application)
        }
      }
      #expect(fault?.causes == [Boom()])
      #expect(journal.entries == ["x", "b", "a"])
      #expect(application.isReleased)
      try shutDown(application)
      try await application.shutdown(within: long)
    }
  }

  @Test("A release that hangs is named with its place and its time, and everything else is released")
  func hangs() throws {
    let environment = try environment(hanging: ["c"])
    let fault = try requireFault(.destructionFailed) { try environment.shutdown(within: .milliseconds(400)) as Void }
    #expect("\(fault)".contains("Item 'c' in 'application' has been abandoned: its release has been running for 0."))
    #expect("\(fault)".contains("LimitedShutdownSpecification.swift:"))
    try waitForEnd(of: environment)
    #expect(journal.entries == ["b", "a"])
    end.open()
    try waitUntil("the return of the abandoned release") { journal.entries == ["b", "a", "c"] }
  }

  @Test("An asynchronous release that never returns is abandoned")
  func hangsAsynchronously() async throws {
    let latch = Latch()
    let environment = try Environment(name: "application")
    try define(["a"], in: environment)
    try environment.define(environment.bean(Connection.self, factory: { (_: Item) in Connection(latch) }))
    try environment.startup()
    let fault = await #expect(throws: EnvironmentError.self) {
      try await environment.shutdown(within: .milliseconds(400))
    }
    #expect("\(fault as Any)".contains("Connection in 'application' has been abandoned"))
    await withCheckedContinuation { continuation in environment.whenFinished { continuation.resume() } }
    #expect(journal.entries == ["a"])
    latch.open()
  }

  @Test("A synchronous release that hangs does not block an asynchronous shutdown")
  func hangsInAnAsynchronousShutdown() async throws {
    let environment = try environment(hanging: ["b"])
    let fault = await #expect(throws: EnvironmentError.self) {
      try await environment.shutdown(within: .milliseconds(400))
    }
    #expect("\(fault as Any)".contains("Item 'b' in 'application' has been abandoned"))
    await withCheckedContinuation { continuation in environment.whenFinished { continuation.resume() } }
    #expect(journal.entries == ["c", "a"])
    end.open()
  }

  @Test("An asynchronous release is a failure of a synchronous shutdown here, too, and a task runs it")
  func asynchronousInASynchronousOne() async throws {
    let latch = Latch()
    let environment = try Environment(name: "application")
    try define(["a"], in: environment)
    try environment.define(
      environment.bean(Connection.self, factory: { (_: Item) in Connection(latch) })
        .onDestroy { [journal] _ in journal.note("connection") })
    try environment.startup()
    let fault = try requireFault(.destructionFailed) { try shutDown(environment) }
    #expect(fault.message.hasPrefix("Connection is released asynchronously"))
    #expect(journal.entries == ["a"])
    latch.open()
    try waitUntil("the release in the task") { journal.entries == ["a", "connection"] }
  }

  @Test("A release that hangs in a child does not prevent the release of the rest of the tree")
  func hangsInAChild() throws {
    let application = try Environment(name: "application")
    let (child, sibling) = (
      try Environment(name: "child", parent: application), try Environment(name: "sibling", parent: application)
    )
    try define(["a"], in: application)
    try define(["x", "y"], in: child, hanging: ["y"])
    try define(["z"], in: sibling)
    try child.startup()
    try sibling.startup()
    let fault = try requireFault(.destructionFailed) { try application.shutdown(within: .milliseconds(400)) as Void }
    #expect("\(fault)".contains("Item 'y' in 'child' has been abandoned"))
    try waitForEnd(of: application)
    #expect(journal.entries.sorted() == ["a", "x", "z"])
    #expect(journal.entries.last == "a")
    try waitForEnd(of: child)
    try waitForEnd(of: sibling)
    end.open()
  }

  @Test("Several releases may hang: each that hangs at the end of the time is named with the remaining beans")
  func severalHang() throws {
    var (environment, fault): (Environment, EnvironmentError)
    var attempts = 0
    // The second release has the last tenth of a second; a thread that has to be woken may miss it.
    repeat {
      attempts += 1
      environment = try self.environment(hanging: ["b", "c"])
      fault = try requireFault(.destructionFailed) { try environment.shutdown(within: .milliseconds(400)) as Void }
      #expect("\(fault)".contains("Item 'c' in 'application' has been abandoned"))
    } while attempts < 100 && !"\(fault)".contains("it waits for Item 'b'")
    #expect("\(fault)".contains("'application' was not released within 0.4 seconds: it waits for Item 'b'"))
    #expect("\(fault)".contains("left: 'application' with Item 'a'"))
    try waitForEnd(of: environment)
    #expect(Set(journal.entries) == ["a"])
    let later = try requireFault(.destructionFailed) { try environment.shutdown() as Void }
    #expect(later.message.hasPrefix("Item 'b' in 'application' has been abandoned"))
    try environment.shutdown() as Void
    end.open()
  }

  @Test("The end waits for a lookup that is under way; its bean is released when it has ended")
  func lookupUnderWay() throws {
    let environment = try Environment(name: "application")
    let (begun, end, journal) = (Gate("begin of the lookup"), end, journal)
    try environment.define(
      environment.bean(Item.self, lazy: true) { () throws -> Item in
        begun.open()
        try end.wait()
        return Item()
      }.onDestroy { _ in journal.note("released") })
    try environment.startup()
    let lookup = BackgroundThread { _ = try environment.getBean(Item.self) }
    try begun.wait()
    let fault = try requireFault(.destructionFailed) { try environment.shutdown(within: .milliseconds(1)) as Void }
    #expect(fault.message.contains("it waits for 'application', which lookups still use"), "\(fault)")
    end.open()
    try lookup.value()
    try waitForEnd(of: environment)
    #expect(journal.entries == ["released"])
    try environment.shutdown() as Void
  }

  @Test("Lookups have ended when shutdown returns, however short the time", arguments: [Duration.zero, .seconds(-1)])
  func noTime(limit: Duration) throws {
    let environment = try environment()
    try? environment.shutdown(within: limit) as Void
    try requireFault(.finished) { try environment.getBean(Item.self, byId: "a") }
    try waitForEnd(of: environment)
    #expect(journal.entries == ["c", "b", "a"])
  }

  @Test("A shutdown from inside a release begins the end and does not wait for itself")
  func inside() throws {
    let environment = try Environment(name: "application")
    try environment.define(
      environment.bean(Item.self, factory: { Item() }).onDestroy { [unowned environment] _ in
        try environment.shutdown(within: .seconds(10_000)) as Void
      })
    try environment.startup()
    try environment.shutdown(within: long) as Void
    #expect(environment.isReleased)
  }

  @Test("A limited shutdown gives up beside another one that has begun, which continues to wait")
  func besideAnother() throws {
    let environment = try environment(hanging: ["b"])
    let other = BackgroundThread { try environment.shutdown() as Void }
    try waitUntil("the begin of the release") { hung.entries == ["b"] }
    let fault = try requireFault(.destructionFailed) { try environment.shutdown(within: .milliseconds(10)) as Void }
    #expect("\(fault)".contains("it waits for Item 'b' in 'application'"), "\(fault)")
    end.open()
    try other.value()
    #expect(journal.entries == ["c", "b", "a"])
  }

  @Test("Beans of a user's scope are released in their place, and one that hangs is abandoned")
  func usersScope() throws {
    let environment = try Environment(name: "application")
    try environment.registerScope(Shift(name: "shift"))
    let (journal, end) = (journal, end)
    try environment.define(
      environment.bean(Item.self, id: "a", factory: { Item() }).onDestroy { _ in journal.note("a") }.scope("shift"))
    try environment.define(
      environment.bean(Other.self, factory: { (_: Item) in Other() }).onDestroy { _ in try end.wait() }.scope("shift"))
    _ = try environment.getBean(Other.self)
    let fault = try requireFault(.destructionFailed) { try environment.shutdown(within: .milliseconds(400)) as Void }
    #expect("\(fault)".contains("Other in 'application' has been abandoned"))
    try waitForEnd(of: environment)
    #expect(journal.entries == ["a"])
    end.open()
  }

  @Test("A shutdown with a limit retains nothing")
  func retention() throws {
    weak var gone: Environment?
    func run() throws {
      let environment = try environment()
      gone = environment
      try environment.shutdown(within: long) as Void
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
