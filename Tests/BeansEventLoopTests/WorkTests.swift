import Dispatch
import Testing

@testable import BeansEventLoop

@Suite(.timeLimit(.minutes(20)))
struct WorkTests {
  @Test func everyThreadKeepsItsOrderAndNothingIsLost() throws {
    let threads = 8
    let each = 10_000
    let seen = Box([[Int]](repeating: [], count: threads))
    try EventLoop.withThread { loop in
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        for index in 0..<each {
          loop.execute { seen.update { $0[thread].append(index) } }
        }
      }
    }
    for order in seen.value { #expect(order == Array(0..<each)) }
  }

  @Test func aBusyLoopIsNotWoken() throws {
    let loop = try EventLoop()
    let wasWaiting = Box<[Bool]>([])
    loop.execute {
      // From another thread, while the loop is busy here: no wake-up is needed.
      let done = Event()
      DispatchQueue.global().async {
        for _ in 0..<100 { loop.execute {} }
        wasWaiting.update { $0.append(loop.state.withLock { $0.isWaiting }) }
        done.signal()
      }
      done.wait()
      loop.execute { loop.stop() }
    }
    try loop.run()
    try loop.close()
    #expect(wasWaiting.value == [false])
  }

  @Test func onlyTheFirstOfManySendersWakes() {
    var state = LoopState()
    state.isWaiting = true
    let first = state.takeWait()
    let second = state.takeWait()
    #expect(first)
    #expect(!second)
  }

  @Test func manyItemsDoNotStarveSockets() throws {
    let loop = try EventLoop()
    let served = Box(false)
    let turns = Box(0)
    let listener = try TCPListener(on: loop) { peer in
      served.update { $0 = true }
      peer.close()
    }
    @Sendable func again() {
      turns.update { $0 += 1 }
      if served.value { loop.stop() } else { loop.execute { again() } }
    }
    try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
      if case .success(let client) = result { client.close() }
    }
    for _ in 0..<10 { again() }
    try loop.run()
    #expect(served.value)
    listener.close()
    try loop.close()
  }

  @Test func tryExecuteReturnsTrueIfTheLoopWillRunTheWork() throws {
    let loop = try EventLoop()
    let count = Box(0)
    let work: @Sendable () -> Void = { count.update { $0 += 1 } }
    #expect(loop.tryExecute(work), "a loop that has not run yet will")
    loop.execute {
      if !loop.tryExecute(work) { Issue.record("refused while running") }
      loop.stop()
      if !loop.tryExecute(work) { Issue.record("refused before run has returned") }
    }
    try loop.run()
    #expect(count.value == 3)
    #expect(!loop.tryExecute(work), "run has returned")
    loop.execute(work)
    try loop.close()
    #expect(count.value == 4, "execute leaves it to close")
    #expect(!loop.tryExecute(work))
    loop.execute(work)
    #expect(count.value == 4)
  }

  @Test func acceptedWorkIsNeverForgotten() throws {
    // Senders race with the end of the loop: all accepted work has run when close() returns.
    for _ in 0..<50 {
      let thread = try EventLoopThread()
      let loop = thread.loop
      let accepted = Box(0)
      let ran = Box(0)
      let group = DispatchGroup()
      for _ in 0..<4 {
        DispatchQueue.global().async(group: group) {
          // Bounded, because four threads hand over faster than one can run.
          for _ in 0..<2_000 where loop.tryExecute({ ran.update { $0 += 1 } }) { accepted.update { $0 += 1 } }
        }
      }
      loop.execute { loop.stop() }
      group.wait()
      try thread.join()
      #expect(ran.value == accepted.value)
    }
  }

  @Test func aClosureIsReleasedOnceItHasRun() throws {
    let loop = try EventLoop()
    let population = Box(0)
    let afterwards = Box(-1)
    do {
      let canary = Canary(population)
      loop.execute { canary.sing() }
    }
    loop.execute {
      afterwards.update { $0 = population.value }
      loop.stop()
    }
    try loop.run()
    #expect(afterwards.value == 0, "released before the next closure of the same batch")
    try loop.close()
  }

  @Test func workForAClosedLoopIsReleased() throws {
    let loop = try EventLoop()
    try loop.close()
    let population = Box(0)
    do {
      let canary = Canary(population)
      loop.execute { canary.sing() }
      #expect(!loop.schedule(after: .zero) { canary.sing() }.cancel())
      loop.stop()
    }
    #expect(population.value == 0)
  }
}
