import CLibuv
import Glibc
import Testing

@testable import BeansEventLoop

/// The documented behaviour of every public call after its handle, or its loop, has been closed.
@Suite(.timeLimit(.minutes(20)))
struct AfterCloseTests {
  /// Handles of one loop on which `close()` has been called.
  struct Handles: Sendable {
    let connection: TCPConnection
    let listener: TCPListener
    let signal: SignalSource
    let watcher: FileWatcher
  }

  /// A call, and a check that it behaves as documented.
  typealias Row = (call: String, isRight: @Sendable (Handles) -> Bool)

  static let rows: [Row] = [
    ("TCPConnection.isOpen", { !$0.connection.isOpen }),
    ("TCPConnection.isReadingPaused", { $0.connection.isReadingPaused }),
    (
      "TCPConnection.pauseReading",
      {
        $0.connection.pauseReading()
        return $0.connection.isReadingPaused
      }
    ),
    (
      "TCPConnection.resumeReading",
      {
        $0.connection.resumeReading()
        return $0.connection.isReadingPaused
      }
    ),
    (
      "TCPConnection.close",
      {
        $0.connection.close()
        return !$0.connection.isOpen
      }
    ),
    (
      "TCPConnection.closeAfterWrites",
      {
        $0.connection.closeAfterWrites()
        return !$0.connection.isOpen
      }
    ),
    (
      "TCPConnection.reset",
      {
        $0.connection.reset()
        return !$0.connection.isOpen
      }
    ),
    (
      "TCPConnection.write",
      { handles in answer(handles) { handles.connection.write([1], completion: $0) } }
    ),
    (
      "TCPConnection.write of nothing",
      { handles in answer(handles) { handles.connection.write([], completion: $0) } }
    ),
    (
      "TCPConnection.shutdown",
      { handles in answer(handles) { handles.connection.shutdown(completion: $0) } }
    ),
    ("TCPConnection.tryWrite", { handles in [1].withUnsafeBytes { handles.connection.tryWrite($0) } == 0 }),
    ("TCPConnection.writeQueueSize", { $0.connection.writeQueueSize == 0 }),
    ("TCPConnection.isWritable", { !$0.connection.isWritable }),
    ("TCPConnection.localAddress", { $0.connection.localAddress == nil }),
    ("TCPConnection.peerAddress", { $0.connection.peerAddress == nil }),
    ("TCPConnection.setNoDelay", { handles in code { try handles.connection.setNoDelay(true) } == .handleClosed }),
    (
      "TCPConnection.highWaterMark",
      {
        $0.connection.highWaterMark = 1
        return !$0.connection.isWritable
      }
    ),
    ("TCPListener.isOpen", { !$0.listener.isOpen }),
    ("TCPListener.stopAccepting", { handles in code { try handles.listener.stopAccepting() } == .handleClosed }),
    ("TCPListener.allowReusingPort", { handles in code { try handles.listener.allowReusingPort() } == .handleClosed }),
    ("TCPListener.port", { $0.listener.port == $0.listener.address.port && $0.listener.port > 0 }),
    (
      "TCPListener.close",
      {
        $0.listener.close()
        return !$0.listener.isOpen
      }
    ),
    (
      "SignalSource.cancel",
      {
        $0.signal.cancel()
        $0.signal.close()
        return !$0.signal.isOpen && $0.signal.number == SIGUSR2
      }
    ),
    (
      "SignalSource.closeIgnoringSignal",
      {
        $0.signal.closeIgnoringSignal()
        var current = sigaction()
        return sigaction(SIGUSR2, nil, &current) == 0 && current.__sigaction_handler.sa_handler == nil
      }
    ),
    (
      "FileWatcher.cancel",
      {
        $0.watcher.cancel()
        $0.watcher.close()
        return !$0.watcher.isOpen && $0.watcher.path == "/"
      }
    ),
  ]

  /// Runs a loop until it has looked at its handles once.
  private func turn(_ loop: EventLoop) throws {
    loop.execute { loop.stop() }
    try loop.run()
  }

  /// Returns true if a refused write completes exactly once with an error, after the call has returned.
  private static func answer(_ handles: Handles, _ write: (@escaping TCPConnection.WriteCompletion) -> Void) -> Bool {
    let isBack = Box(false)
    write { error in
      #expect(isBack.value || handles.connection.loop.isClosed)
      #expect(error?.code == .handleClosed)
      answers.update { $0 += 1 }
    }
    isBack.update { $0 = true }
    return true
  }

  private static let answers = Box(0)

