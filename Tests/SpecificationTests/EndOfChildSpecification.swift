import Beans
import TestSupport
import Testing

/// Each cell of the table in the article "Shutting down": the end of a child, the outcome for its beans, the result for
/// the caller, and the time of the release.
@Suite("The end of a child, and the body that runs in it", .timeLimit(.minutes(20)))
struct EndOfChildSpecification {
  private let journal = Journal()

  private struct Shop {
    let shop: Environment
    let sessions: EnvironmentFactory<String>
    let requests: EnvironmentFactory<Int>
  }

  /// A shop whose requests have a unit of work. Its second step comes after a wait.
  private func shop() throws -> Shop {
    let (shop, journal) = (try Environment(name: "shop"), journal)
    try shop.define(Pool.self, factory: Pool.init) { $0.onDestroy { _ in journal.note("pool closed") } }
    let sessions = try shop.childFactory("session", seed: String.self) { session in
      try session.define(Visit.self, factory: Visit.init) {
        $0.onDestroy { _, outcome in journal.note("visit \(outcome.word)") }
      }
    }
    let requests = try sessions.childFactory("request", seed: Int.self) { request in
      try request.define(Work.self, factory: Work.init(_:_:)) {
        $0.onDestroy { work, outcome in
          switch outcome {
          case .completed: journal.note("commit \(work.steps)")
          case .failed(let error): journal.note("rollback: \(error.text)")
          }
        }
      }
    }
    return Shop(shop: try shop.startup(), sessions: sessions, requests: requests)
  }

  /// Runs a body of two steps, and ends the child by `end` between them.
  private func interrupted(
    _ shop: Shop, in session: Environment, _ end: @escaping @Sendable (Environment) async -> Void
  ) async throws -> String {
    try await shop.requests.withChild(1, in: session) { child in
      let work = try child.getBean(Work.self)
      work.add()
      await end(child)
      work.add()
      return "done"
    }
  }

  /// Runs `body` outside of the calling task, so that it does not inherit the current environment.
  private static func outside(_ body: @escaping @Sendable () async -> Void) async {
    await Task.detached(operation: body).value
  }

  // MARK: the body decides

