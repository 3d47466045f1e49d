import BeansEventLoop
import Dispatch
import Glibc
import Testing

@Suite(.timeLimit(.minutes(20)))
struct EventLoopTests {
  // MARK: run and stop

  @Test func aStopBeforeRunLetsQueuedClosuresRun() throws {
    let loop = try EventLoop()
    let count = Box(0)
    for _ in 0..<3 { loop.execute { count.update { $0 += 1 } } }
    loop.stop()
    try loop.run()
    #expect(count.value == 3)
    try loop.close()
  }

  @Test func aStopFromAnotherThreadWakesAnIdleLoop() throws {
    let loop = try EventLoop()
    let isWaiting = Event()
    loop.execute { isWaiting.signal() }
    DispatchQueue.global().async {
      isWaiting.wait()
      loop.stop()
    }
    try loop.run()
    #expect(!loop.isRunning)
    try loop.close()
  }

  @Test func closuresQueuedBeforeTheStopRun() throws {
    let loop = try EventLoop()
    let log = Box<[Int]>([])
    loop.execute {
      loop.execute { log.update { $0.append(1) } }
      loop.stop()
      loop.execute {
        log.update { $0.append(2) }
        loop.execute { log.update { $0.append(3) } }
      }
    }
    try loop.run()
    #expect(log.value == [1, 2, 3])
    try loop.close()
  }

  @Test func aLoopRunsAgainAfterAStop() throws {
    let loop = try EventLoop()
    let count = Box(0)
    for _ in 0..<3 {
      loop.execute {
        count.update { $0 += 1 }
        loop.stop()
      }
      try loop.run()
    }
    #expect(count.value == 3)
    try loop.close()
  }

  @Test func runningTwiceIsAnError() throws {
    let loop = try EventLoop()
    let inside = Box<EventLoopError.Code?>(nil)
    let outside = Box<EventLoopError.Code?>(nil)
    let closing = Box<EventLoopError.Code?>(nil)
    let done = Event()
    loop.execute {
      inside.update { $0 = code { try loop.run() } }
      closing.update { $0 = code { try loop.close() } }
      DispatchQueue.global().async {
        outside.update { $0 = code { try loop.run() } }
        loop.stop()
        done.signal()
      }
    }
    try loop.run()
    done.wait()
    #expect(inside.value == .alreadyRunning)
    #expect(closing.value == .stillRunning)
    #expect(outside.value == .alreadyRunning)
    try loop.close()
    #expect(code { try loop.run() } == .loopClosed)
  }

  @Test func closuresThatNeverEndDoNotKeepTheLoopFromStopping() throws {
    let loop = try EventLoop()
    let goesOn = Box(true)
    @Sendable func again() {
      if goesOn.value { loop.execute { again() } }
    }
    again()
    loop.schedule(after: .milliseconds(1)) { loop.stop() }
    try loop.run()
    #expect(code { try loop.close() } == .notDrained)
    goesOn.update { $0 = false }
    try loop.close()
  }

  // MARK: Thread identity

  @Test func aLoopIsCurrentOnItsThreadOnly() throws {
    let loop = try EventLoop()
    let inside = Box<[Bool]>([])
    let outside = Box<Bool?>(nil)
    let elsewhere = Event()
    #expect(!loop.isCurrent)
    loop.execute {
      loop.checkIsolated()
      inside.update { $0.append(loop.isCurrent) }
      DispatchQueue.global().async {
        outside.update { $0 = loop.isCurrent }
        elsewhere.signal()
      }
      elsewhere.wait()
    }
    loop.schedule(after: .zero) {
      inside.update { $0.append(loop.isCurrent) }
      loop.stop()
    }
    try loop.run()
    #expect(inside.value == [true, true])
    #expect(outside.value == false)
    #expect(!loop.isCurrent)
    loop.execute { inside.update { $0.append(loop.isCurrent) } }
    try loop.close()
    #expect(inside.value == [true, true, true], "what close() drains is on the loop's thread too")
    #expect(!loop.isCurrent)
  }

