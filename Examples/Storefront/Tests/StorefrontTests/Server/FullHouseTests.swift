import Beans
import BeansServer
import BeansSessions
import BeansTesting
import Testing

@testable import Storefront

/// As many sessions as there may be.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct FullHouseTests {
  #if DEBUG
    // Without optimisation, a report of all would keep a loop for longer than a client waits.
    private static let capacity = 10_000
  #else
    private static let capacity = 100_000
  #endif

  /// Reports stay short, and every client is served.
  @Test(.beans(TestShop.served(["SESSIONS": "\(capacity)"])))
  func aFullHouseOfSessionsIsReportedAndServed() throws {
    let capacity = Self.capacity
    let server = try TestServer(Test.environment, isForAdministration: true)
    let shop = try #require(server.shop)
    for _ in 0..<capacity { _ = try shop.sessions.add(shop.visits.build(SessionState())) }
    #expect(server.sessions == capacity)
    let port = server.port
    // Each report counts all sessions; another request meanwhile waits for one report and not for all.
    let began = ContinuousClock.now
    let reports = (0..<4).map { _ in
      BackgroundThread {
        let client = try TestClient(port: port)
        try client.get("/environments")
        return try client.receive().text
      }
    }
    let visitor = try server.client()
    try visitor.get("/healthz")
    #expect(try visitor.receive().status == 200)
    for report in reports {
      let text = try report.value()
      #expect(text.contains("sessions: \(capacity) open of at most \(capacity), 0 in use; "))
      #expect(text.contains("session: \(capacity) live, "))
      #expect(text.utf8.count < 64 * 1024)
    }
    print("== \(capacity) sessions, four reports at once: \((ContinuousClock.now - began) / .milliseconds(1)) ms")
    _ = try shop.sessions.add(shop.visits.build(SessionState()))
    #expect(server.sessions == capacity)
    try server.end()
    #expect(shop.sessions.statistics().evicted == 1)
  }
}
