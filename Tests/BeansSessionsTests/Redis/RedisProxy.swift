import BeansEventLoop
@_spi(BeansPackage) import BeansSupport
import Foundation

/// Stands between a store and its server, and loses replies when a test says so; or in the place of a server.
final class RedisProxy: Sendable {
  private struct State {
    var listener: TCPListener?
    var connections: [TCPConnection] = []
    /// Called when a reply has been lost; nil where none is to be lost.
    var loss: (@Sendable () -> Void)?
    var lostReplies = 0
    /// What clients have sent.
    var sent: [UInt8] = []
  }

  private let loop: EventLoop
  private let port: Int
  /// What it answers by itself, to whatever comes; without any bytes it closes the connection. nil where it asks the server.
  private let answer: [UInt8]?
  private let state = Locked(State())

  init(on loop: EventLoop, to port: Int) { (self.loop, self.port, answer) = (loop, port, nil) }

  init(on loop: EventLoop, answering answer: [UInt8]) { (self.loop, port, self.answer) = (loop, 0, answer) }

  var lostReplies: Int { state.withLock { $0.lostReplies } }

  /// How many sessions' calls have passed, without the first ones of a connection.
  var calls: Int {
    String(decoding: state.withLock { $0.sent }, as: UTF8.self).components(separatedBy: "EVALSHA").count - 1
  }

  /// Has the next reply arrive at nobody, and the connection end instead; `then` runs in between.
  func loseNextReply(_ then: @escaping @Sendable () -> Void = {}) { state.withLock { $0.loss = then } }

  /// Returns the port to connect to.
  func start() async throws -> Int {
    try await loop.run { [self] in
      let listener = try TCPListener(on: loop) { [self] client in accept(client) }
      state.withLock { $0.listener = listener }
      return listener.port
    }
  }

  func stop() async throws {
    try await loop.run { [self] in
      let (listener, connections) = state.withLock { ($0.listener, $0.connections) }
      listener?.close()
      for connection in connections { connection.close() }
      state.withLock { $0 = State() }
    }
  }

  private func accept(_ client: TCPConnection) {
    if let answer {
      state.withLock { $0.connections.append(client) }
      client.onRead = { _ in if answer.isEmpty { client.close() } else { client.write(answer) } }
      return client.resumeReading()
    }
    let server = try? TCPConnection.connect(on: loop, host: "127.0.0.1", port: port) { result in
      guard case .success(let server) = result else { return client.close() }
      server.resumeReading()
      client.resumeReading()
    }
    guard let server else { return client.close() }
    state.withLock { $0.connections += [client, server] }
    client.onRead = { [self] bytes in
      let sent = Array(bytes)
      state.withLock { $0.sent += sent }
      server.write(sent)
    }
    server.onRead = { [self] bytes in
      let loss = state.withLock { state in
        defer { state.loss = nil }
        if state.loss != nil { state.lostReplies += 1 }
        return state.loss
      }
      guard let loss else { return client.write(bytes) }
      loss()
      client.close()
      server.close()
    }
    client.onClose = { _ in server.close() }
    server.onClose = { _ in client.close() }
  }
}

extension EventLoop {
  /// Runs `body` on the loop's thread and waits for it.
  func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      execute { continuation.resume(with: Result { try body() }) }
    }
  }
}