  /// All calls while libuv still has the handles, and again when their memory is gone.
  @Test func callsOnClosedHandlesHaveNoEffectOrFail() throws {
    let wrong = Box<[String]>([])
    func check(_ handles: Handles, _ state: String) {
      for row in Self.rows where !row.isRight(handles) { wrong.update { $0.append("\(row.call), \(state)") } }
    }
    let before = Self.answers.value
    let loop = try EventLoop()
    let accepted = Box<TCPConnection?>(nil)
    let listener = try TCPListener(on: loop) { server in
      accepted.update { $0 = server }
      loop.stop()
    }
    let client = try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { _ in }
    try loop.run()
    let server = try #require(accepted.value)
    server.resumeReading()
    let handles = Handles(
      connection: server, listener: listener, signal: try loop.onSignal(SIGUSR2) {},
      watcher: try loop.onFileChange("/") { _ in })
    server.close()
    listener.close()
    handles.signal.close()
    handles.watcher.close()
    check(handles, "closing")
    client.close()
    while !loop.openHandles.isEmpty { try turn(loop) }
    check(handles, "closed")
    try loop.close()
    check(handles, "loop closed")
    #expect(wrong.value == [])
    #expect(Self.answers.value - before == 9)
  }

  /// AddressSanitizer does not see into libuv, and does not give the same memory out again.
  @Test(.enabled(if: !isSanitized)) func aClosedConnectionLeavesTheOneInItsMemoryAlone() throws {
    let loop = try EventLoop()
    let held = Box<[TCPConnection]>([])
    let listener = try TCPListener(on: loop) { server in
      server.resumeReading()
      held.update { $0.append(server) }
      loop.stop()
    }
    func connect() throws -> TCPConnection {
      try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { _ in }
    }
    func accept() throws -> TCPConnection {
      let client = try connect()
      held.update { $0.append(client) }
      try loop.run()
      return try #require(held.value.last)
    }
    let closed = try accept()
    closed.close()
    while closed.state != .closed { try turn(loop) }
    var tenant: TCPConnection?
    for _ in 0..<100 where tenant == nil {
      _ = try accept()
      tenant = held.value.first { $0.isOpen && $0.memory == closed.memory }
    }
    let other = try #require(tenant, "the memory was not given out again")
    other.resumeReading()
    let wasReading = uv_is_active(other.handle)
    closed.pauseReading()
    #expect(uv_is_active(other.handle) == wasReading)
    #expect(code { try listener.stopAccepting() } == nil)
    for connection in held.value { connection.close() }
    listener.close()
    try loop.close()
  }

  @Test func aCallbackSetOnAClosedHandleIsNotKept() throws {
    let population = Box(0)
    try Pair.run { pair in
      pair.client.onClose = { _ in pair.loop.execute { late(pair.client) } }
      pair.server.onClose = { _ in late(pair.server) }
      pair.client.close()
      pair.server.close()
      @Sendable func late(_ connection: TCPConnection) {
        let canary = Canary(population)
        // Each of them would keep the connection, which would keep it.
        connection.onRead = { _ in
          connection.close(); canary.sing()
        }
        connection.onEnd = {
          connection.close(); canary.sing()
        }
        connection.onDrain = {
          connection.close(); canary.sing()
        }
        connection.onClose = { _ in
          connection.close(); canary.sing()
        }
        pair.ended()
      }
    }
    #expect(population.value == 0)
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { _ in }
    listener.close()
    try loop.close()
    do {
      let canary = Canary(population)
      listener.onAcceptError = { _ in
        listener.close(); canary.sing()
      }
    }
    #expect(population.value == 0)
  }

  @Test func callsOnAClosedLoopFail() async throws {
    let loop = try EventLoop()
    try loop.close()
    let population = Box(0)
    do {
      let canary = Canary(population)
      loop.execute { canary.sing() }
      #expect(!loop.tryExecute { canary.sing() })
      #expect(!loop.schedule(after: .zero) { canary.sing() }.cancel())
    }
    #expect(population.value == 0)
    loop.stop()
    try loop.close()
    #expect(code { try loop.run() } == .loopClosed)
    #expect(code { _ = try TCPListener(on: loop) { _ in } } == .loopClosed)
    #expect(code { try TCPConnection.connect(on: loop, host: "127.0.0.1", port: 1) { _ in } } == .loopClosed)
    #expect(code { try loop.onSignal(SIGUSR2) {} } == .loopClosed)
    #expect(code { try loop.onFileChange("/") { _ in } } == .loopClosed)
    await #expect(throws: EventLoopError.self) { try await loop.sleep(for: .zero) }
    #expect(loop.isClosed && !loop.isRunning && !loop.isCurrent)
    #expect(loop.scheduledCount == 0)
    #expect(loop.openHandles == [:])
    #expect(loop.handleTotals == (0, 0))
    #expect(await Task(executorPreference: loop) { loop.isCurrent }.value)
  }

  @Test func callsOnAnEndedThreadFail() async throws {
    let thread = try EventLoopThread()
    try thread.stopAndJoin()
    thread.stop()
    try thread.join()
    try await thread.waitForEnd()
    #expect(thread.loop.isClosed)
  }
}
