import Testing

@testable import Storefront

/// The lines that the service writes about requests.
@Suite(.timeLimit(.minutes(20)))
struct RequestLinesTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  @Test func announcementsAndReasonsHaveTheirLines() throws {
    let service = try ServiceProcess(database: database.path)
    let port = try service.port()
    try service.wait(for: "try: curl")
    let output = try service.end().output
    for line in ["Storefront: http://127.0.0.1:\(port)", "open handles: none"] {
      #expect(output.split(separator: "\n").contains { $0 == line }, "\(line): \(output)")
    }
    #expect(!output.contains(#"\n"#))
    let refused = try ServiceProcess(database: database.path, environment: ["PORT": "x", "LOOPS": "many"])
    let reasons = try refused.end(signal: false).output.split(separator: "\n")
    #expect(reasons.count == 2 && reasons.allSatisfy { $0.hasPrefix("storefront: ") }, "\(reasons)")
  }

  /// An unexpected error and its response have one id; the next request has another one.
  @Test func allLinesOfARequestCarryItsId() throws {
    let service = try ServiceProcess(database: database.path, environment: ["ACCESS_LOG": "yes"])
    let client = try TestClient(port: try service.port())
    let other = try database.connect()
    for table in ["order_lines", "orders", "products"] { try other.execute("DROP TABLE \(table)") }
    for _ in 0..<2 {
      try client.get("/api/products")
      #expect(try client.receive().status == 500)
    }
    let output = try service.end().output
    let ids = output.split(separator: "\n").filter { $0.contains("/api/products") }.compactMap {
      $0.firstMatch(of: /\{request=([0-9a-f]{8}-\d+)\}/)?.1
    }
    #expect(ids.count == 4 && ids.first != ids.last, "\(output)")
    #expect(Set(ids).allSatisfy { id in ids.count { $0 == id } == 2 }, "\(output)")
  }
}
