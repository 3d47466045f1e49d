@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import BeansRedis
import BeansSessions
import Foundation
import TestSupport

/// A proxy between a store and its server that loses replies on demand; or a server of its own.
final class RedisProxy: Sendable {
  private struct State {
    var listener: TCPListener?
    var connections: [TCPConnection] = []
    /// Called when a reply has been lost; nil where none is to be lost.
    var loss: (@Sendable () -> Void)?
    /// True if the lost reply arrives up to its second array.
    var losesInPart = false
    /// Sent to the client in place of the next reply; nil where none is to be replaced.
    var replacement: [UInt8]?
    var lostReplies = 0
    /// Holds the next call back if it is wanted, and closes its connection at once if so.
    var hold: (isWanted: Bool, closes: Bool) = (false, true)
    /// A call that has been held back, and the connection to the server that it is to arrive on.
    var held: (call: [UInt8], server: TCPConnection)?
    /// The last connection of a client that has been accepted.
    var client: TCPConnection?
    /// The bytes that clients have sent.
    var sent: [UInt8] = []
  }

  private let loop: EventLoop
  private let port: Int
  /// The reply of the proxy to each call; without any bytes it closes the connection. nil if it asks the server.
  private let answer: [UInt8]?
  private let state = Locked(State())

  init(on loop: EventLoop, to port: Int) { (self.loop, self.port, answer) = (loop, port, nil) }

  init(on loop: EventLoop, answering answer: [UInt8]) { (self.loop, port, self.answer) = (loop, 0, answer) }

  var lostReplies: Int { state.withLock { $0.lostReplies } }

  /// The number of calls about sessions that have passed, without the first ones of a connection.
  var calls: Int {
    let sent = String(decoding: state.withLock { $0.sent }, as: UTF8.self)
    return ["EVALSHA", "HGETALL", "HMGET"].reduce(0) { $0 + sent.components(separatedBy: "\r\n\($1)\r\n").count - 1 }
  }

  /// Loses the next reply and closes the connection instead; `then` runs in between.
  func loseNextReply(_ then: @escaping @Sendable () -> Void = {}) { state.withLock { $0.loss = then } }

  /// Lets the next reply arrive up to its second array, and ends the connection then.
  func cutNextReply() { state.withLock { ($0.loss, $0.losesInPart) = ({}, true) } }

  /// Replaces the next reply.
  func replaceNextReply(_ reply: String) { state.withLock { $0.replacement = Array(reply.utf8) } }

  /// Holds the next call back until `deliverHeldCall()`, as a proxy with a full buffer does.
  ///
  /// - Parameter closes: whether the connection of the client ends at once.
  func holdNextCall(closing closes: Bool = true) { state.withLock { $0.hold = (true, closes) } }

  /// Sends bytes to the last client of its own accord, and returns when the client has closed the connection.
  func inject(_ bytes: [UInt8]) async {
    let end = AsyncStream<Void>.makeStream()
    loop.execute { [self] in
      guard let client = state.withLock({ $0.client }) else { return end.continuation.finish() }
      client.onClose = { _ in end.continuation.finish() }
      client.write(bytes)
    }
    for await _ in end.stream {}
  }

  /// Sends bytes to the last client of its own accord.
  func send(_ bytes: [UInt8]) { loop.execute { [self] in state.withLock { $0.client }?.write(bytes) } }

  /// True if a call is held back.
  var isHolding: Bool { state.withLock { $0.held != nil } }

  /// Sends the call that is held back to the server, and returns when the server has replied.
  func deliverHeldCall() async throws {
    guard let held = state.withLock({ $0.held.take() }) else {
      throw RedisProcess.Failure(description: "no call is held back")
    }
    let replies = AsyncStream<Void>.makeStream()
    loop.execute {
      held.server.onRead = { _ in replies.continuation.finish() }
      held.server.onClose = { _ in replies.continuation.finish() }
      held.server.write(held.call)
    }
    for await _ in replies.stream {}
    loop.execute { held.server.close() }
  }

  /// Returns true if a call has been held back now.
  private func hold(_ sent: [UInt8], for server: TCPConnection) -> (isHeld: Bool, closes: Bool) {
    state.withLock { state in
      guard state.hold.isWanted, String(decoding: sent, as: UTF8.self).contains("EVALSHA") else {
        return (false, false)
      }
      state.held = (sent, server)
      state.hold.isWanted = false
      return (true, state.hold.closes)
    }
  }

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
      state.withLock {
        $0.connections.append(client)
        $0.client = client
      }
      client.onRead = { _ in if answer.isEmpty { client.close() } else { client.write(answer) } }
      return client.resumeReading()
    }
    let server = try? TCPConnection.connect(on: loop, host: "127.0.0.1", port: port) { result in
      guard case .success(let server) = result else { return client.close() }
      server.resumeReading()
      client.resumeReading()
    }
    guard let server else { return client.close() }
    state.withLock { $0.client = client }
    state.withLock { $0.connections += [client, server] }
    client.onRead = { [self] bytes in
      let sent = Array(bytes)
      state.withLock { $0.sent += sent }
      let (isHeld, closes) = hold(sent, for: server)
      if isHeld {
        client.onClose = { _ in }
        if closes { client.close() }
        return
      }
      server.write(sent)
    }
    server.onRead = { [self] bytes in
      if let replacement = state.withLock({ $0.replacement.take() }) { return client.write(replacement) }
      let (loss, isCut) = state.withLock { state in
        defer { (state.loss, state.losesInPart) = (nil, false) }
        if state.loss != nil { state.lostReplies += 1 }
        return (state.loss, state.losesInPart)
      }
      guard let loss else { return client.write(bytes) }
      if isCut { client.write(Array(bytes.prefix(upTo: bytes.lastIndex(of: UInt8(ascii: "*")) ?? 0))) }
      loss()
      client.close()
      server.close()
    }
    client.onClose = { _ in server.close() }
    server.onClose = { _ in client.close() }
  }
}

/// Runs `body` with a store that reaches its server through a proxy.
func withProxy(
  _ options: RedisOptions = .patient,
  _ body: (RedisProxy, RedisSessionStore, RawRedis, RedisProcess) async throws -> Void
) async throws {
  let process = try RedisProcess()
  defer { process.end() }
  let raw = try RawRedis(process)
  try await EventLoop.withThread { loop in
    let proxy = RedisProxy(on: loop, to: process.port)
    let port = try await proxy.start()
    let store = RedisSessionStore(host: "127.0.0.1", port: port, loops: [loop], limits: wideLimits, options: options)
    let result: Result<Void, any Error>
    do { result = .success(try await body(proxy, store, raw, process)) } catch { result = .failure(error) }
    store.close()
    try await proxy.stop()
    try result.get()
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
