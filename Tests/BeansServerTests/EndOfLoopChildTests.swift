import Beans
import BeansEventLoop
import BeansServer
import BeansSessions
import TestSupport
import Testing

@Suite("The end of a child on a loop, and the body that runs in it", .timeLimit(.minutes(20)))
struct EndOfLoopChildTests {
  private let journal = Journal()
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  private func children(
    _ scope: String = "request", failing: Bool = false, _ object: @escaping @Sendable () -> LoopScope
  ) throws -> EnvironmentFactory<Int> {
    let journal = journal
    return try application.childFactory(scope, seed: Int.self) {
      try $0.define(Transaction.self, factory: Transaction.init) {
        $0.onDestroy { _, outcome in
          switch outcome {
          case .completed: journal.note("commit")
          case .failed(let error): journal.note("rollback: \(error)")
          }
          if failing { throw Boom() }
        }
      }
    } scope: {
      object()
    }
  }

  private func waitForEnd(of child: Environment) async {
    await withCheckedContinuation { continuation in child.whenFinished { continuation.resume() } }
  }

  @Test("A deadline that passes while a body runs rolls back at once, and withChild throws its name")
  func deadlineWithABody() async throws {
    let thread = try EventLoopThread(name: "loop")
    let loop = thread.loop
    let requests = try children { RequestScope(loop: loop, deadline: .milliseconds(20)) }
    let fault = await #expect(throws: EnvironmentError.self) {
      try await requests.withChild(1) { child in
        _ = try child.getBean(Transaction.self)
        await waitForEnd(of: child)
        #expect(journal.entries.count == 1)
        return "done"
      }
    }
    #expect(fault?.code == .finished)
    #expect(fault?.message.contains("deadline") == true, "\(fault.map { "\($0)" } ?? "none")")
    #expect(journal.entries.count == 1)
    #expect(journal.entries.first?.hasPrefix("rollback: ") == true)
    #expect(journal.entries.first?.contains("deadline") == true, "\(journal.entries)")
    try await application.shutdown()
    loop.stop()
    try thread.join()
  }

  @Test("A deadline that passes while no body runs rolls back")
  func deadlineWithoutABody() throws {
    try withLoops { loops in
      let loop = loops[0]
      let child = try children { RequestScope(loop: loop, deadline: .milliseconds(20)) }.build(1)
      _ = try child.getBean(Transaction.self)
      try child.waitForEnd()
      #expect(journal.entries.first?.contains("deadline") == true, "\(journal.entries)")
      let fault = try #require(throws: EnvironmentError.self) { try child.getBean(Transaction.self) }
      #expect(fault.message.contains("deadline"), "\(fault)")
    }
  }

  @Test("An idle time does not end a child in which a body runs, and completes one without")
  func idle() throws {
    try withLoops { loops in
      let loop = loops[0]
      let sessions = try children("session") { SessionScope(loop: loop, idleTimeout: .milliseconds(10)) }
      try sessions.withChild(1) { child in
        _ = try child.getBean(Transaction.self)
        let passed = Gate("five idle times")
        loop.execute { loop.schedule(after: .milliseconds(50)) { passed.open() } }
        try passed.wait()
        _ = try child.getBean(Transaction.self)
      }
      #expect(journal.entries == ["commit"])
      let child = try sessions.build(2)
      _ = try child.getBean(Transaction.self)
      try child.waitForEnd()
      #expect(journal.entries == ["commit", "commit"])
      let fault = try #require(throws: EnvironmentError.self) { try child.getBean(Transaction.self) }
      #expect(fault.message.contains("idle"), "\(fault)")
    }
  }

  private static func run(_ requests: EnvironmentFactory<Int>) throws -> String {
    try requests.withChild(1) {
      _ = try $0.getBean(Transaction.self)
      return "done"
    }
  }

  @Test("A synchronous withChild off the loop returns after the release on the loop")
  func synchronousOffTheLoop() throws {
    try withLoops { loops in
      let loop = loops[0]
      let requests = try children { RequestScope(loop: loop) }
      #expect(try Self.run(requests) == "done")
      #expect(journal.entries == ["commit"])
    }
  }

  @Test("A synchronous withChild throws the failure of a release on the loop, off the loop and on it")
  func failureOnTheLoop() throws {
    try withLoops { loops in
      let loop = loops[0]
      let requests = try children(failing: true) { RequestScope(loop: loop) }
      let fault = try #require(throws: EnvironmentError.self) { try Self.run(requests) }
      #expect(fault.code == .destructionFailed)
      let inPlace = try #require(throws: EnvironmentError.self) { try loop.perform { try Self.run(requests) } }
      #expect(inPlace.code == .destructionFailed)
      #expect(journal.entries == ["commit", "commit"])
    }
  }

  @Test("A synchronous withChild off the loop waits for an asynchronous release on the loop")
  func asynchronousReleaseOnTheLoop() throws {
    try withLoops { loops in
      let (loop, journal) = (loops[0], journal)
      let requests = try application.childFactory("request", seed: Int.self) {
        try $0.define(Upload.self, factory: { Upload(loop: loop, journal: journal) })
      } scope: {
        RequestScope(loop: loop)
      }
      try requests.withChild(1) { _ = try $0.getBean(Upload.self) }
      #expect(journal.entries == ["upload begins on the loop", "upload ends on the loop"])
    }
  }

  @Test("A deadline of a session fails a body inside of it, whose withSession throws its name")
  func deadlineInsideOfASession() async throws {
    let thread = try EventLoopThread(name: "loop")
    let loop = thread.loop
    let sessions = try children("session") { LoopScope(name: "session", loop: loop, deadline: .milliseconds(20)) }
    let registry = Sessions(sessions)
    let fault = await #expect(throws: EnvironmentError.self) {
      try await registry.withSession("a", opening: 1) { session in
        _ = try session.getBean(Transaction.self)
        await waitForEnd(of: session)
      }
    }
    #expect(fault?.code == .finished)
    #expect(fault?.message.contains("deadline") == true, "\(fault.map { "\($0)" } ?? "none")")
    #expect(journal.entries.first?.hasPrefix("rollback: ") == true)
    try await application.shutdown()
    loop.stop()
    try thread.join()
  }

  @Test("The end of a session by its registry waits for a request inside, which decides for itself")
  func logout() async throws {
    let (sessions, journal) = (try application.childFactory("session", seed: String.self), journal)
    let requests = try sessions.childFactory("request", seed: Int.self) {
      try $0.define(Transaction.self, factory: Transaction.init) {
        $0.onDestroy { _, outcome in
          if case .completed = outcome { journal.note("commit") } else { journal.note("rollback") }
        }
      }
    }
    let registry = Sessions(sessions)
    try await registry.withSession("a", opening: "a") { session in
      try await requests.withChild(1, in: session) { child in
        _ = try child.getBean(Transaction.self)
        try await Task.detached { try await registry.end("a") }.value
        #expect(journal.entries.isEmpty)
        let fault = #expect(throws: EnvironmentError.self) { try child.getBean(Transaction.self) }
        #expect(fault?.code == .finished)
      }
      #expect(journal.entries == ["commit"])
    }
    try await application.shutdown()
  }
}
