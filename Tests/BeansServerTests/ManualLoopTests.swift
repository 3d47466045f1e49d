import Beans
import BeansEventLoop
import BeansServer
import BeansTesting
import TestSupport
import Testing

@Suite("The manual loop", .timeLimit(.minutes(20))) struct ManualLoopTests {
  private let manual: ManualLoop
  private let shop: Environment
  private let journal = Journal()

  final class Cart: DisposableBean, Sendable {
    let journal: Journal
    init(_ journal: Journal) { self.journal = journal }
    func preDestroy() { journal.note("released") }
  }

  init() throws {
    manual = try ManualLoop()
    shop = try Environment(name: "shop")
  }

  private func children(
    _ name: String, _ makeScope: @escaping @Sendable (EventLoop) -> any ChildScope
  ) throws -> EnvironmentFactory<Void> {
    let (loop, journal) = (manual.loop, journal)
    return try shop.childFactory(name, seed: Void.self) { child in
      try child.define(child.bean(Cart.self, factory: { Cart(journal) }))
    } scope: {
      makeScope(loop)
    }
  }

  @Test("A release on the loop of a scope waits for a turn")
  func releases() throws {
    let requests = try children("request") { RequestScope(loop: $0) }
    let request = try requests.build(())
    _ = try request.getBean(Cart.self)
    request.finish()
    #expect(journal.entries == [])
    #expect(try manual.turn())
    #expect(journal.entries == ["released"])
    #expect(try !manual.turn())
    try shop.shutdown()
    try manual.close()
  }

  @Test("A finished request whose loop is not turned fails its test at once, and the error names the missing turn")
  func isNotTurned() async throws {
    let (loop, journal) = (manual.loop, journal)
    let texts = Journal()
    try await withKnownIssue {
      try await withTestEnvironment({ shop in
        let requests = try shop.childFactory("request", seed: Void.self) {
          try $0.define($0.bean(Cart.self, factory: { Cart(journal) }))
        } scope: {
          RequestScope(loop: loop)
        }
        try shop.define(shop.bean(requests))
      }) { shop in
        let request = try shop.getBean(EnvironmentFactory<Void>.self).build(())
        _ = try request.getBean(Cart.self)
        request.finish()
      }
    } matching: { issue in
      texts.note("\(issue.comments.map(\.rawValue).joined())")
      return true
    }
    #expect(
      texts.entries == [
        "'request' has been finished, but its loop has not released it: turn the loop before the test ends"
      ])
    #expect(journal.entries == ["released"])
    try manual.run()
    try manual.close()
  }

  @Test("A session ends after its idle time without a use, and stays alive with one")
  func idle() throws {
    let sessions = try children("session") { SessionScope(loop: $0, idleTimeout: .seconds(600)) }
    let (used, unused) = try (sessions.build(()), sessions.build(()))
    _ = try unused.getBean(Cart.self)
    try manual.advance(by: .seconds(400))
    _ = try used.getBean(Cart.self)
    try manual.advance(by: .seconds(400))
    #expect(unused.isFinished)
    #expect(!used.isFinished)
    #expect(journal.entries == ["released"])
    try manual.advance(by: .seconds(199))
    #expect(!used.isFinished)
    try manual.advance(by: .seconds(2))
    #expect(used.isFinished)
    #expect(journal.entries == ["released", "released"])
    try shop.shutdown()
    try manual.close()
  }

  @Test("A request ends at its deadline after a skip of any length")
  func deadline() throws {
    let requests = try children("request") { RequestScope(loop: $0, deadline: .seconds(30)) }
    try manual.advance(by: .seconds(3_600))
    let request = try requests.build(())
    _ = try request.getBean(Cart.self)
    try manual.advance(by: .seconds(29))
    #expect(!request.isFinished)
    try manual.advance(by: .seconds(1))
    #expect(request.isFinished)
    #expect(journal.entries == ["released"])
    try shop.shutdown()
    try manual.close()
  }

  @Test("Timers run in the order of their times, also those that timers set")
  func timers() throws {
    let (loop, journal) = (manual.loop, journal)
    loop.schedule(after: .seconds(3)) { journal.note("three") }
    loop.schedule(after: .seconds(1)) {
      journal.note("one")
      loop.schedule(after: .seconds(1)) { journal.note("two") }
    }
    try manual.advance(by: .seconds(10))
    #expect(journal.entries == ["one", "two", "three"])
    #expect(loop.scheduledCount == 0)
    try manual.close()
  }

  @Test("Inside of a turn the thread is the loop's, and there is no second turn")
  func inside() throws {
    let (manual, journal) = (manual, journal)
    manual.loop.execute {
      journal.note("\(manual.loop.isCurrent)")
      do throws(EventLoopError) { try manual.turn() } catch { journal.note("\(error.code == .alreadyRunning)") }
    }
    try manual.run()
    #expect(journal.entries == ["true", "true"])
    #expect(!manual.loop.isCurrent)
    try manual.close()
  }
}
