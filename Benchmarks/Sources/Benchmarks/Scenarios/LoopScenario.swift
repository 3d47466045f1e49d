import BeansEventLoop
import Synchronization

/// The event loop beside plain threads, heaps and queues: wake-ups across threads, timers, hops of Swift concurrency.
struct LoopScenario {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(
      scenario: "loop", title: "the event loop", operation: "as the row says", clock: "wall")
    try addWakeUps(to: &table)
    try addTimers(to: &table)
    try addHops(to: &table)
    return table
  }

  private func contest(_ operations: Int, _ contestants: [Contestant], counted: Int = 1000) -> Contest {
    Contest(
      settings: settings, contestants: contestants, operations: settings.operations(operations),
      clock: { WallClock.nanoseconds }, counted: counted)
  }

  // MARK: across threads

  private func addWakeUps(to table: inout Table) throws {
    let (one, other) = (try HandwrittenQueue(), try HandwrittenQueue())
    let threads = try [EventLoopThread(name: "one"), EventLoopThread(name: "other")]
    let loops = threads.map(\.loop)
    let byHand = PingPong(one.execute, other.execute)
    let loop = PingPong(loops[0].execute, loops[1].execute)
    table.rows += try contest(
      20_000,
      [
        Contestant("wake a sleeping thread: a queue by hand") { byHand.run($0) },
        Contestant("wake a sleeping thread: EventLoop") { loop.run($0) },
      ]
    ).rows()
    table.rows += try contest(
      300_000,
      [
        Contestant("hand over a closure: a queue by hand") { count in handOver(count, one.execute) },
        Contestant("hand over a closure: EventLoop") { count in handOver(count, loops[0].execute) },
      ]
    ).rows()
    one.stop()
    other.stop()
    for thread in threads { try thread.stopAndJoin() }
  }

  /// From this thread, as fast as it can; until the last one has run.
  private func handOver(_ count: Int, _ execute: PingPong.Execute) {
    let arrivals = Arrivals(count)
    for _ in 0..<count { execute { arrivals.note() } }
    arrivals.wait()
  }

  // MARK: timers

  private func addTimers(to table: inout Table) throws {
    let count = settings.live
    let delays = (0..<count).map { Int64(truncatingIfNeeded: ($0 &* 7_919) % 1_000_003) }
    table.rows += try Contest(
      settings: settings,
      contestants: [
        Contestant("schedule and cancel \(count) timers: by hand") { _ in
          let timers = HandwrittenTimers()
          let all = delays.map { timers.schedule(at: UInt64($0)) {} }
          try SelfCheck.expect(timers.count == count, "timers are missing")
          for timer in all { timers.cancel(timer) }
          try SelfCheck.expect(timers.count == 0, "timers are left")
        },
        Contestant("schedule and cancel \(count) timers: EventLoop") { _ in
          let loop = try EventLoop()
          let all = delays.map { loop.schedule(after: .seconds(3600) + .microseconds($0)) {} }
          try SelfCheck.expect(loop.scheduledCount == count, "timers are missing")
          for timer in all { timer.cancel() }
          try SelfCheck.expect(loop.scheduledCount == 0, "timers are left")
          try loop.close()
        },
      ], operations: count, clock: { ThreadClock.nanoseconds }, counted: 0
    ).rows()
    table.rows += try Contest(
      settings: settings,
      contestants: [
        Contestant("schedule and fire \(count) timers: by hand") { _ in
          let timers = HandwrittenTimers()
          let arrivals = Arrivals(count)
          for delay in delays { _ = timers.schedule(at: UInt64(delay)) { arrivals.note() } }
          timers.runDue(at: .max)
          try SelfCheck.expect(arrivals.isComplete, "timers have not fired")
        },
        Contestant("schedule and fire \(count) timers: EventLoop") { _ in
          let loop = try EventLoop()
          let arrivals = Arrivals(count)
          // All are due when the loop begins; a delay of less than none counts as none.
          for delay in delays { loop.schedule(after: .nanoseconds(delay)) { arrivals.note() } }
          loop.schedule(after: .milliseconds(2)) { loop.stop() }
          while loop.scheduledCount > 0 { try loop.run() }
          try SelfCheck.expect(arrivals.isComplete, "timers have not fired")
          try loop.close()
        },
      ], operations: count, clock: { ThreadClock.nanoseconds }, counted: 0
    ).rows()
  }

  // MARK: Swift concurrency

  private func addHops(to table: inout Table) throws {
    let threads = try [EventLoopThread(name: "one"), EventLoopThread(name: "other")]
    let onLoops = threads.map { LoopCounter(on: $0.loop) }
    let onQueues = [QueueCounter(), QueueCounter()]
    table.rows += try contest(
      20_000,
      [
        Contestant("hop from one executor to another: Dispatch queues by hand") { count in
          waitFor { for number in 0..<count { await onQueues[number % 2].hop() } }
        },
        Contestant("hop from one executor to another: EventLoop") { count in
          waitFor { for number in 0..<count { await onLoops[number % 2].hop() } }
        },
      ]
    ).rows()
    table.rows += try contest(
      20_000,
      [
        Contestant("call an actor and come back: on a Dispatch queue by hand") { count in
          waitFor { for _ in 0..<count { await onQueues[0].hop() } }
        },
        Contestant("call an actor and come back: on an EventLoop") { count in
          waitFor { for _ in 0..<count { await onLoops[0].hop() } }
        },
      ]
    ).rows()
    // Nothing happens in between, so no task has to come back: no hop is needed at all.
    let (alone, aloneOnQueue) = (onLoops[0], onQueues[0])
    table.rows += try contest(
      100_000,
      [
        Contestant("call an actor in a row: on a Dispatch queue by hand") { count in
          waitFor { for _ in 0..<count { await aloneOnQueue.hop() } }
        },
        Contestant("call an actor in a row: on an EventLoop") { count in
          waitFor { for _ in 0..<count { await alone.hop() } }
        },
      ]
    ).rows()
    let hops = Mutex((loop: 0, queue: 0))
    waitFor {
      let counts = (loop: await onLoops[0].count, queue: await onQueues[0].count)
      hops.withLock { $0 = counts }
    }
    try SelfCheck.expect(
      hops.withLock { $0.loop > 0 && $0.loop == $0.queue }, "the actors were not called equally often")
    for thread in threads { try thread.stopAndJoin() }
  }
}
