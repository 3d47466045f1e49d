import Beans
import BeansEventLoop
import BeansServer
import CMeasure
import Glibc
import Synchronization

/// A million live sessions with two beans each, on one event loop: the memory of each, the time to open and to use one,
/// and the longest time the loop is busy when all of them expire at once.
struct Sessions {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(
      scenario: "session", title: "\(settings.live) live sessions of 2 beans that expire", operation: "use one session")
    table.rows = try touches()
    let beans = bytesOfBeans()
    try live("hand-written", beans, &table) { HandwrittenSessions(on: $0, idle: $1) }
    try live("Beans", beans, &table) { try ContainerSessions(on: $0, idle: $1) }
    return table
  }

  // MARK: using one

  private func touches() throws -> [Table.Row] {
    let loop = try EventLoop()
    let scopes = Mutex<[SessionScope]>([])
    let application = try Environment(name: "application")
    let factory = try application.childFactory("session", seed: SessionKey.self) { session in
      try session.define(session.bean(Basket.self, factory: Basket.init))
      try session.define(session.bean(Profile.self, factory: Profile.init))
    } scope: {
      let scope = SessionScope(loop: loop, idleTimeout: .seconds(3600))
      scopes.withLock { $0.append(scope) }
      return scope
    }
    let key = SessionKey()
    let session = try factory.build(key)
    guard let scope = scopes.withLock({ $0.first }) else { throw SelfCheckFailed(description: "no scope was made") }
    let profile = try session.getBean(Profile.self)
    try SelfCheck.expect(try session.getBean(Basket.self) === profile.basket, "a session's bean is wired wrongly")
    let byHand = HandwrittenSession(key)
    let rows = try Contest(
      settings: settings,
      contestants: [
        Contestant("hand-written: reading the clock and noting it") { count in
          for _ in 0..<count { byHand.touch() }
        },
        Contestant("SessionScope.touch()") { count in
          for _ in 0..<count { scope.touch() }
        },
        Contestant("getBean in a session, which touches it") { count in
          for _ in 0..<count { useHeld(try session.getBean(Profile.self)) }
        },
      ], operations: settings.operations(300_000)
    ).rows()
    try application.shutdown()
    try loop.close()
    return rows
  }

  /// One operation opens a session, builds its beans and finishes it, all before its loop runs.
  static func container() throws -> Contestant {
    let loop = try EventLoop()
    let sessions = try ContainerSessions(on: loop, idle: .seconds(3600))
    return Contestant("session") { count in
      try sessions.open(count)
      sessions.endAll()
    }
  }

  // MARK: a million

  /// Heap of the beans alone.
  private func bytesOfBeans() -> Double {
    let count = min(settings.live, 100_000)
    let key = SessionKey()
    var profiles: [Profile] = []
    profiles.reserveCapacity(count)
    let before = measure_live_bytes()
    for _ in 0..<count { profiles.append(Profile(basket: Basket(key: key))) }
    let after = measure_live_bytes()
    withExtendedLifetime(profiles) {}
    return Double(after - before) / Double(count)
  }

  private func live(
    _ name: String, _ beans: Double, _ table: inout Table,
    _ make: @escaping (EventLoop, Duration) throws -> any SessionStore
  ) throws {
    let count = settings.live
    // Long enough to open them all before the first is due.
    let idle = Duration.milliseconds(max(2000, 10_000 * count / 1_000_000))
    let thread = try EventLoopThread(name: "sessions")
    let loop = thread.loop
    let store = try make(loop, idle)
    let before = measure_live_bytes()
    let opening = try loop.perform {
      let start = ThreadClock.nanoseconds
      try store.open(count)
      return ThreadClock.nanoseconds - start
    }
    let pointers = name == "Beans" ? MemoryLayout<UInt>.size * count : 0
    let bytes = Double(Int(measure_live_bytes() - before) - pointers) / Double(count) - beans
    let using = try loop.perform {
      let start = ThreadClock.nanoseconds
      try store.useAll()
      return ThreadClock.nanoseconds - start
    }
    // Used just now, so all of them expire together.
    try SelfCheck.expect(
      try loop.perform { store.live == count && store.expired == 0 }, "sessions ended while they were opened")
    try SelfCheck.expect(loop.scheduledCount == count, "not every session has a timer")
    let heart = Heartbeat(on: loop)
    // Polls: work sent to the loop for a notification would be part of the measurement.
    while loop.scheduledCount > 0 { usleep(5000) }
    // The turn of the last expiry counts, and those in which the loop gives back the memory of so many timers.
    for _ in 0..<4 { try loop.perform {} }
    let longest = heart.stop()
    let (left, expired) = try loop.perform { (store.live, store.expired) }
    try SelfCheck.expect(expired == count, "\(expired) of \(count) sessions have expired")
    table.facts += [
      Table.Fact(name: "\(name): open one, its beans included", value: opening / Double(count), unit: "ns"),
      Table.Fact(name: "\(name): a live session beyond its beans, expiry included", value: bytes, unit: "bytes"),
      Table.Fact(name: "\(name): use one of all, one after the other", value: using / Double(count), unit: "ns"),
      Table.Fact(
        name: "\(name): longest turn of the loop while all expire", value: longest.processor / 1e6,
        unit: "ms of its processor"),
      Table.Fact(name: "\(name): the same by the clock on the wall", value: longest.wall / 1e6, unit: "ms"),
      Table.Fact(name: "\(name): left behind", value: Double(left), unit: "sessions"),
    ]
    if left > 0 { table.failures.append("\(name): \(left) sessions are left") }
    try thread.stopAndJoin()
  }
}
