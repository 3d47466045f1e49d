import Beans
import BeansTesting
import Testing

@testable import Storefront

/// The shop while the disk does not end a synchronisation. `SOAK_DISK` is the number of rounds.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct SlowDiskTests {
  @Sendable private static func served(_ application: Environment) throws {
    HeldDisk.install()
    try TestShop.served()(application)
  }

  private let server: TestServer
  private let database: TemporaryDatabase

  init() throws {
    server = try TestServer(Test.environment)
    database = try Test.environment.getBean(TemporaryDatabase.self)
  }

  /// Makes the next change begin a new log, whose first bytes are synchronised.
  private func emptyLog() throws { try database.connect().execute("PRAGMA wal_checkpoint(TRUNCATE)") }

  /// Sends requests that need no write, each after the response to the one before.
  private func serveOthers() throws {
    let reader = try server.client()
    for path in Array(repeating: ["/healthz", "/api/products", "/", "/api/orders"], count: 5).joined() {
      try reader.get(path)
      #expect(try reader.receive().status == 200, "\(path)")
    }
    _ = try Shopper(port: server.port)
  }

  @Test("A commit that waits for the disk delays no other request", .beans(served)) func aCommit() throws {
    for _ in 0..<(setting("SOAK_DISK") ?? 1) {
      var shoppers = try (0..<3).map { _ in try Shopper(port: server.port) }
      try emptyLog()
      let disk = HeldDisk(database.path)
      defer { disk.release() }
      for shopper in shoppers { try shopper.checkOut() }
      try disk.waitForSynchronisation()
      try serveOthers()
      for shopper in shoppers { #expect(!shopper.client.hasInput(within: 0)) }
      disk.release()
      for index in shoppers.indices { #expect(try shoppers[index].receive().status == 201) }
    }
    try server.end()
  }

  @Test("A checkpoint that waits for the disk delays no other request", .beans(served)) func aCheckpoint() throws {
    for _ in 0..<(setting("SOAK_DISK") ?? 1) {
      // The beginning of the log is synchronised, too, and is not meant here.
      try emptyLog()
      var shopper = try Shopper(port: server.port)
      try shopper.checkOut()
      #expect(try shopper.receive().status == 201)
      let disk = HeldDisk(database.path)
      defer { disk.release() }
      let port = server.port
      let buying = BackgroundThread {
        var shopper = try Shopper(port: port)
        for _ in 0..<500 {
          try shopper.add()
          try shopper.checkOut()
          #expect(try shopper.receive().status == 201)
        }
      }
      try disk.waitForSynchronisation()
      try serveOthers()
      disk.release()
      try buying.value()
    }
    try server.end()
  }

  @Test("A health check that writes does not wait for the disk", .beans(served)) func aHealthCheck() throws {
    try emptyLog()
    let disk = HeldDisk(database.path)
    defer { disk.release() }
    let client = try server.client()
    // Not each look at the health writes.
    while !disk.hasBegunSynchronisation {
      try client.get("/healthz")
      #expect(try client.receive().status == 200)
    }
    try serveOthers()
    disk.release()
    try server.end()
  }
}
