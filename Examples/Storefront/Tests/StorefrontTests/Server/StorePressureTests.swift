import Beans
import BeansTesting
import Glibc
import Testing

@testable import Storefront

/// The shop while its store is locked by another process, or of no use.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct StorePressureTests {
  @Test(.beans(TestShop.served(["STORE_WAIT": "15s"]))) func aForeignLockDelaysNoOtherVisitor() throws {
    let server = try TestServer(Test.environment)
    let database = try Test.environment.getBean(TemporaryDatabase.self)
    let visitors = try (0..<6).map { _ in try Shopper(port: server.port) }
    let other = try database.connect()
    try other.execute("BEGIN IMMEDIATE")
    for visitor in visitors { try visitor.checkOut() }
    let reader = try server.client()
    for path in ["/healthz", "/api/products", "/", "/healthz"] {
      try reader.get(path)
      #expect(try reader.receive().status == 200)
    }
    for visitor in visitors { #expect(!visitor.client.hasInput(within: 0)) }
    try other.execute("COMMIT")
    for visitor in visitors { #expect(try visitor.client.receive().status == 201) }
    try server.end()
  }

  /// A wait for the other writer would keep the loop from all other clients, once for each of the visitors and again
  /// and again.
  @Test(.beans(TestShop.served(["STORE_WAIT": "15s"]))) func anotherWriterOfThisProcessDelaysNoOtherVisitor() throws {
    let server = try TestServer(Test.environment)
    let visitors = try (0..<6).map { _ in try Shopper(port: server.port) }
    let store = try #require(server.shop).application.getBean(SQLiteStore.self)
    let other = SQLiteTransaction(store: store)
    try other.write { connection throws(SQLiteError) in
      try connection.execute("INSERT OR REPLACE INTO probe (at) VALUES (1)")
    }
    for visitor in visitors { try visitor.checkOut() }
    let reader = try server.client()
    let began = ContinuousClock.now
    for _ in 0..<20 {
      for path in ["/api/products", "/healthz"] {
        try reader.get(path)
        #expect(try reader.receive().status == 200)
      }
    }
    #expect(ContinuousClock.now - began < .seconds(2))
    for visitor in visitors { #expect(!visitor.client.hasInput(within: 0)) }
    try other.finish()
    for visitor in visitors { #expect(try visitor.client.receive().status == 201) }
    try server.end()
  }

  /// Many visitors buy at the same time, on several loops, and all of them are served.
  @Test(.beans(TestShop.served(loops: 4))) func checkoutsTakeTurns() throws {
    let server = try TestServer(Test.environment)
    let port = server.port
    let visitors = (0..<16).map { _ in
      BackgroundThread {
        try (0..<10).map { _ in
          let visitor = try Shopper(port: port)
          try visitor.checkOut()
          return try visitor.client.receive().status
        }
      }
    }
    let statuses = try visitors.flatMap { try $0.value() }
    #expect(statuses.allSatisfy { $0 == 201 })
    try server.end()
  }

  @Test(.beans(TestShop.served(["STORE_WAIT": "50ms"]))) func aVisitorThatWaitsTooLongIsAskedToComeBack() throws {
    let server = try TestServer(Test.environment)
    let database = try Test.environment.getBean(TemporaryDatabase.self)
    var visitor = try Shopper(port: server.port)
    let other = try database.connect()
    try other.execute("BEGIN IMMEDIATE")
    try visitor.checkOut()
    let refused = try visitor.client.receive()
    #expect(refused.status == 503)
    #expect(refused.fields["retry-after"].flatMap { Int($0) } ?? 0 > 0)
    #expect(try visitor.readCart().contains("\"pieces\":1"))
    try other.execute("COMMIT")
    try visitor.checkOut()
    #expect(try visitor.client.receive().status == 201)
    try server.end()
  }

  @Test func aForeignLockDoesNotKeepTheServiceFromEnding() throws {
    let database = try TemporaryDatabase()
    let service = try ServiceProcess(database: database.path, environment: ["STORE_WAIT": "1s"])
    let port = try service.port()
    let visitors = try (0..<6).map { _ in try Shopper(port: port) }
    let other = try database.connect()
    try other.execute("BEGIN IMMEDIATE")
    for visitor in visitors { try visitor.checkOut() }
    let began = ContinuousClock.now
    let end = try service.end()
    #expect(end.isClean, "\(end.output)")
    #expect(end.count("aborted") == 0)
    // Six waits one after the other would be six seconds.
    #expect(ContinuousClock.now - began < .seconds(4))
    for visitor in visitors { #expect(try visitor.client.receive().status == 503) }
    try other.execute("COMMIT")
  }

  /// The first signal lets requests wait for up to ten seconds.
  @Test func aSecondSignalDoesNotWaitForAForeignLock() throws {
    let database = try TemporaryDatabase()
    let service = try ServiceProcess(database: database.path, environment: ["STORE_WAIT": "1m", "LOOPS": "2"])
    let port = try service.port()
    let visitors = try (0..<6).map { _ in try Shopper(port: port) }
    let other = try database.connect()
    try other.execute("BEGIN IMMEDIATE")
    for visitor in visitors { try visitor.checkOut() }
    let began = ContinuousClock.now
    service.signal(SIGTERM)
    // Two signals that come together may be one.
    while (try? TestClient(port: port)) != nil {}
    let end = try service.end()
    #expect(ContinuousClock.now - began < .seconds(8))
    #expect(end.isClean, "\(end.status), \(end.isSignal): \(end.output)")
    #expect(end.count("aborted") == visitors.count)
    for visitor in visitors { #expect(throws: TestClient.Failure.self) { try visitor.client.receive() } }
    try other.execute("COMMIT")
  }

  @Test func anUnusableStoreShowsInTheLogAndInTheHealth() throws {
    let database = try TemporaryDatabase()
    let service = try ServiceProcess(database: database.path, environment: ["BY_HAND": "yes"])
    let port = try service.port()
    let visitor = try Shopper(port: port)
    let other = try database.connect()
    for table in ["order_lines", "orders", "products"] { try other.execute("DROP TABLE \(table)") }
    try visitor.checkOut()
    #expect(try visitor.client.receive().status == 500)
    let client = try TestClient(port: port)
    for path in ["/by-hand/api/products"] + Array(repeating: "/api/products", count: 100) {
      try client.get(path)
      #expect(try client.receive().status == 500)
    }
    var status = 200
    while status == 200 {
      try client.get("/healthz")
      status = try client.receive().status
    }
    #expect(status == 503)
    let end = try service.end()
    #expect(end.isClean, "\(end.output)")
    let lines = end.output.split(separator: "\n").filter {
      $0.contains("no such table") || $0.contains("is missing")
    }
    #expect((2...50).contains(lines.count), "\(end.output)")
    for request in ["POST /api/checkout", "GET /by-hand/api/products"] {
      #expect(lines.contains { $0.contains(request) })
    }
    // None is left out of the count: neither of the last second, nor of the health check.
    let suppressed = end.output.matches(of: /(\d+) more errors/).compactMap { Int($0.1) }.reduce(0, +)
    #expect(lines.count + suppressed > 102, "\(end.output)")
  }

  /// No file may grow beyond 2 MiB.
  @Test func aFullDiskShowsInTheHealthAndEndsInOrder() throws {
    let database = try TemporaryDatabase()
    let service = try ServiceProcess(database: database.path, kibibytes: 2048)
    let port = try service.port()
    var visitor = try Shopper(port: port)
    var status = 201
    for _ in 0..<5_000 where status == 201 {
      try visitor.client.send(
        "POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n"
          + "Cookie: \(visitor.cookie)\r\nContent-Length: 9\r\n\r\nproduct=2")
      _ = try visitor.client.receive()
      try visitor.checkOut()
      status = try visitor.receive().status
    }
    #expect(status == 500)
    var health = 200
    while health == 200 {
      try visitor.client.get("/healthz")
      health = try visitor.client.receive().status
    }
    #expect(health == 503)
    try visitor.client.get("/api/products")
    #expect(try visitor.client.receive().status == 200)
    #expect(try visitor.readCart().contains("\"pieces\":1"))
    let end = try service.end()
    #expect(end.isClean, "\(end.output)")
    #expect(end.output.contains("POST /api/checkout"))
  }
}
