import Beans
import BeansEventLoop
import BeansServer
import TestSupport
import Testing

/// Ends with a limit, and releases with one of their own, in scopes bound to a loop.
@Suite(.timeLimit(.minutes(20)))
struct LimitedShutdownTests {
  private let journal = Journal()
  private let end = Gate("the end of what hangs")
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  /// A request with a log, and a transaction on top of it.
  private func request(
    on loop: EventLoop, isHanging: Bool = false, limit: Duration? = nil
  ) throws -> Environment {
    let (journal, end) = (journal, end)
    try application.define(application.bean(7).onDestroy { _ in journal.note("application") })
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log\(loop.place)") })
      let transaction = $0.bean(Transaction.self, factory: { (_: Log) in Transaction() })
        .onDestroy { _ in
          journal.note("transaction\(loop.place)")
          if isHanging { try end.wait() }
        }
      if let limit { transaction.releaseLimit(limit) }
      try $0.define(transaction)
    } scope: {
      RequestScope(loop: loop)
    }
    let request = try requests.build(1)
    _ = try request.getBean(Transaction.self)
    return request
  }

  private func faultOfShutdown(within limit: Duration) -> String {
    do {
      try application.shutdown(within: limit)
      return ""
    } catch { return "\(error)" }
  }

  @Test func allBeansAreReleasedOnTheLoopInTime() throws {
    try withLoops { loops in
      _ = try request(on: loops[0])
      try application.shutdown(within: .seconds(10_000))
      #expect(journal.entries == ["transaction on the loop", "log on the loop", "application"])
    }
  }

  @Test func theRestIsReleasedElsewhereIfAReleaseBlocksTheLoop() throws {
    try withLoops { loops in
      let request = try request(on: loops[0], isHanging: true)
      let fault = faultOfShutdown(within: .milliseconds(400))
      #expect(fault.contains("Transaction in 'request' has been abandoned"), "\(fault)")
      try application.waitForEnd()
      #expect(journal.entries == ["transaction on the loop", "log elsewhere", "application"])
      try request.waitForEnd()
      end.open()
    }
  }

  @Test func allBeansAreReleasedElsewhereIfTheLoopIsBlocked() throws {
    try withLoops { loops in
      _ = try request(on: loops[0])
      try loops[0].block(by: end)
      _ = faultOfShutdown(within: .milliseconds(400))
      try application.waitForEnd()
      #expect(journal.entries == ["transaction elsewhere", "log elsewhere", "application"])
      end.open()
    }
  }

  @Test func aShutdownOnTheLoopsOwnThreadDoesNotWaitForTheLoop() throws {
    try withLoops { loops in
      _ = try request(on: loops[0])
      let application = application
      try loops[0].perform { try application.shutdown(within: .seconds(10_000)) }
      #expect(journal.entries == ["transaction elsewhere", "log elsewhere", "application"])
    }
  }

  @Test func anAsynchronousReleaseThatNeverReturnsIsAbandonedAndTheLoopGoesOn() throws {
    try withLoops { loops in
      let (loop, journal, latch) = (loops[0], journal, Latch())
      let requests = try application.childFactory("request", seed: Int.self) {
        try $0.define($0.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log\(loop.place)") })
        try $0.define($0.bean(Endless.self, factory: { (_: Log) in Endless(latch) }).releaseLimit(.milliseconds(1)))
      } scope: {
        RequestScope(loop: loop)
      }
      let request = try requests.build(1)
      _ = try request.getBean(Endless.self)
      request.finish()
      try request.waitForEnd()
      #expect(journal.entries == ["log on the loop"])
      let fault = request.failedShutdown()
      #expect(fault?.message.hasPrefix("Endless in 'request' has been abandoned") == true)
      latch.open()
    }
  }

  @Test func aReleaseWithALimitRunsElsewhereAndTheLoopGoesOnWithTheOthers() throws {
    try withLoops { loops in
      let request = try request(on: loops[0], isHanging: true, limit: .milliseconds(1))
      request.finish()
      try request.waitForEnd()
      #expect(journal.entries == ["transaction elsewhere", "log on the loop"])
      end.open()
      try application.shutdown()
    }
  }

  @Test func aRegisteredScopeOnALoopKeepsTheLimit() throws {
    try withLoops { loops in
      let (loop, journal, end) = (loops[0], journal, end)
      let scope = Shift(loop: loop)
      try application.registerScope(scope)
      try application.define(
        application.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log\(loop.place)") }.scope(
          "shift"))
      try application.define(
        application.bean(Transaction.self, factory: { (_: Log) in Transaction() }).onDestroy { _ in try end.wait() }
          .releaseLimit(.milliseconds(1)).scope("shift"))
      _ = try application.getBean(Transaction.self)
      let fault = application.failedShutdown()
      #expect(fault?.message.hasPrefix("Transaction in 'application' has been abandoned") == true)
      #expect(journal.entries == ["log on the loop"])
      end.open()
    }
  }
}

private final class Shift: LoopScope, @unchecked Sendable {  // adds nothing
  init(loop: EventLoop) { super.init(name: "shift", loop: loop) }
}

private final class Endless: AsyncDisposableBean, Sendable {
  private let latch: Latch
  init(_ latch: Latch) { self.latch = latch }
  func preDestroy() async throws { await latch.wait() }
}
