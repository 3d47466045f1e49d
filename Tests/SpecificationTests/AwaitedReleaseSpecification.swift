import Beans
import TestSupport
import Testing

@Suite("Releases that have to be awaited, and synchronous calls", .timeLimit(.minutes(20)))
struct AwaitedReleaseSpecification {
  private let journal = Journal()

  /// A shop whose requests have a unit of work that commits or rolls back asynchronously.
  private func shop(
    failing: Bool = false, gate: AsyncGate? = nil
  ) throws -> (shop: Environment, requests: EnvironmentFactory<Int>) {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop.define(Pool.self, factory: Pool.init) { $0.onDestroy { _ in journal.note("pool closed") } }
    let requests = try shop.childFactory("request", seed: Int.self) { request in
      try request.define(Work.self, factory: Work.init(_:)) {
        $0.onDestroy { _, outcome in
          await gate?.pass()
          await Task.yield()
          switch outcome {
          case .completed: journal.note("commit")
          case .failed: journal.note("rollback")
          }
          if failing { throw Boom() }
        }
      }
    }
    return (try shop.startup(), requests)
  }

  @Test("In asynchronous code withChild awaits the release, also if its body does not await")
  func withoutAwait() async throws {
    let (shop, requests) = try shop()
    let result = try await requests.withChild(1) { child in
      _ = try child.getBean(Work.self)
      return "done"
    }
    #expect(result == "done")
    #expect(journal.entries == ["commit"])
    try await shop.shutdown()
  }

  @Test("finish() hands an asynchronous release to a task, which the shutdown of the parent awaits")
  func finish() async throws {
    let gate = AsyncGate()
    let (shop, requests) = try shop(gate: gate)
    let child = try requests.build(1)
    _ = try child.getBean(Work.self)
    child.finish()
    await gate.arrivals(1)
    #expect(journal.entries.isEmpty)
    let end = Task { try await shop.shutdown() }
    gate.open()
    try await end.value
    #expect(journal.entries == ["commit", "pool closed"])
  }

  @Test(
    "The shutdown of the parent throws the failure of a release that was handed to a task", arguments: [true, false])
  func failure(isEarly: Bool) async throws {
    let gate = AsyncGate()
    let (shop, requests) = try shop(failing: true, gate: gate)
    let child = try requests.build(1)
    _ = try child.getBean(Work.self)
    child.finish()
    if isEarly {
      gate.open()
      await withCheckedContinuation { continuation in child.whenFinished { continuation.resume() } }
    }
    let end = Task { try await shop.shutdown() }
    if !isEarly {
      while !shop.isFinished { await Task.yield() }
      gate.open()
    }
    try await requireAwaitedFault(.destructionFailed) { try await end.value }
    #expect(journal.entries == ["commit", "pool closed"])
  }

  private static func withChildOfThread(
    _ requests: EnvironmentFactory<Int>, file: StaticString, line: UInt
  ) throws {
    try requests.withChild(1, file: file, line: line) { _ = try $0.getBean(Work.self) }
  }

  @Test("A synchronous withChild that meets an asynchronous release rolls back, and names its call and the remedy")
  func synchronousWithChild() async throws {
    let (shop, requests) = try shop()
    let fault = try requireFault(.destructionFailed) {
      try Self.withChildOfThread(requests, file: "Shop.swift", line: 12)
    }
    #expect("\(fault)".contains("Shop.swift:12"), "\(fault)")
    #expect("\(fault)".contains("try await"), "\(fault)")
    try await shop.shutdown()
    #expect(journal.entries == ["rollback", "pool closed"])
  }

  private static func endAfter(_ handle: ChildHandle) throws {
    try handle.end { _ = try $0.getBean(Work.self) }
  }

  private static func end(_ handle: ChildHandle) throws { try handle.end() }

  @Test("A synchronous end of a handle that meets an asynchronous release rolls back, and releases in a task")
  func synchronousHandle() async throws {
    let (shop, requests) = try shop()
    try requireFault(.destructionFailed) { try Self.endAfter(try requests.open(1)) }
    let second = try requests.open(2)
    _ = try second.environment.getBean(Work.self)
    try requireFault(.destructionFailed) { try Self.end(second) }
    try await shop.shutdown()
    #expect(journal.entries.sorted() == ["pool closed", "rollback", "rollback"])
    #expect(journal.entries.last == "pool closed")
  }

  private static func shutDown(_ environment: Environment) throws { try environment.shutdown() }

  @Test("A synchronous shutdown that meets an asynchronous release throws an error that names it, and loses no release")
  func synchronousShutdown() async throws {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    let released = AsyncGate()
    try shop.define(Pool.self, factory: Pool.init) {
      $0.onDestroy { _ in
        await Task.yield()
        journal.note("pool closed")
        released.arrive()
      }
    }
    try shop.startup()
    let fault = try requireFault(.destructionFailed) { try Self.shutDown(shop) }
    #expect("\(fault)".contains("Pool"))
    await released.arrivals(1)
    #expect(journal.entries == ["pool closed"])
  }
}

private final class Pool: Sendable {}
private final class Work: Sendable { init(_ pool: Pool) {} }
