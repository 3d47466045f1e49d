import BeansEventLoop
import COpenSSL
import Testing

@testable import BeansTLS

/// Servers that break the rules, in memory.
@Suite(.serialized) struct HostilePeerTests {
  @Test(arguments: ["-ERR unknown command\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "\0", "220 mail.example.org"])
  func aServerWithoutTLSIsNamed(text: String) throws {
    let conversation = try Conversation(ServerSide(Authority().issue()))
    _ = try conversation.client.begin()
    let error = #expect(throws: StreamLayerError.self) { _ = try conversation.client.receive(Array(text.utf8)) }
    #expect(error?.reason.contains("does not use TLS on this port") == true)
  }

  @Test func anEndDuringTheHandshakeIsAFault() throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue()), trusting: authority)
    _ = conversation.server.receive(try conversation.client.begin())
    _ = try conversation.client.receive(Array(conversation.server.bytes().prefix(100)))
    let error = #expect(throws: StreamLayerError.self) { try conversation.client.receiveEnd() }
    #expect(error?.reason.contains("during the TLS handshake") == true)
  }

  @Test func recordsThatWereChangedAreAFault() throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue()), trusting: authority)
    try conversation.shakeHands()
    var bytes = conversation.server.encrypt(Array("+PONG".utf8))
    bytes[bytes.count - 1] ^= 1
    let error = #expect(throws: StreamLayerError.self) { _ = try conversation.client.receive(bytes) }
    #expect(error?.reason.contains("breaks the rules of TLS") == true, "\(error as Any)")
    // The peer is told so.
    #expect(error?.alert.isEmpty == false)
    #expect(try conversation.client.receive(conversation.server.encrypt([1])).plaintext.isEmpty)
    #expect(conversation.client.end().isEmpty)
  }

  /// Each prefix of the server's first bytes, with an end, or with bytes that do not belong there.
  @Test func truncatedRecordsAreFaults() throws {
    let authority = Authority()
    let identity = authority.issue()
    for length in [0, 1, 4, 5, 6, 50, 130, 500] {
      for filler: [UInt8] in [[], [UInt8](repeating: 0, count: 40_000), [UInt8](repeating: 0xFF, count: 40_000)] {
        let conversation = try Conversation(ServerSide(identity), trusting: authority)
        _ = conversation.server.receive(try conversation.client.begin())
        let bytes = Array(conversation.server.bytes().prefix(length)) + filler
        #expect(throws: StreamLayerError.self) {
          _ = try conversation.client.receive(bytes)
          try conversation.client.receiveEnd()
        }
        #expect(!conversation.client.isReady)
      }
    }
  }

  @Test func aRequestedRenegotiationIsAFault() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue(), version: TLS1_2_VERSION)
    let conversation = try Conversation(server, trusting: authority)
    try conversation.shakeHands()
    let error = #expect(throws: StreamLayerError.self) {
      _ = try conversation.client.receive(server.requestRenegotiation())
    }
    #expect(error?.reason.contains("renegotiation") == true, "\(error as Any)")
  }

  @Test func newKeysAreAccepted() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue(), version: TLS1_3_VERSION)
    let conversation = try Conversation(server, trusting: authority)
    try conversation.shakeHands()
    for _ in 0..<100 {
      let output = try conversation.client.receive(server.updateKey() + server.encrypt([1]))
      #expect(output.plaintext == [1])
      #expect(server.receive(output.reply + (try conversation.client.send("PING"))) == Array("PING".utf8))
    }
  }

  /// A megabyte of records with an alert, in the plain or encrypted.
  @Test(arguments: [1, 2])
  func aMegabyteOfAlertsIsAFaultAtOnce(level: UInt8) throws {
    let alert: [UInt8] = [21, 3, 3, 0, 2, level, level == 1 ? 90 : 80]
    let alerts = Array([[UInt8]](repeating: alert, count: 150_000).joined())
    let conversation = try Conversation(ServerSide(Authority().issue()))
    _ = try conversation.client.begin()
    let error = #expect(throws: StreamLayerError.self) { _ = try conversation.client.receive(alerts) }
    #expect(error?.reason.contains("alert") == true, "\(error as Any)")
    #expect((error?.alert.count ?? 0) < 100)
  }

  @Test func aMegabyteOfAlertsAfterTheHandshakeIsAFault() throws {
    let authority = Authority()
    for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
      let conversation = try Conversation(ServerSide(authority.issue(), version: version), trusting: authority)
      try conversation.shakeHands()
      let alerts = Array([[UInt8]](repeating: [21, 3, 3, 0, 2, 1, 90], count: 150_000).joined())
      #expect(throws: StreamLayerError.self) { _ = try conversation.client.receive(alerts) }
    }
  }

  @Test func aFloodOfNewKeysIsAFault() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue(), version: TLS1_3_VERSION)
    let conversation = try Conversation(server, trusting: authority)
    try conversation.shakeHands()
    var replies = 0
    let error = #expect(throws: StreamLayerError.self) {
      for _ in 0..<1_000 {
        let output = try conversation.client.receive(server.updateKey() + server.updateKey())
        replies += output.reply.count
      }
    }
    #expect(error?.reason.contains("new keys without end") == true)
    #expect(replies <= 1_024)
  }

  /// Each connection is released with all of its memory, about 10 KiB, whether it fails or not.
  @Test func connectionsLeaveNoMemory() throws {
    let authority = Authority()
    let identities = [authority.issue(), authority.issue(until: -60), authority.issue("DNS:other")]
    var options = TLSOptions()
    options.roots = .bytes(authority.pem)
    let context = try TLSContext(options)
    func connect(_ times: Int) throws {
      for index in 0..<times {
        let conversation = try Conversation(ServerSide(identities[index % 3]), trusting: authority)
        _ = try? conversation.shakeHands()
        for _ in 0..<10 {
          _ = try? context.makeLayer(host: "unix:/run/redis.sock")
          let client = try context.makeLayer(host: "localhost")
          _ = try client.begin()
          _ = try? client.receive([22, 3, 3, 0xFF, 0xFF])
        }
      }
    }
    try connect(20)
    let before = try residentBytes()
    try connect(200)
    try expectGrowth(below: 8 << 20, since: before)
  }
}
