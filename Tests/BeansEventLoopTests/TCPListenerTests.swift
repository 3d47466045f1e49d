import CLibuv
import Glibc
import Testing

@testable import BeansEventLoop

@Suite(.timeLimit(.minutes(20)))
struct TCPListenerTests {
  @Test func aListenerReturnsItsPort() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { _ in }
    #expect(listener.address.host == "127.0.0.1")
    #expect((1...65_535).contains(listener.port))
    listener.close()
    listener.close()
    try loop.close()
  }

  @Test func aTakenPortIsAnErrorAndLeavesNothingOpen() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { _ in }
    do {
      _ = try TCPListener(on: loop, port: listener.port) { _ in }
      Issue.record("listened on a taken port")
    } catch {
      #expect(error.code == .addressInUse)
      #expect(error.operation == "listen on 127.0.0.1:\(listener.port)")
    }
    listener.close()
    try loop.close()
    #expect(loop.handleTotals == (1, 1))
  }

  @Test func malformedAddressesAreRefused() throws {
    let loop = try EventLoop()
    #expect(code { _ = try TCPListener(on: loop, host: "localhost\0") { _ in } } == .invalidArgument)
    #expect(code { _ = try TCPListener(on: loop, port: 70_000) { _ in } } == .invalidArgument)
    do {
      _ = try TCPListener(on: loop, host: unknownHost, port: 80) { _ in }
      Issue.record("listened on an unknown host")
    } catch {
      #expect(error.meansNoServer, "\(error)")
      #expect(error.operation == "listen on \(unknownHost):80")
    }
    try loop.close()
    #expect(loop.handleTotals.opened == 0)
  }

  @Test func aListenerListensOnAName() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop, host: "localhost") { $0.close() }
    #expect(listener.address.numeric != nil)
    let peer = Box<SocketAddress?>(nil)
    try TCPConnection.connect(on: loop, host: "localhost", port: listener.port) { result in
      guard case .success(let client) = result else { return loop.stop() }
      peer.update { $0 = client.peerAddress }
      client.onClose = { _ in loop.stop() }
      client.resumeReading()
    }
    try loop.run()
    #expect(peer.value == listener.address)
    listener.close()
    try loop.close()
    #expect(code { _ = try TCPListener(on: loop, host: "localhost") { _ in } } == .loopClosed)
  }

  @Test func aListenerListensOnIPv6() throws {
    let loop = try EventLoop()
    let listener: TCPListener
    do {
      listener = try TCPListener(on: loop, host: "::1") { $0.close() }
    } catch {
      // A machine without IPv6 fails with one of these two; any other failure is a fault.
      #expect(error.name == "EADDRNOTAVAIL" || error.name == "EAFNOSUPPORT")
      return try loop.close()
    }
    let peer = Box<SocketAddress?>(nil)
    try TCPConnection.connect(on: loop, host: "::1", port: listener.port) { result in
      guard case .success(let client) = result else { return loop.stop() }
      peer.update { $0 = client.peerAddress }
      client.onClose = { _ in loop.stop() }
      client.resumeReading()
    }
    try loop.run()
    #expect(peer.value == listener.address)
    #expect(peer.value?.host == "::1")
    listener.close()
    try loop.close()
  }

  @Test func severalListenersShareAPortOnlyWhenAllAskForIt() throws {
    let loop = try EventLoop()
    let first = try TCPListener(on: loop, reusePort: true) { _ in }
    let second = try TCPListener(on: loop, port: first.port, reusePort: true) { _ in }
    #expect(first.port == second.port)
    #expect(code { _ = try TCPListener(on: loop, port: first.port) { _ in } } == .addressInUse)
    first.close()
    second.close()
    try loop.close()
  }

  @Test func aPortThatIsSharedLaterIsSharedAsEvenly() throws {
    let loop = try EventLoop()
    let accepted = Box([0, 0])
    let first = try TCPListener(on: loop) { connection in
      accepted.update { $0[0] += 1 }
      connection.close()
    }
    #expect(code { _ = try TCPListener(on: loop, port: first.port, reusePort: true) { _ in } } == .addressInUse)
    try first.allowReusingPort()
    #expect(code { _ = try TCPListener(on: loop, port: first.port) { _ in } } == .addressInUse)
    let second = try TCPListener(on: loop, port: first.port, reusePort: true) { connection in
      accepted.update { $0[1] += 1 }
      connection.close()
    }
    let clients = 200
    loop.execute {
      for _ in 0..<clients {
        _ = try? TCPConnection.connect(on: loop, host: "127.0.0.1", port: first.port) { result in
          guard case .success(let client) = result else { return loop.stop() }
          client.onClose = { _ in
            if loop.openHandles["TCPConnection"] == nil, accepted.value.reduce(0, +) == clients { loop.stop() }
          }
          client.resumeReading()
        }
      }
    }
    try loop.run()
    // The system spreads them by a hash of the addresses; 50 of 200 would be a miracle.
    #expect(accepted.value.min() ?? 0 > 50)
    first.close()
    second.close()
    try loop.close()
  }

  @Test func aListenerAcceptsNoMoreAfterClose() throws {
    let loop = try EventLoop()
    let result = Box<EventLoopError.Code?>(nil)
    let listener = try TCPListener(on: loop) { _ in Issue.record("accepted") }
    let port = listener.port
    listener.close()
    loop.execute {
      do {
        try TCPConnection.connect(on: loop, host: "127.0.0.1", port: port) { outcome in
          if case .failure(let error) = outcome { result.update { $0 = error.code } }
          loop.stop()
        }
      } catch {
        Issue.record(error)
        loop.stop()
      }
    }
    try loop.run()
    #expect(result.value == .connectionRefused)
    try loop.close()
  }

  /// With `TCP_DEFER_ACCEPT` a handshake that is over for the client goes on here until its first bytes arrive.
  @Test func handshakesThatHaveBegunCompleteAfterAListenerStopsAccepting() throws {
    let loop = try EventLoop()
    let received = Box<[UInt8]>([])
    let listener = try TCPListener(on: loop) { server in
      server.onRead = { bytes in
        let bytes = Array(bytes)
        received.update { $0 += bytes }
        server.close()
      }
      server.onClose = { _ in loop.stop() }
      server.resumeReading()
    }
    var descriptor: Int32 = -1
    #expect(uv_fileno(listener.handle, &descriptor) == 0)
    var seconds: Int32 = 60
    let size = socklen_t(MemoryLayout<Int32>.size)
    #expect(setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_DEFER_ACCEPT, &seconds, size) == 0)

    try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
      guard case .success(let client) = result else {
        Issue.record("\(result)")
        return loop.stop()
      }
      do {
        try listener.stopAccepting()
      } catch {
        Issue.record(error)
      }
      client.onClose = { _ in loop.stop() }
      client.resumeReading()
      client.write(Array("first bytes".utf8))
      // As many turns as a drain grants to connections that have arrived, and some more.
      @Sendable func wait(_ turns: Int) {
        if turns > 0 { loop.execute { wait(turns - 1) } } else { listener.close() }
      }
      wait(10)
    }
    try loop.run()
    #expect(received.value == Array("first bytes".utf8))
    listener.close()
    for _ in 0..<2 {
      loop.execute { loop.stop() }
      try loop.run()
    }
    try loop.close()
  }

  @Test func aListenerAcceptsAllWaitingConnectionsBeforeItIsClosed() throws {
    let loop = try EventLoop()
    let accepted = Box(0)
    let listener = try TCPListener(on: loop) { connection in
      accepted.update { $0 += 1 }
      connection.close()
    }
    let clients = try (0..<300).compactMap { _ in try BlockingClient.connect(port: listener.port) }
    #expect(clients.count == 300)
    // As a server ends: with two more looks at the sockets.
    loop.execute {
      do { try listener.stopAccepting() } catch { Issue.record(error) }
      loop.execute {
        loop.execute {
          listener.close()
          loop.stop()
        }
      }
    }
    try loop.run()
    #expect(accepted.value == 300)
    try loop.close()
    for client in clients { close(client) }
  }

  @Test func aListenerAcceptsNoFurtherClientAfterItStopsAccepting() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { _ in Issue.record("accepted") }
    try listener.stopAccepting()
    let outcome = Box<EventLoopError.Code?>(nil)
    try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
      if case .failure(let error) = result { outcome.update { $0 = error.code } }
      loop.stop()
    }
    // The client's next attempt, a second later, finds no listener.
    listener.close()
    try loop.run()
    #expect(outcome.value == .connectionRefused)
    try loop.close()
  }

  /// Clients and listeners share a few descriptors, in a process of their own: the clients take all that are left, leave, and
  /// come again.
  @Test(arguments: [2, 8]) func aListenerAcceptsAgainWhenDescriptorsAreFree(loops: Int) async {
    await #expect(processExitsWith: .success) { [loops] in
      // A loop that never comes back from libuv would hang this process.
      alarm(60)
      // Beyond those that it was started with.
      let next = dup(STDIN_FILENO)
      let descriptors = rlim_t(Int(next) + 40 + 8 * loops)
      var limit = rlimit(rlim_cur: descriptors, rlim_max: descriptors)
      precondition(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let threads = try (0..<loops).map { _ in try EventLoopThread() }
      let failures = Box(0)
      let port = Box(0)
      let listeners = Box<[TCPListener]>([])
      for thread in threads {
        let isReady = Event()
        thread.loop.execute {
          defer { isReady.signal() }
          do {
            let listener = try TCPListener(on: thread.loop, port: port.value, reusePort: true) { connection in
              connection.onRead = { connection.write($0) }
              connection.resumeReading()
            }
            listener.onAcceptError = { error in
              if error.code == .tooManyOpenFiles { failures.update { $0 += 1 } }
            }
            port.update { $0 = listener.port }
            listeners.update { $0.append(listener) }
          } catch {
            preconditionFailure("\(error)")
          }
        }
        isReady.wait()
      }
      for _ in 0..<3 {
        let before = failures.value
        var clients: [Int32] = []
        while let client = try BlockingClient.connect(port: port.value) { clients.append(client) }
        // No connection can be accepted, for want of descriptors; the loops go on.
        while failures.value == before { sched_yield() }
        for thread in threads {
          let isThere = Event()
          thread.loop.execute { isThere.signal() }
          isThere.wait()
        }
        for client in clients { close(client) }
        // As many as there are loops, so that each is likely to get one.
        for _ in 0..<loops {
          var client: Int32?
          while client == nil { client = try BlockingClient.connect(port: port.value) }
          if let client {
            precondition(BlockingClient.isEchoed(client))
            close(client)
          }
        }
      }
      for thread in threads {
        let listeners = listeners.value
        thread.loop.execute { for listener in listeners where listener.loop === thread.loop { listener.close() } }
      }
      for thread in threads {
        while thread.loop.openHandles != [:] { sched_yield() }
        try thread.stopAndJoin()
      }
    }
  }

  @Test func aListenerReleasesItsClosures() throws {
    let loop = try EventLoop()
    let population = Box(0)
    let listener: TCPListener
    do {
      let canary = Canary(population)
      listener = try TCPListener(on: loop) { _ in canary.sing() }
      listener.onAcceptError = { _ in
        canary.sing()
        listener.close()
      }
    }
    #expect(population.value == 1)
    listener.close()
    try loop.close()
    #expect(population.value == 0)
  }

  @Test func aListenerAcceptsManyConnections() throws {
    let loop = try EventLoop()
    let total = 2_000
    let answered = Box(0)
    @Sendable func stopAfterTheLast() {
      if loop.openHandles["TCPConnection"] == nil { loop.stop() }
    }
    let listener = try TCPListener(on: loop) { peer in
      peer.onRead = { peer.write($0) }
      peer.onClose = { _ in stopAfterTheLast() }
      peer.resumeReading()
    }
    // Each finished client starts the next one, so that no more than a hundred file descriptors are in use.
    let left = Box(total)
    @Sendable func startOne() {
      guard left.value > 0 else { return }
      left.update { $0 -= 1 }
      do {
        try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
          guard case .success(let client) = result else {
            Issue.record("\(result)")
            return loop.stop()
          }
          client.onRead = { _ in
            answered.update { $0 += 1 }
            client.close()
          }
          client.onClose = { _ in
            startOne()
            stopAfterTheLast()
          }
          client.resumeReading()
          client.write([1])
        }
      } catch {
        Issue.record(error)
        loop.stop()
      }
    }
    loop.execute { for _ in 0..<50 { startOne() } }
    try loop.run()
    #expect(answered.value == total)
    listener.close()
    try loop.close()
    #expect(loop.handleTotals.opened == 2 * total + 1)
    #expect(loop.handleTotals.closed == 2 * total + 1)
  }
}

/// Sockets that block, for a client on the thread of a test.
private enum BlockingClient {
  /// Nil where there is no descriptor left.
  static func connect(port: Int) throws -> Int32? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if descriptor < 0, errno == EMFILE { return nil }
    precondition(descriptor >= 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    precondition(status == 0)
    return descriptor
  }

  static func isEchoed(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 7
    return send(descriptor, &byte, 1, Int32(MSG_NOSIGNAL)) == 1 && recv(descriptor, &byte, 1, 0) == 1 && byte == 7
  }
}
