import Beans
import BeansLogging
import Testing

@Suite("Handles of children that outlive the call that opened them", .timeLimit(.minutes(20)))
struct ChildHandleSpecification {
  @FreshEnvironment("shop") private var shop
  private let journal = Journal()

  private func requests(
    of shop: Environment, _ declare: (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Int> {
    let journal = journal
    return try shop.childFactory("request", seed: Int.self) { request in
      try request.define(Part.self, factory: Part.init) { $0.onDestroy { _, outcome in journal.note(outcome.text) } }
      try declare(request)
    }
  }

  @Test("A handle keeps its child open, and makes it current while a body runs")
  func current() async throws {
    let request = try requests(of: shop).open(5)
    let number = try await request.withCurrent { child in
      #expect(Environment.current === child)
      #expect(child === request.environment)
      _ = try child.getBean(Part.self)
      return try child.getBean(Int.self)
    }
    #expect(number == 5)
    #expect(Environment.current == nil)
    #expect(throws: Boom.self) { try request.withCurrent { _ in throw Boom() } }
    let isCurrent = await request.withCurrent { child in
      await Task.yield()
      async let inTask = Environment.current
      return await inTask === child
    }
    #expect(isCurrent)
    #expect(journal.entries.isEmpty && !request.environment.isFinished)
    try await request.end()
    try requireFault(.finished) { try request.environment.getBean(Part.self) }
    #expect(journal.entries == ["completed"])
    try await shop.shutdown()
  }

  @Test("The first end decides the outcome, and a later one has no effect")
  func outcome() async throws {
    let requests = try requests(of: shop)
    let first = try requests.open(1)
    _ = try first.environment.getBean(Part.self)
    try Self.fail(first)
    try Self.end(first)
    try await first.end()
    #expect(journal.entries == ["failed: boom"])
    let second = try requests.open(2)
    _ = try second.environment.getBean(Part.self)
    try Self.end(second)
    try await second.end(failing: Boom())
    #expect(journal.entries == ["failed: boom", "completed"])
    try await shop.shutdown()
  }

  @Test("end(after:) ends the child when its body has returned or thrown, with its outcome")
  func endAfter() async throws {
    let requests = try requests(of: shop)
    let first = try requests.open(1)
    let written = try await first.end { child in
      await Task.yield()
      _ = try Environment.current?.getBean(Part.self)
      #expect(journal.entries.isEmpty && Environment.current === child)
      return "written"
    }
    #expect(written == "written")
    let second = try requests.open(2)
    await #expect(throws: Boom.self) {
      try await second.end { child in
        await Task.yield()
        _ = try child.getBean(Part.self)
        throw Boom()
      }
    }
    try Self.endAfterBody(try requests.open(3))
    #expect(journal.entries == ["completed", "failed: boom", "completed"])
    try await shop.shutdown()
  }

  @Test("An end by hand throws the failures of releases")
  func failures() async throws {
    let requests = try requests(of: shop) {
      try $0.define(Other.self, factory: Other.init) { $0.onDestroy { _ in throw Boom() } }
    }
    let first = try requests.open(1)
    _ = try first.environment.getBean(Other.self)
    try requireFault(.destructionFailed) { try Self.end(first) }
    let second = try requests.open(2)
    _ = try second.environment.getBean(Other.self)
    await #expect(throws: EnvironmentError.self) { try await second.end() }
    try? await shop.shutdown()
  }

  @Test("A dropped handle ends its child as failed, and awaits asynchronous releases")
  func dropped() async throws {
    let (journal, gate) = (journal, AsyncGate())
    let requests = try requests(of: shop) {
      try $0.define(Other.self, factory: Other.init) {
        $0.onDestroy { _ in
          await Task.yield()
          journal.note("closed")
          gate.arrive()
        }
      }
    }
    try Self.drop(requests)
    await gate.arrivals(1)
    try await shop.shutdown()
    #expect(journal.entries.count == 2 && journal.entries.first == "closed")
    let outcome = try #require(journal.entries.last)
    #expect(outcome.hasPrefix("failed: finished: environment 'request' has been finished: its handle, opened at "))
    #expect(outcome.contains(", was dropped"))
  }

  @Test("The log names the place at which the child of a dropped handle was opened")
  func log() async {
    await #expect(processExitsWith: .success) {
      let lines = Lines(name: "lines", formatter: .level() + " " + .message())
      let manager = LogManager()
      manager.registerLogger("", level: .warn, logs: [lines])
      let shop = try Environment(name: "shop")
      let requests = try shop.childFactory("request", seed: Int.self)
      try requests.open(1, file: "Shop.swift", line: 7).withCurrent { _ in }
      try ChildHandleSpecification.end(try requests.open(2))
      try shop.shutdown()
      #expect(
        lines.all == [
          "WARN 'request' ends because its handle was dropped; Shop.swift:7 opened it: call end() of the handle"
        ])
    }
  }

  @Test("The end of the parent fails the child of an open handle, whose end() throws the reason")
  func parentEnds() async throws {
    let request = try requests(of: shop).open(1)
    _ = try request.environment.getBean(Part.self)
    try await shop.shutdown()
    try await requireAwaitedFault(.finished, message: "'shop' has been finished") { try await request.end() }
    #expect(journal.entries.count == 1)
    #expect(journal.entries.first?.hasPrefix("failed: finished: ") == true)
  }

  @Test("A handle of a nested factory opens in the given parent, and a refused child has no handle")
  func nested() throws {
    let sessions = try shop.childFactory("session", seed: String.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    let session = try sessions.open("s")
    let request = try requests.open(1, in: session.environment)
    #expect(request.environment.parent === session.environment)
    try requireFault(.scopeNotActive, message: "none is current") { try requests.open(2) }
    try session.withCurrent { _ in try requests.open(3).end() }
    try session.end()
    #expect(request.environment.isFinished)
    try shop.shutdown()
    try requireFault(.finished) { try sessions.open("t") }
  }

  // Synchronous forms, which an asynchronous function cannot call by their names.

  private static func end(_ handle: ChildHandle) throws { try handle.end() }
  private static func fail(_ handle: ChildHandle) throws { try handle.end(failing: Boom()) }
  private static func endAfterBody(_ handle: ChildHandle) throws {
    #expect(try handle.end { try $0.getBean(Int.self) + ($0.getBean(Part.self).number) } == 3)
  }
  private static func drop(_ requests: EnvironmentFactory<Int>) throws {
    let handle = try requests.open(1)
    try handle.withCurrent {
      _ = try $0.getBean(Part.self)
      _ = try $0.getBean(Other.self)
    }
  }
}

private final class Part: Sendable { let number = 0 }
private final class Other: Sendable {}

extension ScopeOutcome {
  fileprivate var text: String {
    switch self {
    case .completed: "completed"
    case .failed(is Boom): "failed: boom"
    case .failed(let error): "failed: \(error)"
    }
  }
}
