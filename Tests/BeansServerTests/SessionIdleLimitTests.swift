import Beans
import BeansEventLoop
import BeansServer
import BeansSessions
import BeansTesting
import Testing

/// The idle limit of a registry for sessions that belong to a loop.
@Suite(.timeLimit(.minutes(20)))
struct SessionIdleLimitTests {
  @Test(arguments: [nil, Duration.seconds(3_600)])
  func theLimitOfTheRegistryEndsASessionOnItsLoop(_ idleTimeout: Duration?) async throws {
    let (clock, journal) = (ManualClock(), Journal())
    let application = try Environment(name: "application")
    let thread = try EventLoopThread(name: "sessions")
    let loop = thread.loop
    let factory = try application.childFactory("session", seed: Int.self) { session in
      try session.define(
        session.bean(Cart.self, factory: { Cart() }).onDestroy { _ in journal.note("cart\(loop.place)") })
    } scope: {
      LoopScope(name: "session", loop: loop, idleTimeout: idleTimeout)
    }
    let sessions = Sessions(factory, idleLimit: .seconds(60), clock: clock) { journal.note("\($0)") }
    let session = try await sessions.withSession("a", opening: 1) { session in
      _ = try session.getBean(Cart.self)
      return session
    }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(60))
    await withCheckedContinuation { continuation in session.whenFinished { continuation.resume() } }
    #expect(journal.entries == ["opened(\"a\")", "cart on the loop", "expired(\"a\")"])
    try await application.shutdown()
    try thread.stopAndJoin()
  }
}
