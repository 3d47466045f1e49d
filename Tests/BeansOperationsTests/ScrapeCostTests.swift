import Beans
@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import BeansOperations
import BeansServer
import BeansSessions
import Glibc
import TestSupport
import Testing

/// Operations beside many live sessions. `SCRAPED_SESSIONS` says how many.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ScrapeCostTests {
  private static let count = setting("SCRAPED_SESSIONS") ?? 30_000

  /// The time for which a thread may be busy with one response.
  ///
  /// - Parameter walk: the time of a look at each session, with which unoptimized code is compared, under a sanitizer or not.
  private static func limit(beside walk: Duration) -> Duration {
    #if DEBUG
      walk / 4
    #else
      .milliseconds(2)
    #endif
  }

  private static let paths = ["/metrics", "/health", "/sessions", "/environments", "/"]

  /// The time for which the calling thread has been busy.
  private static var busy: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The longest time of several responses.
  private func longest(_ operations: Operations, _ path: String, accept: String? = nil) throws -> Duration {
    var longest = Duration.zero
    for _ in 0..<5 {
      let begun = Self.busy
      let answer = try operations.get(path, accept: accept)
      longest = max(longest, Self.busy - begun)
      #expect(answer.status == 200, "\(path)")
    }
    return longest
  }

  private func scope(_ name: String, _ operations: Operations) throws -> [String: Any] {
    let scopes = try #require(try operations.get("/environments").json()["scopes"] as? [[String: Any]])
    return try #require(scopes.first { $0["scope"] as? String == name })
  }

  @Test func aScrapeAmongManySessionsCostsLittleOfItsThread() throws {
    try withLoops { loops in
      let (loop, count) = (loops[0], Self.count)
      let application = try Environment(name: "application")
      let factory = try application.childFactory("session", seed: Void.self) {
        try $0.define($0.bean(Cart.self, factory: { Cart() }))
      } scope: {
        SessionScope(loop: loop, idleTimeout: .seconds(3_600))
      }
      let requests = try factory.childFactory("request", seed: Int.self) {
        try $0.define($0.bean(Log.self, factory: { Log() }))
      }
      let sessions = Sessions(factory, capacity: count)
      let operations = Operations(environment: try application.startup(), sessions: [sessions])
      let begun = ContinuousClock.now
      for number in 0..<count {
        let session = try sessions.open("\(number)", ())
        _ = try session.getBean(Cart.self)
        try requests.withChild(number, in: session) { _ = try $0.getBean(Log.self) }
      }
      let last = try #require(sessions.find("\(count - 1)"))
      let request = try requests.build(0, in: last)
      _ = try request.getBean(Log.self)

      let begin = Self.busy
      _ = (application.statistics(), sessions.statistics())
      let walk = Self.busy - begin
      print("== \(count) sessions: a look at each took \(walk / .microseconds(1)) µs")
      for (path, accept) in Self.paths.map({ ($0, nil) }) + [("/environments", "text/plain")] {
        let time = try longest(operations, path, accept: accept)
        print("== \(count) sessions: \(path) \(accept ?? "") took \(time / .microseconds(1)) µs of its thread at most")
        #expect(time < Self.limit(beside: walk), "\(path), a walk takes \(walk)")
      }

      // Figures that the registry keeps are exact at once.
      let open = try scope("session", operations)
      #expect(["open", "opened", "finished", "released"].map { open[$0] as? Int } == [count, count, 0, 0])
      let ended = try scope("request", operations)
      #expect(["open", "opened", "finished", "released"].map { ended[$0] as? Int } == [1, count + 1, count, count])
      let text = try operations.get("/environments", accept: "text/plain").text
      #expect(text.contains("session: \(count) live, "))
      #expect(text.contains("\n  and \(count - 50) more\n"))

      // Figures that need a look at each session come from a sample, which a scrape begins.
      try waitUntil("all beans in a sample") {
        let created = try? ["session", "request"].map { try scope($0, operations)["created"] as? Int }
        return created == [count, count + 1]
      }
      try waitUntil("the session that is in use in a sample") {
        let report = try? operations.get("/sessions").json()["sessions"] as? [[String: Any]]
        return report?.first?["inUse"] as? Int == 1
      }
      let report = try #require(try operations.get("/sessions").json()["sessions"] as? [[String: Any]]).first
      #expect(report?["open"] as? Int == count)
      let (oldest, idle) = (report?["oldestSeconds"] as? Double ?? 0, report?["longestIdleSeconds"] as? Double ?? 0)
      let limit = begun.duration(to: .now) / .seconds(1)
      #expect(oldest > 0 && oldest <= limit)
      #expect(idle > 0 && idle <= oldest)
      let age = try #require(try scope("session", operations)["oldestSeconds"] as? Double)
      // To a tenth of a second.
      #expect(age <= limit + 0.1)

      // Counters never go down, and are exact again where few are left.
      request.finish()
      for number in 1..<count { try sessions.end("\(number)") }
      try waitUntil("the end of all sessions but one") { sessions.counts.ended == count - 1 }
      try waitUntil("an exact count of few sessions") {
        guard let left = try? scope("session", operations) else { return false }
        return ["open", "created", "released"].map { left[$0] as? Int } == [1, count, count - 1]
      }
      try application.shutdown()
    }
  }

  /// Sessions that another store keeps; each question is one for all of them.
  private final class OtherSessions: ScopeReporting {
    private let asker = pthread_self()
    private let state = Locked((open: 5_000, here: 0, elsewhere: 0))

    var open: Int {
      get { state.withLock { $0.open } }
      set { state.withLock { $0.open = newValue } }
    }

    /// The number of questions from the creator's thread, and from other threads.
    var calls: (here: Int, elsewhere: Int) { state.withLock { ($0.here, $0.elsewhere) } }

    func statistics() -> ScopeStatistics {
      state.withLock { state in
        if pthread_equal(asker, pthread_self()) != 0 { state.here += 1 } else { state.elsewhere += 1 }
        var statistics = ScopeStatistics(scope: "other")
        statistics.open = state.open
        return statistics
      }
    }

    func report() -> String { "other sessions: \(statistics().open)\n" }
  }

  @Test func sessionsOfAnotherKindAreAskedElsewhereOnceTheyAreMany() throws {
    let other = OtherSessions()
    let operations = Operations(environment: try Environment(name: "application").startup(), sessions: [other])
    func open() throws -> Int? {
      (try operations.get("/sessions").json()["sessions"] as? [[String: Any]])?.first?["open"] as? Int
    }
    #expect(try open() == 5_000)
    let calls = other.calls.here
    for path in Self.paths { #expect(try operations.get(path).status == 200) }
    #expect(try operations.get("/environments", accept: "text/plain").text.contains("other sessions: 5000\n"))
    #expect(other.calls.here == calls)
    try waitUntil("a question on another thread") { other.calls.elsewhere > 0 }
    // A sample finds that they are few; from then on each response is exact.
    other.open = 10
    try waitUntil("a sample of few sessions") { (try? open()) == 10 }
    other.open = 11
    try waitUntil("the end of the last sample") { (try? open()) == 11 }
    for number in 12..<15 {
      other.open = number
      #expect(try open() == number)
    }
    #expect(try operations.get("/environments", accept: "text/plain").text.contains("other sessions: 14\n"))
  }
}