  @Test func theWrongThreadIsStopped() async {
    await #expect(processExitsWith: .failure) {
      let loop = try EventLoop()
      loop.checkIsolated()
    }
    await #expect(processExitsWith: .failure) {
      let thread = try EventLoopThread()
      let isUp = DispatchSemaphore(value: 0)
      thread.loop.execute { isUp.signal() }
      isUp.wait()
      _ = try TCPListener(on: thread.loop) { _ in }
    }
  }

  // MARK: close

  @Test func closeRunsPendingClosures() throws {
    let loop = try EventLoop()
    let count = Box(0)
    loop.execute {
      count.update { $0 += 1 }
      loop.execute { count.update { $0 += 10 } }
    }
    try loop.close()
    #expect(count.value == 11)
    #expect(loop.isClosed)
    try loop.close()
  }

  @Test func closeNamesOpenHandlesAndCanBeTriedAgain() throws {
    let loop = try EventLoop()
    let signals = try loop.onSignal(SIGUSR2) {}
    let first = try TCPListener(on: loop) { _ in }
    let second = try TCPListener(on: loop) { _ in }
    let fired = Box(false)
    loop.schedule(after: .zero) { fired.update { $0 = true } }
    #expect(loop.openHandles == ["SignalSource": 1, "TCPListener": 2])
    do {
      try loop.close()
      Issue.record("closed with open handles")
    } catch {
      #expect(error.code == .openHandles)
      #expect(error.detail.contains("1 SignalSource made at"), "\(error)")
      #expect(error.detail.contains("1 TCPListener made at"), "\(error)")
      #expect(error.detail.contains("EventLoopTests.swift:"), "\(error)")
    }
    #expect(loop.scheduledCount == 1, "a failed close keeps the timers")
    first.close()
    second.close()
    signals.close()
    try loop.close()
    #expect(loop.openHandles.isEmpty)
    #expect(loop.handleTotals.opened == 3)
    #expect(loop.handleTotals.closed == 3)
    #expect(!fired.value)
  }

  @Test func closeRunsAnyNumberOfQueuedClosures() throws {
    let loop = try EventLoop()
    let count = Box(0)
    for _ in 0..<200_000 { loop.execute { count.update { $0 += 1 } } }
    try loop.close()
    #expect(count.value == 200_000)
  }

  @Test func runFinishesAnyNumberOfClosuresQueuedBeforeTheStop() throws {
    let loop = try EventLoop()
    let count = Box(0)
    loop.execute {
      for _ in 0..<200_000 { loop.execute { count.update { $0 += 1 } } }
      loop.stop()
    }
    try loop.run()
    #expect(count.value == 200_000)
    try loop.close()
  }

  @Test func aPendingClosureMayCloseTheHandles() throws {
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { _ in }
    loop.execute { listener.close() }
    try loop.close()
  }

  @Test func closeReleasesTimersWithoutRunningThem() throws {
    let loop = try EventLoop()
    let population = Box(0)
    let ran = Box(false)
    do {
      let canary = Canary(population)
      loop.schedule(after: .zero) {
        canary.sing()
        ran.update { $0 = true }
      }
    }
    #expect(population.value == 1)
    try loop.close()
    #expect(population.value == 0)
    #expect(!ran.value)
  }

  @Test func handlesCannotBeMadeOnAClosedLoop() throws {
    let loop = try EventLoop()
    try loop.close()
    #expect(code { _ = try TCPListener(on: loop) { _ in } } == .loopClosed)
    #expect(code { try loop.onSignal(SIGUSR2) {} } == .loopClosed)
    #expect(
      code { try TCPConnection.connect(on: loop, host: "127.0.0.1", port: 1) { _ in } } == .loopClosed)
  }

  @Test func anUnclosedLoopThatIsDroppedGivesItsMemoryBack() throws {
    let population = Box(0)
    do {
      let loop = try EventLoop()
      let canary = Canary(population)
      loop.execute { canary.sing() }
      loop.schedule(after: .seconds(1)) { canary.sing() }
    }
    #expect(population.value == 0)
  }

  // MARK: Churn

  @Test func loopsComeAndGo() throws {
    for _ in 0..<300 {
      let loop = try EventLoop()
      let listener = try TCPListener(on: loop) { $0.close() }
      let timer = loop.schedule(after: .seconds(60)) {}
      loop.execute { loop.stop() }
      try loop.run()
      timer.cancel()
      listener.close()
      listener.close()
      try loop.close()
      #expect(loop.handleTotals.opened == loop.handleTotals.closed)
    }
  }

  @Test(.enabled(if: !isSanitized, "a sanitizer keeps memory of its own for every address"))
  func memoryDoesNotGrowWithLoops() async {
    // A process of its own, so that other tests do not disturb the measurement.
    await #expect(processExitsWith: .success) {
      func churn(_ rounds: Int) throws {
        for _ in 0..<rounds {
          let loop = try EventLoop()
          let listener = try TCPListener(on: loop) { $0.close() }
          try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
            guard case .success(let client) = result else { return }
            client.write([1, 2, 3])
            client.onClose = { _ in
              listener.close()
              loop.stop()
            }
            client.resumeReading()
          }
          loop.schedule(after: .seconds(60)) {}.cancel()
          try loop.run()
          try loop.close()
        }
      }
      try churn(300)
      let before = try residentBytes()
      try churn(2_000)
      let grown = try residentBytes() - before
      // One leaked handle a round would make more than 500 KiB.
      if grown > 400 * 1024 {
        print("grew by \(grown) bytes")
        exit(1)
      }
    }
  }
}
