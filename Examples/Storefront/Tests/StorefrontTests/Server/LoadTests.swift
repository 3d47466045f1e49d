import Beans
import BeansTesting
import Synchronization
import Testing

@testable import Storefront

/// `make load` in small: visitors with sessions on keep-alive connections, and the end in the middle of it.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct LoadTests {
  @Test(
    "Every accepted request gets a response, and every environment is finished",
    .beans(TestShop.served(loops: 2)))
  func theEndInTheMiddle() async throws {
    let server = try TestServer(Test.environment)
    let begun = ExpectedCount(400)
    let answered = Atomic(0)
    let paths = ["/api/cart", "/api/products", "/api/orders", "/"]
    onThreads(8) { _ in
      do {
        let client = try server.client()
        try client.send(
          "POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + "Content-Length: 9\r\n\r\nproduct=2")
        let cookie = try client.receive().fields["set-cookie"]?.prefix { $0 != ";" } ?? ""
        while true {
          let path = paths[answered.load(ordering: .relaxed) % paths.count]
          try client.get(path, "Cookie: \(cookie)\r\n")
          let response = try client.receive()
          #expect(response.status == 200)
          answered.add(1, ordering: .relaxed)
          if begun.count() { server.server.drain(within: .seconds(15)) {} }
          if response.fields["connection"] == "close" { break }
        }
      } catch {
        // The connection was closed while it was idle: no request was lost.
      }
    }
    server.drain()
    let report = try server.close()
    #expect(report.isClean, "\(report.text)")
    #expect(report.requests.requests == report.requests.answered)
    #expect(report.requests.aborted == 0)
    #expect(report.requests.answered >= 400)
    #expect(Set(report.statistics.map(\.scope)) == ["test", "session", "request"])
    let sessions = try #require(report.statistics.first { $0.scope == "session" })
    #expect(sessions.opened == 8)
  }
}

/// Returns true once, to the n-th caller.
private final class ExpectedCount: Sendable {
  private let rest: Atomic<Int>

  init(_ count: Int) { rest = Atomic(count) }

  func count() -> Bool { rest.subtract(1, ordering: .relaxed).newValue == 0 }
}
