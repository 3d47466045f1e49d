import BeansEventLoop
import COpenSSL
import Testing

@testable import BeansTLS

/// The handshake and the bytes after it, in memory.
@Suite struct HandshakeTests {
  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func bothSidesReceiveWhatTheOtherSends(version: Int32) throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue(), version: version), trusting: authority)
    try conversation.shakeHands()
    #expect(conversation.client.isReady)
    #expect(SSL_version(conversation.server.ssl) == version)

    let sent = try conversation.client.send("PING")
    #expect(!sent.isEmpty)
    #expect(conversation.server.receive(sent) == Array("PING".utf8))
    let output = try conversation.client.receive(conversation.server.encrypt(Array("+PONG".utf8)))
    #expect(output.plaintext == Array("+PONG".utf8))
    #expect(!output.hasEnded)
  }

  @Test(arguments: [1, 7, 16_384, 65_536])
  func bytesMayArriveInAnyPieces(size: Int) throws {
    let authority = Authority()
    let server = ServerSide(authority.issue())
    let conversation = try Conversation(server, trusting: authority)
    let text = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
    var plaintext: [UInt8] = []
    /// Hands the bytes over in pieces, and returns the replies.
    func hand(_ bytes: [UInt8]) throws -> [UInt8] {
      var replies: [UInt8] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        let output = try conversation.client.receive(Array(bytes[start..<min(start + size, bytes.count)]))
        plaintext += output.plaintext
        replies += output.reply
      }
      return replies
    }
    var bytes = try conversation.client.begin()
    while !bytes.isEmpty {
      _ = server.receive(bytes)
      bytes = try hand(server.bytes())
    }
    #expect(try hand(server.encrypt(text)).isEmpty)
    #expect(plaintext == text)
  }

  @Test func manyBytesAreSentAtOnce() throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue()), trusting: authority)
    try conversation.shakeHands()
    let text = String(repeating: "0123456789", count: 300_000)
    #expect(conversation.server.receive(try conversation.client.send(text)) == Array(text.utf8))
  }

  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func eachSideSeesTheEndOfTheOther(version: Int32) throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue(), version: version), trusting: authority)
    try conversation.shakeHands()
    let output = try conversation.client.receive(conversation.server.encrypt([1, 2]) + conversation.server.end())
    #expect(output.plaintext == [1, 2])
    #expect(output.hasEnded)
    try conversation.client.receiveEnd()
    // Bytes after an end are not read.
    #expect(try conversation.client.receive([1, 2, 3]).plaintext.isEmpty)
    _ = conversation.server.receive(conversation.client.end())
    #expect(conversation.server.hasEnded)
  }

  @Test func anEndWithoutTheEndOfTLSIsAFault() throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue()), trusting: authority)
    try conversation.shakeHands()
    let error = #expect(throws: StreamLayerError.self) { try conversation.client.receiveEnd() }
    #expect(error?.reason.contains("bytes may be missing") == true)
  }

  // MARK: certificates and names

  @Test func aCertificateOfAnotherAuthorityIsRefused() throws {
    let server = ServerSide(Authority("Mallory").issue())
    let conversation = try Conversation(server, trusting: Authority())
    let reason = try conversation.refusal()
    #expect(reason.contains("signed by 'Mallory', which is not among the trusted authorities"), "\(reason)")
    #expect(reason.contains("TLSOptions.roots"))
    #expect(!conversation.client.isReady)
  }

  @Test func withoutRootsTheAuthoritiesOfTheSystemAreTrusted() throws {
    let authority = Authority()
    let reason = try Conversation(ServerSide(authority.issue())).refusal()
    #expect(reason.contains("not among the trusted authorities"), "\(reason)")
  }

  @Test func anExpiredCertificateIsRefused() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue(from: -20 * 86_400, until: -10 * 86_400 - 60))
    let reason = try Conversation(server, trusting: authority).refusal()
    #expect(reason == "the server's certificate expired 10 days ago: renew it there")
  }

  @Test func aCertificateThatIsNotYetValidIsRefused() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue(from: 3_600))
    let reason = try Conversation(server, trusting: authority).refusal()
    #expect(reason.contains("not valid yet: check the clock"), "\(reason)")
  }

  @Test func theFaultOfAWrongNameListsTheRightOnes() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue("DNS:a.example.org,DNS:*.b.example.org,IP:10.0.0.1,IP:::1"))
    let reason = try Conversation(server, host: "redis", trusting: authority).refusal()
    #expect(reason.contains("is for a.example.org, *.b.example.org, 10.0.0.1, ::1, not for redis"), "\(reason)")
  }

  @Test func theFaultOfAWrongNameIsShort() throws {
    let authority = Authority()
    let names = (0..<500).map { "DNS:n\($0).example.org" }.joined(separator: ",")
    let reason = try Conversation(ServerSide(authority.issue(names)), trusting: authority).refusal()
    #expect(reason.contains("n4.example.org, …, not for localhost"), "\(reason)")
    #expect(reason.utf8.count < 400)
  }

  @Test func aCertificateWithoutNamesIsRefused() throws {
    let authority = Authority()
    let reason = try Conversation(ServerSide(authority.issue("")), trusting: authority).refusal()
    #expect(reason.contains("contains no name, not for localhost"), "\(reason)")
  }

  @Test(arguments: ["127.0.0.1", "::1", "fe80::1%eth0", "localhost", "localhost.", "x.example.org"])
  func aHostThatTheCertificateContainsIsAccepted(host: String) throws {
    let authority = Authority()
    let identity = authority.issue("DNS:localhost,DNS:*.example.org,IP:127.0.0.1,IP:::1,IP:fe80::1")
    let conversation = try Conversation(ServerSide(identity), host: host, trusting: authority)
    try conversation.shakeHands()
    #expect(conversation.client.isReady)
  }

  @Test(arguments: ["127.0.0.2", "::2", "example.org", "a.b.example.org", "localhost.example"])
  func aHostThatTheCertificateDoesNotContainIsRefused(host: String) throws {
    let authority = Authority()
    let identity = authority.issue("DNS:localhost,DNS:*.example.org,IP:127.0.0.1,IP:::1")
    let reason = try Conversation(ServerSide(identity), host: host, trusting: authority).refusal()
    #expect(reason.contains("not for \(host)"), "\(reason)")
  }

  @Test func anAddressIsNotTakenForAName() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue("DNS:127.0.0.1"))
    #expect(try Conversation(server, host: "127.0.0.1", trusting: authority).refusal().contains("not for 127.0.0.1"))
  }

  @Test func theServerIsAskedForTheNameOfTheHost() throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue()), trusting: authority)
    try conversation.shakeHands()
    #expect(conversation.server.requestedName == "localhost")
  }

  @Test func theServerIsAskedForNoNameWhereTheHostIsAnAddress() throws {
    let authority = Authority()
    let conversation = try Conversation(ServerSide(authority.issue()), host: "127.0.0.1", trusting: authority)
    try conversation.shakeHands()
    #expect(conversation.server.requestedName == nil)
  }

  @Test func aServerNameReplacesTheHost() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue("DNS:sessions.example.org"))
    let conversation = try Conversation(server, host: "unix:/run/redis.sock", trusting: authority) {
      $0.serverName = "sessions.example.org"
    }
    try conversation.shakeHands()
    #expect(conversation.server.requestedName == "sessions.example.org")
  }

  @Test(arguments: [
    ("unix:/run/redis.sock", "set TLSOptions.serverName"), ("käse", "ASCII"), ("a\0b", "ASCII"), ("", "ASCII"),
  ])
  func aHostThatIsNoNameIsRefused(host: String, remedy: String) throws {
    let error = try #require(throws: StreamLayerError.self) { try TLSContext(TLSOptions()).makeLayer(host: host) }
    #expect(error.reason.contains(remedy), "\(error.reason)")
  }

  // MARK: certificates of clients

  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func aServerAcceptsTheCertificateOfAClient(version: Int32) throws {
    let authority = Authority()
    let own = authority.issue("DNS:client")
    let server = ServerSide(authority.issue(), clients: authority.pem, version: version)
    let conversation = try Conversation(server, trusting: authority) {
      $0.certificate = .bytes(own.certificate)
      $0.key = .bytes(own.key)
    }
    try conversation.shakeHands()
    #expect(conversation.server.receive(try conversation.client.send("PING")) == Array("PING".utf8))
  }

  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
  func aMissingCertificateOfAClientIsAFault(version: Int32) throws {
    let authority = Authority()
    let server = ServerSide(authority.issue(), clients: authority.pem, version: version)
    let reason = try Conversation(server, trusting: authority).refusal()
    #expect(reason.contains("certificate"), "\(reason)")
    #expect(reason.contains("TLSOptions.certificate"), "\(reason)")
  }

  @Test func aCertificateOfAClientThatTheServerDoesNotTrustIsAFault() throws {
    let authority = Authority()
    let own = Authority("Mallory").issue("DNS:client")
    let server = ServerSide(authority.issue(), clients: authority.pem)
    let reason = try Conversation(server, trusting: authority) {
      $0.certificate = .bytes(own.certificate)
      $0.key = .bytes(own.key)
    }.refusal()
    #expect(reason.contains("does not accept TLSOptions.certificate"), "\(reason)")
  }

  // MARK: versions

  @Test func aServerWithTLS11OnlyIsRefused() throws {
    let authority = Authority()
    let server = ServerSide(authority.issue(), version: TLS1_1_VERSION)
    let reason = try Conversation(server, trusting: authority).refusal()
    #expect(reason.contains("it has neither TLS 1.2 nor TLS 1.3"), "\(reason)")
  }

  @Test func aServerThatChoosesTLS11IsRefused() throws {
    let conversation = try Conversation(ServerSide(Authority().issue()))
    _ = try conversation.client.begin()
    let hello: [UInt8] = [2, 0, 0, 38, 3, 2] + [UInt8](repeating: 7, count: 32) + [0, 0xC0, 0x13, 0]
    let error = #expect(throws: StreamLayerError.self) {
      _ = try conversation.client.receive([22, 3, 2, 0, UInt8(hello.count)] + hello)
    }
    #expect(error?.reason.contains("a version of TLS before 1.2") == true, "\(error as Any)")
    #expect(error?.alert.first == 21)
  }
}
