import Dispatch
import Testing

@testable import BeansEventLoop

@Suite(.timeLimit(.minutes(20)))
struct ScheduledTests {
  /// The bytes are there before the timer is due, and the loop is busy until after it.
  @Test func dataThatArrivesBeforeATimerIsDueIsReadBeforeIt() throws {
    let order = Box<[String]>([])
    try Pair.run { pair in
      pair.client.onClose = { _ in pair.ended() }
      pair.server.onClose = { _ in pair.ended() }
      pair.server.onRead = { _ in order.update { $0.append("read") } }
      pair.server.resumeReading()
      pair.loop.execute {
        pair.client.write([1])
        pair.loop.schedule(after: .milliseconds(1)) {
          order.update { $0.append("timer") }
          pair.client.close()
          pair.server.close()
        }
        let due = Deadline.after(.milliseconds(2))
        while Deadline.now < due {}
      }
    }
    #expect(order.value == ["read", "timer"])
  }

  @Test func timersFireInOrderAndNeverEarly() throws {
    let loop = try EventLoop()
    let log = Box<[Int]>([])
    let early = Box(0)
    for delay in [15, 5, 10, 1, 20] {
      let start = ContinuousClock.now
      loop.schedule(after: .milliseconds(delay)) {
        if ContinuousClock.now - start < .milliseconds(delay) { early.update { $0 += 1 } }
        log.update { $0.append(delay) }
        if delay == 20 { loop.stop() }
      }
    }
    try loop.run()
    #expect(log.value == [1, 5, 10, 15, 20])
    #expect(early.value == 0)
    try loop.close()
  }

  @Test func aTimerSetAfterBlockingWorkIsNotEarly() throws {
    let loop = try EventLoop()
    let waited = Box(Duration.zero)
    loop.execute {
      // The clock that libuv caches does not advance meanwhile.
      let busyUntil = ContinuousClock.now + .milliseconds(30)
      while ContinuousClock.now < busyUntil {}
      let start = ContinuousClock.now
      loop.schedule(after: .milliseconds(20)) {
        waited.update { $0 = ContinuousClock.now - start }
        loop.stop()
      }
    }
    try loop.run()
    #expect(waited.value >= .milliseconds(20))
    try loop.close()
  }

  @Test func anEarlierTimerFromAnotherThreadShortensTheWait() throws {
    let fired = Event()
    try EventLoop.withThread { loop in
      let isUp = Event()
      loop.schedule(after: .seconds(3_600)) {}
      loop.execute { isUp.signal() }
      isUp.wait()
      loop.schedule(after: .milliseconds(1)) { fired.signal() }
      fired.wait()
    }
  }

  @Test func aTimerThatSetsATimerDoesNotStarveSockets() throws {
    let loop = try EventLoop()
    let served = Box(false)
    let listener = try TCPListener(on: loop) { peer in
      served.update { $0 = true }
      peer.close()
    }
    @Sendable func again() {
      if served.value { loop.stop() } else { loop.schedule(after: .zero) { again() } }
    }
    try TCPConnection.connect(on: loop, host: "127.0.0.1", port: listener.port) { result in
      if case .success(let client) = result { client.close() }
    }
    again()
    try loop.run()
    #expect(served.value)
    listener.close()
    try loop.close()
  }

  @Test func aCancelledTimerReleasesItsClosureAtOnce() throws {
    let loop = try EventLoop()
    let population = Box(0)
    var timers: [EventLoop.Scheduled] = []
    for _ in 0..<100 {
      let canary = Canary(population)
      timers.append(loop.schedule(after: .seconds(60)) { canary.sing() })
    }
    #expect(population.value == 100)
    for timer in timers { #expect(timer.cancel()) }
    #expect(population.value == 0)
    #expect(loop.scheduledCount == 0)
    for timer in timers { #expect(!timer.cancel()) }
    try loop.close()
  }

  @Test func aTimerMayCancelOneThatIsDueWithIt() throws {
    let loop = try EventLoop()
    let ran = Box(false)
    let second = Box<EventLoop.Scheduled?>(nil)
    loop.schedule(after: .zero) {
      if second.value?.cancel() != true { Issue.record("the second timer could not be cancelled") }
      loop.stop()
    }
    second.update { $0 = loop.schedule(after: .zero) { ran.update { $0 = true } } }
    try loop.run()
    #expect(!ran.value)
    try loop.close()
  }

  @Test func cancellingFromManyThreadsRacesWithFiring() throws {
    let fired = Box(0)
    let cancelled = Box(0)
    let total = 20_000
    let all = Event()
    let decide: @Sendable (Box<Int>) -> Void = { box in
      box.update { $0 += 1 }
      if fired.value + cancelled.value == total { all.signal() }
    }
    try EventLoop.withThread { loop in
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for index in 0..<(total / 4) {
          let timer = loop.schedule(after: .microseconds(index % 500)) { decide(fired) }
          if index % 2 == 0, timer.cancel() { decide(cancelled) }
        }
      }
      all.wait()
      #expect(loop.scheduledCount == 0)
    }
    #expect(fired.value + cancelled.value == total)
    #expect(fired.value >= total / 2)
  }

  @Test func manyTimersLeaveNothingBehind() throws {
    let loop = try EventLoop()
    let count = 100_000
    let fired = Box(0)
    var timers: [EventLoop.Scheduled] = []
    for index in 0..<count {
      timers.append(
        loop.schedule(after: .microseconds(index % 1_000)) {
          fired.update { $0 += 1 }
          if loop.scheduledCount == 0 { loop.stop() }
        })
    }
    #expect(loop.scheduledCount == count)
    for index in stride(from: 0, to: count, by: 2) { #expect(timers[index].cancel()) }
    #expect(loop.scheduledCount == count / 2)
    try loop.run()
    #expect(fired.value == count / 2)
    try loop.close()
  }

  @Test func delaysAreClamped() throws {
    let loop = try EventLoop()
    let fired = Box<[Int]>([])
    loop.schedule(after: .seconds(Int64.max)) { fired.update { $0.append(1) } }
    loop.schedule(after: .seconds(Int64.max / 2_000_000_000)) { fired.update { $0.append(2) } }
    loop.schedule(after: .seconds(-10)) {
      fired.update { $0.append(3) }
      loop.schedule(after: .milliseconds(3)) { loop.stop() }
    }
    try loop.run()
    #expect(fired.value == [3])
    #expect(loop.scheduledCount == 2)
    try loop.close()
  }
}
