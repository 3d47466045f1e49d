import BeansEventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20)))
struct TCPConnectionTests {
  // MARK: Ends

  @Test func aConnectionEchoesUntilTheClientCloses() throws {
    let received = Box<[UInt8]>([])
    let reasons = Reasons()
    try Pair.run { pair in
      pair.record(in: reasons)
      pair.server.onRead = { pair.server.write($0) }
      pair.client.onRead = { bytes in
        let chunk = Array(bytes)
        received.update { $0 += chunk }
        if received.value.count == 5 { pair.client.close() }
      }
      pair.server.resumeReading()
      pair.client.resumeReading()
      pair.client.write(Array("hello".utf8))
    }
    #expect(received.value == Array("hello".utf8))
    #expect(reasons.client.value == [.local])
    #expect(reasons.server.value == [.endOfFile])
  }

  @Test func closingTwiceIsClosingOnce() throws {
    let reasons = Reasons()
    try Pair.run { pair in
      pair.record(in: reasons)
      pair.client.close()
      pair.client.close()
      pair.client.reset()
      pair.client.closeAfterWrites()
      #expect(!pair.client.isOpen)
      #expect(pair.client.peerAddress == nil)
      pair.client.resumeReading()
      pair.server.resumeReading()
    }
    #expect(reasons.client.value == [.local])
    #expect(reasons.server.value == [.endOfFile])
  }

  @Test func aResetReachesThePeerAsAnError() throws {
    let reasons = Reasons()
    try Pair.run { pair in
      pair.record(in: reasons)
      pair.server.resumeReading()
      pair.client.reset()
    }
    #expect(reasons.client.value == [.local])
    guard case .failed(let error) = reasons.server.value.first else {
      Issue.record("no error")
      return
    }
    #expect(error.code == .connectionReset)
    #expect(error.operation == "read")
    #expect(reasons.server.value.count == 1)
  }

  @Test func aHalfCloseLetsTheOtherSideReply() throws {
    let log = Box<[String]>([])
    let reasons = Reasons()
    try Pair.run { pair in
      pair.record(in: reasons)
      pair.server.onRead = { bytes in
        let count = bytes.count
        log.update { $0.append("server read \(count)") }
      }
      pair.server.onEnd = {
        log.update { $0.append("server end") }
        pair.server.write(Array("answer".utf8))
        pair.server.closeAfterWrites()
      }
      pair.client.onRead = { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        log.update { $0.append("client read \(text)") }
      }
      pair.server.resumeReading()
      pair.client.resumeReading()
      pair.client.write([1, 2, 3])
      pair.client.shutdown { error in
        log.update { $0.append("client shut down \(error.map { "\($0)" } ?? "well")") }
        pair.client.write([4]) { error in
          if error?.code != .notConnected { Issue.record("wrote after the shutdown") }
        }
      }
    }
    #expect(Set(log.value) == ["server read 3", "server end", "client read answer", "client shut down well"])
    #expect(reasons.client.value == [.endOfFile])
    #expect(reasons.server.value == [.local])
  }

  @Test func closeAfterWritesSendsEverything() throws {
    let size = 8 << 20
    let received = Box(0)
    let reasons = Reasons()
    try Pair.run { pair in
      pair.record(in: reasons)
      pair.client.onRead = { bytes in
        let count = bytes.count
        received.update { $0 += count }
      }
      pair.client.resumeReading()
      pair.server.write([UInt8](repeating: 7, count: size))
      pair.server.closeAfterWrites()
      #expect(pair.server.isOpen, "eight megabytes do not fit into a socket's buffer")
      #expect(!pair.server.isWritable)
      pair.server.write([1]) { error in
        if error?.code != .handleClosed { Issue.record("wrote after closeAfterWrites") }
      }
    }
    #expect(received.value == size)
    #expect(reasons.client.value == [.endOfFile])
    #expect(reasons.server.value == [.local])
  }

  @Test func closingCancelsQueuedWritesBeforeOnClose() throws {
    let log = Box<[String]>([])
    try Pair.run { pair in
      for index in 0..<3 {
        pair.client.write([UInt8](repeating: 1, count: 8 << 20)) { error in
          log.update { $0.append("\(index) \(error?.name ?? "sent")") }
        }
      }
      pair.client.shutdown { error in log.update { $0.append("shutdown \(error?.name ?? "done")") } }
      pair.client.onClose = { _ in
        log.update { $0.append("closed") }
        pair.server.close()
      }
      pair.server.onClose = { _ in pair.ended() }
      pair.client.close()
    }
    #expect(Set(log.value.dropLast()) == ["0 ECANCELED", "1 ECANCELED", "2 ECANCELED", "shutdown ECANCELED"])
    #expect(log.value.count == 5)
    #expect(log.value.last == "closed")
  }