  @Test("An end from outside refuses lookups, and the body that runs decides the outcome", arguments: Graceful.allCases)
  private func endFromOutside(end: Graceful) async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    let result = try await interrupted(shop, in: session) { child in
      await Self.outside {
        switch end {
        case .child: child.finish()
        case .childAsFailed: child.finish(failing: Boom())
        case .session: session.finish()
        case .sessionAsFailed: session.finish(failing: Boom())
        case .application: shop.shop.finish()
        }
      }
      #expect(throws: EnvironmentError.self) { try child.getBean(Int.self) }
      #expect(journal.entries.isEmpty)
    }
    #expect(result == "done")
    #expect(journal.entries.first == "commit 2")
    try await shop.shop.shutdown()
    #expect(journal.entries.last == "pool closed")
  }

  @Test("A body that throws after an end from outside rolls back")
  func bodyThrowsAfterTheEnd() async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    await #expect(throws: Boom.self) {
      try await shop.requests.withChild(1, in: session) { child in
        try child.getBean(Work.self).add()
        await Self.outside { session.finish() }
        throw Boom()
      }
    }
    #expect(journal.entries == ["rollback: boom"])
    try await shop.shop.shutdown()
  }

  @Test("A body whose task is cancelled decides the outcome: it completes if it returns")
  func cancelled() async throws {
    let (shop, journal) = (try shop(), journal)
    let (entered, release) = (Latch(), Latch())
    let task = Task {
      try await shop.sessions.withChild("s") { session in
        try await shop.requests.withChild(1, in: session) { child in
          try child.getBean(Work.self).add()
          entered.open()
          await Task.detached { await release.wait() }.value
          #expect(Task.isCancelled)
        }
      }
    }
    await entered.wait()
    task.cancel()
    release.open()
    try await task.value
    #expect(journal.entries == ["commit 1"])
    try await shop.shop.shutdown()
  }

  @Test("A shutdown waits for a body that runs")
  func shutdownWaits() async throws {
    let (shop, journal) = (try shop(), journal)
    let (entered, release) = (Latch(), Latch())
    let request = Task {
      try await shop.sessions.withChild("s") { session in
        _ = try session.getBean(Visit.self)
        return try await shop.requests.withChild(1, in: session) { child in
          try child.getBean(Work.self).add()
          entered.open()
          await release.wait()
          try #require(journal.entries.isEmpty)
          return "done"
        }
      }
    }
    await entered.wait()
    let end = Task.detached {
      try await shop.shop.shutdown()
      journal.note("returned")
    }
    while !shop.shop.isFinished { await Task.yield() }
    release.open()
    #expect(try await request.value == "done")
    try await end.value
    #expect(journal.entries == ["commit 1", "visit completed", "pool closed", "returned"])
  }

  @Test("A synchronous shutdown waits for a body that runs on another thread")
  func synchronousShutdownWaits() throws {
    let (shop, journal) = (try shop(), journal)
    let gate = ThreadGate()
    let request = BackgroundThread {
      try shop.sessions.withChild("s") { session in
        try shop.requests.withChild(1, in: session) { child in
          try child.getBean(Work.self).add()
          try gate.pass()
          return journal.entries
        }
      }
    }
    try gate.arrival()
    let end = BackgroundThread { try shop.shop.shutdown() }
    try end.waitUntilAsleep()
    gate.open()
    #expect(try request.value() == [])
    try end.value()
    #expect(journal.entries == ["commit 1", "pool closed"])
  }

  @Test("An end that the body itself begins only begins", arguments: Inner.allCases)
  private func endFromInside(end: Inner) async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    let result = try await shop.requests.withChild(1, in: session) { child in
      let work = try child.getBean(Work.self)
      switch end {
      case .finish: child.finish()
      case .shutdown: try await child.shutdown()
      case .shutdownInTime: try await child.shutdown(within: .seconds(10_000))
      case .shutdownOfTheSession: try await session.shutdown()
      case .shutdownOfTheApplication: try await shop.shop.shutdown()
      }
      #expect(journal.entries.isEmpty)
      work.add()
      return "done"
    }
    #expect(result == "done")
    #expect(journal.entries.first == "commit 1")
    try await shop.shop.shutdown()
  }

  @Test("A body that fails its child rolls back, and returns its result")
  func failedFromInside() async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    let result = try await shop.requests.withChild(1, in: session) { child in
      try child.getBean(Work.self).add()
      child.finish(failing: Boom())
      #expect(journal.entries.isEmpty)
      return "refused"
    }
    #expect(result == "refused")
    #expect(journal.entries == ["rollback: boom"])
    try await shop.shop.shutdown()
  }

  // MARK: an end that cannot wait

  @Test("A limit that is over abandons a body, rolls back, and names the body; its withChild throws")
  func limit() async throws {
    let (shop, journal) = (try shop(), journal)
    let (entered, release) = (Latch(), Latch())
    let request = Task {
      try await shop.sessions.withChild("s") { session in
        try await shop.requests.withChild(1, in: session, file: "Shop.swift", line: 12) { child in
          try child.getBean(Work.self).add()
          entered.open()
          await release.wait()
          return "done"
        }
      }
    }
    await entered.wait()
    let fault = await #expect(throws: EnvironmentError.self) {
      try await shop.shop.shutdown(within: .milliseconds(300))
    }
    #expect(fault.map { "\($0)".contains("Shop.swift:12") } == true, "\(fault.map { "\($0)" } ?? "none")")
    #expect(journal.entries.first?.hasPrefix("rollback: ") == true, "\(journal.entries)")
    #expect(journal.entries.first?.contains("limit") == true, "\(journal.entries)")
    #expect(journal.entries.last == "pool closed")
    release.open()
    try await requireAwaitedFault(.finished, message: "limit") { try await request.value }
    #expect(journal.entries.count { $0.hasPrefix("rollback") } == 1)
  }

  @Test("A body that returns within the limit completes")
  func withinTheLimit() async throws {
    let (shop, journal) = (try shop(), journal)
    let (entered, release) = (Latch(), Latch())
    let request = Task {
      try await shop.sessions.withChild("s") { session in
        try await shop.requests.withChild(1, in: session) { child in
          try child.getBean(Work.self).add()
          entered.open()
          await release.wait()
        }
      }
    }
    await entered.wait()
    let end = Task.detached { try await shop.shop.shutdown(within: .seconds(600)) }
    while !shop.shop.isFinished { await Task.yield() }
    #expect(journal.entries.isEmpty)
    release.open()
    try await request.value
    try await end.value
    #expect(journal.entries == ["commit 1", "pool closed"])
  }

  // MARK: handles

  @Test("A handle that a parent ends is failed, and its own end throws the name of the end")
  func handleEndedByTheParent() async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    let handle = try shop.requests.open(1, in: session)
    try handle.environment.getBean(Work.self).add()
    session.finish()
    #expect(journal.entries.first?.hasPrefix("rollback: ") == true, "\(journal.entries)")
    #expect(journal.entries.first?.contains("'session'") == true, "\(journal.entries)")
    try await requireAwaitedFault(.finished, message: "'session'") { try await handle.end() }
    let late = await #expect(throws: EnvironmentError.self) {
      try await handle.end { _ in
        await Task.yield()
        Issue.record("the body runs without its beans")
      }
    }
    #expect(late?.code == .finished)
    try await shop.shop.shutdown()
  }

  @Test("The body of withCurrent keeps the beans of a handle that a parent ends")
  func currentBody() async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    let handle = try shop.requests.open(1, in: session)
    try await handle.withCurrent { child in
      try child.getBean(Work.self).add()
      await Self.outside { session.finish() }
      #expect(journal.entries.isEmpty)
    }
    #expect(journal.entries.first?.hasPrefix("rollback: ") == true, "\(journal.entries)")
    try await shop.shop.shutdown()
  }

  @Test("The body of end(after:) decides the outcome, also when a parent ends meanwhile")
  func lastBody() async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    let handle = try shop.requests.open(1, in: session)
    try await handle.end { child in
      try child.getBean(Work.self).add()
      await Self.outside { session.finish() }
      #expect(journal.entries.isEmpty)
    }
    #expect(journal.entries == ["commit 1"])
    try await shop.shop.shutdown()
  }

  // MARK: children without a body

  @Test("A child that is opened without a body completes when its parent ends")
  func built() async throws {
    let (shop, journal) = (try shop(), journal)
    let session = try shop.sessions.build("s")
    try shop.requests.build(1, in: session).getBean(Work.self).add()
    session.finish()
    #expect(journal.entries == ["commit 1"])
    try await shop.shop.shutdown()
  }

  // MARK: failures of releases

  @Test("withChild throws the failure of a release, also after an end from outside")
  func failedRelease() async throws {
    let shop = try Environment(name: "shop")
    let requests = try shop.childFactory("request", seed: Int.self) {
      try $0.define(Visit.self, factory: Visit.init) { $0.onDestroy { _ in throw Boom() } }
    }
    let fault = await #expect(throws: EnvironmentError.self) {
      try await requests.withChild(1) { child in
        _ = try child.getBean(Visit.self)
        await Self.outside { child.finish() }
      }
    }
    #expect(fault?.code == .destructionFailed)
    try? await shop.shutdown()
  }
}

private enum Graceful: CaseIterable, Sendable { case child, childAsFailed, session, sessionAsFailed, application }
private enum Inner: CaseIterable, Sendable {
  case finish, shutdown, shutdownInTime, shutdownOfTheSession, shutdownOfTheApplication
}

private final class Pool: Sendable {}
private final class Visit: Sendable {}

private final class Work: Sendable {
  private let counter = Counter()
  init(_ pool: Pool, _ number: Int) {}
  func add() { counter.increment() }
  var steps: Int { counter.value }
}

extension ScopeOutcome {
  fileprivate var word: String { if case .completed = self { "completed" } else { "failed" } }
}

extension Error {
  fileprivate var text: String { self is Boom ? "boom" : "\(self)" }
}
