import Beans
@_spi(BeansPackage) import BeansErrors
import BeansSessions
import BeansTesting
import Glibc
import TestSupport
import Testing

/// Random uses of a registry with an idle limit, in comparison with a model and on several threads.
@Suite(.timeLimit(.minutes(20)))
struct IdleModelTests {
  /// Compares the sessions with a list of the times of their last use.
  @Test(arguments: 0..<20)
  func aSessionEndsExactlyAtItsTime(_ seed: UInt64) async throws {
    let shop = try Shop()
    var random = SplitMix64(seed: seed)
    var lastUses: [String: Duration] = [:]
    var (expired, opened, ended) = (Set<String>(), 0, 0)
    for step in 0..<300 {
      let live = lastUses.keys.sorted()
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<2:
        try shop.use("\(step)")
        opened += 1
        lastUses["\(step)"] = shop.clock.now.offset
      case 2..<5:
        guard let id = live.randomElement(using: &random) else { continue }
        #expect(try await shop.sessions.withSession(id) { _ in true } == true, "\(id) in step \(step)")
        lastUses[id] = shop.clock.now.offset
      case 5:
        guard let id = live.randomElement(using: &random) else { continue }
        try await shop.sessions.end(id)
        ended += 1
        lastUses[id] = nil
      default:
        // The timer sleeps as long as there is anything to check.
        if !lastUses.isEmpty { try await shop.clock.waitForSleepers() }
        shop.clock.advance(by: .seconds(Int.random(in: 1...400, using: &random)))
        let now = shop.clock.now.offset
        for (id, use) in lastUses where now - use >= Shop.limit {
          expired.insert(id)
          lastUses[id] = nil
        }
        try await eventually("\(expired) have expired in step \(step)") { shop.events.expired.isSuperset(of: expired) }
        if !lastUses.isEmpty { try await shop.clock.waitForSleepers() }
      }
      #expect(shop.events.expired == expired, "step \(step)")
      #expect(shop.sessions.count == lastUses.count, "step \(step)")
    }
    #expect(
      SessionCounts(of: shop.sessions.counts)
        == SessionCounts(open: lastUses.count, opened: opened, expired: expired.count, ended: ended))
    try await shop.application.shutdown()
  }

  /// Each session ends once in any meeting of uses, ids, ends, evictions, and the timer.
  @Test(arguments: [nil, 5])
  func threadsAndTheTimerMeet(_ capacity: Int?) async throws {
    let shop = try Shop(capacity: capacity)
    let isDone = Locked(false)
    let time = BackgroundThread {
      while !isDone.withLock({ $0 }) {
        shop.clock.advance(by: Shop.limit / 4)
        sched_yield()
      }
    }
    defer { isDone.withLock { $0 = true } }
    try await aside {
      _ = try onThreads(4) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        for _ in 0..<2_000 {
          let id = "\(Int.random(in: 0..<12, using: &random))"
          do {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<4: try shop.use(id)
            case 4:
              let child = try shop.sessions.withSession(id) { try shop.requests.build(1, in: $0) }
              child?.finish()
            case 5: _ = shop.sessions.find(id)
            case 6: _ = try shop.sessions.rotate(id)
            default: try shop.sessions.end(id)
            }
          } catch let error as EnvironmentError where [.finished, .exhausted].contains(error.code) {
            // The timer or another thread has ended the session.
          }
        }
      }
    }
    isDone.withLock { $0 = true }
    try await aside { try time.value() }
    try await shop.application.shutdown()
    try await eventually("all have ended") {
      let counts = shop.sessions.counts
      return counts.opened == counts.expired + counts.evicted + counts.ended
    }
    #expect(shop.sessions.counts.opened > 0)
    #expect(shop.sessions.count == 0)
    // One event for each beginning, and one for each end; the counts precede the events.
    try await eventually("all events") {
      let all = shop.events.all.filter { if case .rotated = $0 { false } else { true } }
      return all.count == shop.sessions.counts.opened * 2
    }
  }
}
