import Testing

@testable import BeansEventLoop

/// A layer that inverts each byte, after a handshake of one byte each way.
private final class InvertingLayer: StreamLayer {
  private(set) var isReady = false

  func begin() -> [UInt8] { [UInt8(ascii: "?")] }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(StreamLayerError) -> StreamLayerOutput {
    var rest = bytes[...]
    if !isReady {
      guard rest.popFirst() == UInt8(ascii: "!") else {
        throw StreamLayerError("the greeting is wrong", alert: [UInt8(ascii: "x")])
      }
      isReady = true
    }
    if rest.first == 255 { throw StreamLayerError("the peer has ended it") }
    // A zero ends the peer's side.
    let end = rest.firstIndex(of: 0)
    let plaintext = rest[..<(end ?? rest.endIndex)].map { ~$0 }
    return StreamLayerOutput(plaintext: plaintext, reply: [], hasEnded: end != nil)
  }

  func receiveEnd() throws(StreamLayerError) { throw StreamLayerError("bytes may be missing") }

  func send(_ bytes: UnsafeRawBufferPointer) -> [UInt8] { bytes.map { ~$0 } }

  func end() -> [UInt8] { [0] }
}

@Suite(.timeLimit(.minutes(5))) struct StreamLayerTests {
  /// The observations of a client and its server.
  private struct Seen: Sendable, Equatable {
    var received: [UInt8] = []
    var plaintext: [UInt8] = []
    var results: [EventLoopError?] = []
    var reason: TCPConnection.CloseReason?
    var hasEnded = false
  }

  /// Connects through the layer to a server that sends `reply` at the first byte, and ends its side if `ends`.
  private static func run(
    reply: [UInt8], ends: Bool = false, _ connected: @escaping @Sendable (TCPConnection) -> Void
  ) throws -> Seen {
    let loop = try EventLoop()
    let seen = Box(Seen())
    let listener = try TCPListener(on: loop) { server in
      server.onRead = { bytes in
        let isFirst = seen.value.received.isEmpty
        let bytes = Array(bytes)
        seen.update { $0.received += bytes }
        if isFirst { server.write(reply) }
        if isFirst, ends { server.shutdown() }
      }
      server.onClose = { _ in loop.stop() }
      server.resumeReading()
    }
    var options = ConnectOptions()
    options.layer = { _ in InvertingLayer() }
    let address = SocketAddress(host: "127.0.0.1", port: listener.port)
    let client = try TCPConnection.connect(on: loop, to: address, options: options) { result in
      switch result {
      case .success(let client):
        seen.update { $0.results.append(nil) }
        connected(client)
      case .failure(let error): seen.update { $0.results.append(error) }
      }
    }
    client.onRead = { bytes in
      let bytes = Array(bytes)
      seen.update { $0.plaintext += bytes }
    }
    client.onEnd = {
      seen.update { $0.hasEnded = true }
      client.close()
    }
    client.onClose = { reason in seen.update { $0.reason = reason } }
    // Waits until the handshake is complete.
    client.write([1])
    try loop.run()
    listener.close()
    try loop.close()
    return seen.value
  }

  @Test func bothDirectionsPassThroughTheLayer() throws {
    let seen = try Self.run(reply: [UInt8(ascii: "!"), ~2, ~3, 0]) { client in
      client.write([4])
      client.resumeReading()
    }
    #expect(seen.received == [UInt8(ascii: "?"), ~1, ~4, 0])
    #expect(seen.plaintext == [2, 3])
    #expect(seen.results == [nil])
    #expect(seen.hasEnded)
    #expect(seen.reason == .local)
  }

  @Test func bytesWaitWhileTheConnectionIsPaused() throws {
    let seen = try Self.run(reply: [UInt8(ascii: "!"), ~2, 0]) { client in
      client.loop.schedule(after: .milliseconds(1)) { client.resumeReading() }
    }
    #expect(seen.plaintext == [2])
    #expect(seen.hasEnded)
  }

  @Test func writesAreSentBeforeTheEnd() throws {
    let seen = try Self.run(reply: [UInt8(ascii: "!")]) { client in
      client.write([5])
      client.closeAfterWrites()
    }
    #expect(seen.received == [UInt8(ascii: "?"), ~1, ~5, 0])
  }

  @Test func aConnectionMayBeClosedAfterWritesThatWaitForTheHandshake() throws {
    let received = Box<[UInt8]>([])
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { server in
      server.onRead = { bytes in
        if received.value.isEmpty { server.write([UInt8(ascii: "!")]) }
        let bytes = Array(bytes)
        received.update { $0 += bytes }
      }
      server.onClose = { _ in loop.stop() }
      server.resumeReading()
    }
    var options = ConnectOptions()
    options.layer = { _ in InvertingLayer() }
    let client = try TCPConnection.connect(
      on: loop, to: SocketAddress(host: "127.0.0.1", port: listener.port), options: options
    ) { _ in }
    client.write([6])
    client.closeAfterWrites()
    try loop.run()
    listener.close()
    try loop.close()
    #expect(received.value == [UInt8(ascii: "?"), ~6, 0])
  }

  @Test func aFailedHandshakeFailsTheConnection() throws {
    let seen = try Self.run(reply: [UInt8(ascii: "-")]) { _ in Issue.record("connected") }
    #expect(seen.received == [UInt8(ascii: "?"), UInt8(ascii: "x")])
    #expect(seen.results.map { $0?.code } == [.layerFailed])
    #expect(seen.results.first??.detail == "the greeting is wrong")
    #expect(seen.results.first??.operation.hasPrefix("connect to 127.0.0.1:") == true)
    #expect(seen.reason == .failed(EventLoopError(.layerFailed, "")))
  }

  @Test func anEndInTheHandshakeFailsTheConnection() throws {
    let seen = try Self.run(reply: [], ends: true) { _ in Issue.record("connected") }
    #expect(seen.results.map { $0?.code } == [.endOfFile])
    #expect(seen.results.first??.detail == "bytes may be missing")
  }

  @Test func anEndBesideTheLayerIsAFailure() throws {
    let seen = try Self.run(reply: [UInt8(ascii: "!"), ~2], ends: true) { $0.resumeReading() }
    #expect(seen.plaintext == [2])
    #expect(!seen.hasEnded)
    #expect(seen.reason == .failed(EventLoopError(.endOfFile, "")))
  }

  /// The peer sends its reason and resets the connection, before the client reads the reason.
  @Test func theReasonOfAPeerPrecedesItsReset() throws {
    let loop = try EventLoop()
    let (client, reason) = (Box<TCPConnection?>(nil), Box<TCPConnection.CloseReason?>(nil))
    let listener = try TCPListener(on: loop) { server in
      server.onRead = { bytes in
        if bytes.first == UInt8(ascii: "?") { return server.write([UInt8(ascii: "!")]) }
        server.write([255])
        server.reset()
      }
      server.onClose = { _ in client.value?.write([4]) }
      server.resumeReading()
    }
    var options = ConnectOptions()
    options.layer = { _ in InvertingLayer() }
    let address = SocketAddress(host: "127.0.0.1", port: listener.port)
    try TCPConnection.connect(on: loop, to: address, options: options) { result in
      guard case .success(let connection) = result else { return loop.stop() }
      client.update { $0 = connection }
      connection.onClose = { end in
        reason.update { $0 = end }
        loop.stop()
      }
      connection.write([1])
    }
    try loop.run()
    listener.close()
    client.update { $0 = nil }
    try loop.close()
    guard case .failed(let error) = reason.value else {
      Issue.record("no failure: \(reason.value as Any)")
      return
    }
    #expect(error.code == .layerFailed)
    #expect(error.detail == "the peer has ended it")
  }

  @Test func aLayerThatCannotBeMadeFailsTheConnection() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { $0.close() }
    var options = ConnectOptions()
    options.layer = { host throws(StreamLayerError) in throw StreamLayerError("no roots for \(host)") }
    let details = Box<[String]>([])
    try TCPConnection.connect(
      on: loop, to: SocketAddress(host: "127.0.0.1", port: listener.port), options: options
    ) { result in
      if case .failure(let error) = result { details.update { $0.append(error.detail) } }
      loop.stop()
    }
    try loop.run()
    listener.close()
    try loop.close()
    #expect(details.value == ["no roots for 127.0.0.1"])
  }
}