  @Test func writingToAPeerThatIsGoneFails() throws {
    let reasons = Reasons()
    let codes = Box<[EventLoopError.Code?]>([])
    try Pair.run { pair in
      pair.record(in: reasons)
      @Sendable func writeOn() {
        pair.server.write([UInt8](repeating: 1, count: 1_000)) { error in
          guard let error else { return pair.loop.execute { writeOn() } }
          codes.update { $0.append(error.code) }
        }
      }
      pair.client.reset()
      writeOn()
    }
    #expect(codes.value.count == 1)
    let isExpected = codes.value.allSatisfy { $0 == .brokenPipe || $0 == .connectionReset }
    #expect(isExpected)
    guard case .failed = reasons.server.value.first else {
      Issue.record("closed without a reason")
      return
    }
  }

  // MARK: Back-pressure

  @Test func aSlowReaderHoldsTheWriterBack() throws {
    let total = 32 << 20
    let chunk = [UInt8]((0..<(64 * 1024)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let received = Box(0)
    let isIntact = Box(true)
    let largestQueue = Box(0)
    let drains = Box(0)
    let pauses = Box(0)
    try Pair.run { pair in
      let reasons = Reasons()
      pair.record(in: reasons)
      let sent = Box(0)
      pair.server.highWaterMark = 256 * 1024
      @Sendable func fill() {
        while sent.value < total, pair.server.isWritable {
          pair.server.write(chunk)
          sent.update { $0 += chunk.count }
          let queue = pair.server.writeQueueSize
          largestQueue.update { $0 = max($0, queue) }
        }
        if sent.value == total { pair.server.closeAfterWrites() }
      }
      pair.server.onDrain = {
        drains.update { $0 += 1 }
        fill()
      }
      pair.client.onRead = { bytes in
        let start = received.value
        let matches = bytes.indices.allSatisfy { bytes[$0] == chunk[(start + $0) % chunk.count] }
        if !matches { isIntact.update { $0 = false } }
        let count = bytes.count
        let before = received.value >> 20
        received.update { $0 += count }
        // Once a megabyte the reader stops for a while.
        guard received.value >> 20 > before else { return }
        pauses.update { $0 += 1 }
        pair.client.pauseReading()
        #expect(pair.client.isReadingPaused)
        pair.loop.schedule(after: .milliseconds(1)) { pair.client.resumeReading() }
      }
      pair.client.resumeReading()
      fill()
      #expect(sent.value < total, "the writer has not been held back")
    }
    #expect(received.value == total)
    #expect(isIntact.value)
    #expect(largestQueue.value < 256 * 1024 + chunk.count)
    #expect(drains.value > 0)
    #expect(pauses.value >= 31)
  }

  @Test func aPausedConnectionReadsNoData() throws {
    let log = Box<[String]>([])
    try Pair.run { pair in
      pair.client.onRead = { _ in
        log.update { $0.append("read") }
        pair.client.close()
      }
      pair.client.onClose = { _ in pair.server.close() }
      pair.server.onClose = { _ in pair.ended() }
      pair.client.resumeReading()
      pair.client.pauseReading()
      pair.client.pauseReading()
      pair.server.write([1]) { _ in
        // The byte is in the client's socket now; several turns of the loop must not deliver it.
        turn(20)
      }
      @Sendable func turn(_ left: Int) {
        guard left == 0 else { return pair.loop.execute { turn(left - 1) } }
        log.update { $0.append("resume") }
        pair.client.resumeReading()
      }
    }
    #expect(log.value == ["resume", "read"])
  }

  // MARK: Writing

  @Test func completionsComeInOrderAndNeverInsideWrite() throws {
    let log = Box<[Int]>([])
    let isWriting = Box(false)
    let reads = Box<[UInt8]>([])
    try Pair.run { pair in
      pair.record(in: Reasons())
      pair.client.onRead = { bytes in
        let chunk = Array(bytes)
        reads.update { $0 += chunk }
      }
      pair.client.resumeReading()
      for index in 0..<100 {
        isWriting.update { $0 = true }
        pair.server.write([UInt8(index)]) { error in
          if isWriting.value || error != nil { Issue.record("completed inside write, or failed") }
          log.update { $0.append(index) }
        }
        isWriting.update { $0 = false }
      }
      pair.server.write([])
      pair.server.write([]) { _ in pair.server.closeAfterWrites() }
    }
    #expect(log.value == Array(0..<100))
    #expect(reads.value == Array(0..<100))
  }

  @Test func aCompletionMayWriteForever() throws {
    // Would overflow the stack if completions ran inside `write`.
    let count = Box(0)
    try Pair.run { pair in
      pair.record(in: Reasons())
      pair.client.resumeReading()
      @Sendable func next() {
        count.update { $0 += 1 }
        guard count.value < 50_000 else { return pair.server.close() }
        pair.server.write([1]) { _ in next() }
      }
      next()
    }
    #expect(count.value == 50_000)
  }

  @Test func callbacksAreReleasedAfterTheClose() throws {
    let population = Box(0)
    try Pair.run { pair in
      let canary = Canary(population)
      pair.client.onRead = { _ in canary.sing() }
      pair.client.onEnd = {
        canary.sing()
        pair.client.close()
      }
      pair.client.onDrain = { canary.sing() }
      pair.client.onClose = { _ in
        canary.sing()
        pair.ended()
      }
      pair.server.onClose = { _ in
        canary.sing()
        pair.ended()
      }
      pair.client.resumeReading()
      pair.server.close()
    }
    #expect(population.value == 0)
  }

  // MARK: Connecting

  @Test func connectingToAPortWithoutAListenerFails() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { _ in }
    let port = listener.port
    listener.close()
    let errors = Box<[EventLoopError]>([])
    let reasons = Box<[TCPConnection.CloseReason]>([])
    loop.execute {
      do {
        let connection = try TCPConnection.connect(on: loop, host: "127.0.0.1", port: port) { result in
          if case .failure(let error) = result { errors.update { $0.append(error) } }
        }
        connection.onClose = { reason in
          reasons.update { $0.append(reason) }
          loop.stop()
        }
      } catch {
        Issue.record(error)
        loop.stop()
      }
    }
    try loop.run()
    #expect(errors.value.map(\.code) == [.connectionRefused])
    #expect(errors.value.first?.operation == "connect to 127.0.0.1:\(port)")
    #expect(reasons.value == errors.value.map { .failed($0) })
    try loop.close()
  }

  @Test func closingWhileConnectingCancels() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { $0.close() }
    let codes = Box<[EventLoopError.Code]>([])
    let connection = try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
      if case .failure(let error) = result { codes.update { $0.append(error.code) } }
    }
    connection.write([1]) { error in
      if let error { codes.update { $0.append(error.code) } }
    }
    connection.onClose = { reason in
      if reason != .local { Issue.record("closed with \(reason)") }
      loop.stop()
    }
    connection.close()
    try loop.run()
    #expect(codes.value == [.cancelled, .cancelled])
    listener.close()
    try loop.close()
  }

  @Test func dataWrittenWhileConnectingIsSent() throws {
    let loop = try EventLoop()
    let received = Box<[UInt8]>([])
    let listener = try TCPListener(on: loop) { server in
      server.onRead = { bytes in
        let chunk = Array(bytes)
        received.update { $0 += chunk }
      }
      server.onClose = { _ in loop.stop() }
      server.resumeReading()
    }
    let client = try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { _ in }
    client.write([1, 2, 3])
    client.closeAfterWrites()
    try loop.run()
    #expect(received.value == [1, 2, 3])
    listener.close()
    try loop.close()
  }

  @Test func aConnectionHasItsAddresses() throws {
    try Pair.run { pair in
      pair.record(in: Reasons())
      #expect(pair.client.peerAddress == pair.server.localAddress)
      #expect(pair.client.localAddress == pair.server.peerAddress)
      #expect(pair.client.localAddress?.host == "127.0.0.1")
      do throws(EventLoopError) {
        try pair.client.setNoDelay(false)
        try pair.client.setNoDelay(true)
      } catch {
        Issue.record(error)
      }
      pair.client.close()
      #expect(code { try pair.client.setNoDelay(true) } == .handleClosed)
      pair.server.close()
    }
  }

  @Test func aLateWriteCompletes() throws {
    let leaked = Box<TCPConnection?>(nil)
    try Pair.run { pair in
      pair.record(in: Reasons())
      leaked.update { $0 = pair.client }
      pair.client.close()
      pair.server.close()
    }
    let codes = Box<[EventLoopError.Code?]>([])
    leaked.value?.write([1]) { error in codes.update { $0.append(error?.code) } }
    leaked.value?.close()
    #expect(codes.value == [.handleClosed])
    #expect(leaked.value?.writeQueueSize == 0)
  }
}
