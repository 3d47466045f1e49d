import Glibc
import Testing

@testable import Storefront

/// The memory of the service that clients can occupy.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct MemoryTests {
  /// Two hundred bodies of a mebibyte each, of which the last byte never comes.
  @Test func bodiesTogetherHaveABound() throws {
    let database = try TemporaryDatabase()
    let service = try ServiceProcess(database: database.path)
    let port = try service.port()
    let length = 1024 * 1024
    let part = [UInt8](repeating: 0x61, count: length - 1)
    var clients: [TestClient] = []
    var refused = 0
    for _ in 0..<200 {
      let client = try TestClient(port: port)
      // A refused client may be cut off while it still sends.
      do {
        try client.send("POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Length: \(length)\r\n\r\n")
        try client.send(part)
      } catch {}
      clients.append(client)
    }
    // Others are served, with small bodies too.
    let visitor = try TestClient(port: port)
    for _ in 0..<10 {
      try visitor.send(
        "POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n"
          + "Content-Length: 9\r\n\r\nproduct=2")
      #expect(try visitor.receive().status == 200)
    }
    // A sanitizer takes memory of its own, and AddressSanitizer keeps freed blocks.
    if getenv("SANITIZER") == nil { #expect(try service.residentBytes() < 160 * length) }
    for client in clients where client.hasInput(within: 0) {
      refused += 1
      if let response = try? client.receive() {
        #expect(response.status == 503)
        #expect(response.fields["retry-after"] != nil)
      }
    }
    #expect(refused > 50)
    clients = []
    // With the others gone there is room again: complete, and refused for its type alone.
    var status = 503
    while status == 503 {
      let late = try TestClient(port: port)
      try? late.send("POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Length: \(length)\r\n\r\n")
      try? late.send(part + [0x61])
      status = (try? late.receive().status) ?? 503
    }
    #expect(status == 415)
    #expect(try service.end().isClean)
  }
}
