import Beans
import BeansEventLoop
import BeansOperations
import BeansServer
import BeansSessions
import BeansTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct MetricTests {
  private static let open = "application/openmetrics-text; version=1.0.0; charset=utf-8"
  private static let plain = "text/plain; version=0.0.4; charset=utf-8"

  /// Both forms of the response, each parsed strictly.
  private func parse(_ operations: Operations) throws -> [MetricParser] {
    let open = try operations.get("/metrics", accept: "application/openmetrics-text")
    let plain = try operations.get("/metrics")
    #expect(open.contentType == Self.open)
    #expect(plain.contentType == Self.plain)
    return [try MetricParser(open.text, isOpen: true), try MetricParser(plain.text, isOpen: false)]
  }

  @Test(
    "The form is the one that the scraper prefers",
    arguments: [
      (nil, false), ("*/*", false), ("text/plain", false), ("text/html", false),
      ("application/openmetrics-text", true), ("application/openmetrics-text; version=1.0.0", true),
      ("Application/OpenMetrics-Text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5", true),
      ("application/openmetrics-text;q=0.3,text/plain;q=0.5", false), ("application/openmetrics-text;q=0", false),
      ("application/openmetrics-text;version=0.0.1", false),
      // Prometheus 3.
      (
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
          + "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
          + "text/plain;version=0.0.4;q=0.2,*/*;q=0.1", true
      ),
    ] as [(String?, Bool)])
  func negotiation(accept: String?, isOpen: Bool) throws {
    let operations = Operations(environment: try Environment(name: "application").startup())
    let answer = try operations.get("/metrics", accept: accept)
    #expect(answer.contentType == (isOpen ? Self.open : Self.plain))
    #expect(answer.text.contains("# EOF") == isOpen)
    #expect(answer.text.contains("# UNIT") == isOpen)
  }

  private struct Refusal: Error {}

  @Test("Observed durations and outcomes are those of the children, by scope")
  func durations() throws {
    let application = try Environment(name: "application")
    let durations = ScopeDurations()
    try application.addObserver(durations)
    let requests = try application.childFactory("request", seed: Int.self) { _ in }
    try application.startup()
    let operations = Operations(environment: application, durations: durations)
    for metrics in try parse(operations) {
      #expect(metrics["beans_environments_outcomes_total", ["scope": "request", "outcome": "completed"]] == nil)
    }
    for number in 0..<3 { try requests.withChild(number) { _ in } }
    #expect(throws: Refusal.self) { try requests.withChild(3) { _ in throw Refusal() } }
    for metrics in try parse(operations) {
      #expect(metrics["beans_environments_duration_seconds_count", ["scope": "request"]] == 4)
      #expect(metrics["beans_environments_duration_seconds_bucket", ["scope": "request", "le": "+Inf"]] == 4)
      #expect(metrics["beans_environments_outcomes_total", ["scope": "request", "outcome": "completed"]] == 3)
      #expect(metrics["beans_environments_outcomes_total", ["scope": "request", "outcome": "failed"]] == 1)
    }
    try application.shutdown()
  }

  @Test("Counts of environments and beans are those of the container")
  func environments() throws {
    let application = try Environment(name: "application")
    try application.define(application.bean(Cart.self, factory: { Cart() }).confined(to: "a test"))
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Log.self, factory: { Log() }))
    }
    try application.startup(options: [.recordTimes])
    for number in 0..<3 { try requests.withChild(number) { _ = try $0.getBean(Log.self) } }
    let child = try requests.build(3)
    _ = try child.getBean(Log.self)
    let operations = Operations(environment: application)
    for metrics in try parse(operations) {
      #expect(metrics["beans_environments_open", ["scope": "request"]] == 1)
      #expect(metrics["beans_environments_opened_total", ["scope": "request"]] == 4)
      #expect(metrics["beans_environments_finished_total", ["scope": "request"]] == 3)
      #expect(metrics["beans_created_total", ["scope": "request"]] == 4)
      #expect(metrics["beans_released_total", ["scope": "request"]] == 3)
      #expect(metrics["beans_environments_open", ["scope": "application"]] == 1)
      #expect(metrics["beans_created_total", ["scope": "application"]] == 1)
      #expect(metrics["beans_release_failures_total"] == 0)
      #expect(try #require(metrics["beans_startup_seconds"]) > 0)
      #expect(metrics["beans_ready"] == 1)
    }
    child.finish()
    #expect(try parse(operations)[0]["beans_environments_open", ["scope": "request"]] == 0)
  }

  @Test("Releases that fail are counted, those of children, too")
  func failures() throws {
    let application = try Environment(name: "application")
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Log.self, factory: { Log() }).onDestroy { _ in throw Boom() })
    }
    let operations = Operations(environment: try application.startup())
    for number in 0..<2 { try? requests.withChild(number) { _ = try $0.getBean(Log.self) } }
    #expect(try parse(operations)[0]["beans_release_failures_total"] == 2)
  }

  @Test("Sessions are counted by scope and by the reason of their end")
  func sessions() throws {
    try withLoops { loops in
      let application = try Environment(name: "application")
      let factory = try application.childFactory(
        "session", seed: Void.self, scope: { SessionScope(loop: loops[0], idleTimeout: .seconds(3_600)) })
      let sessions = Sessions(factory, capacity: 2)
      let operations = Operations(environment: try application.startup(), sessions: [sessions])
      for id in ["a", "b", "c"] { _ = try sessions.open(id, ()) }
      try waitUntil("the end of the first one") { sessions.counts.evicted == 1 }
      let scope = ["scope": "session"]
      for metrics in try parse(operations) {
        #expect(metrics["beans_sessions_open", scope] == 2)
        #expect(metrics["beans_sessions_opened_total", scope] == 3)
        #expect(metrics["beans_sessions_finished_total", ["scope": "session", "cause": "evicted"]] == 1)
        #expect(try #require(metrics["beans_sessions_idle_seconds", scope]) >= 0)
      }
      let report = try operations.get("/sessions").json()["sessions"] as? [[String: Any]]
      #expect(report?.first?["open"] as? Int == 2)
      #expect(report?.first?["evicted"] as? Int == 1)
      try application.shutdown()
    }
  }

  @Test("Registries of one scope are one series each, and are reported separately")
  func registriesOfOneScope() throws {
    try withLoops { loops in
      let application = try Environment(name: "application")
      let factory = try application.childFactory(
        "session", seed: Void.self, scope: { SessionScope(loop: loops[0], idleTimeout: .seconds(3_600)) })
      let registries = [Sessions(factory, capacity: 1), Sessions(factory)]
      let operations = Operations(environment: try application.startup(), sessions: registries)
      for id in ["a", "b"] { _ = try registries[0].open(id, ()) }
      _ = try registries[1].open("c", ())
      try waitUntil("the end of the first one") { registries[0].counts.evicted == 1 }
      let scope = ["scope": "session"]
      for metrics in try parse(operations) {
        #expect(metrics["beans_sessions_open", scope] == 2)
        #expect(metrics["beans_sessions_opened_total", scope] == 3)
        #expect(metrics["beans_sessions_finished_total", ["scope": "session", "cause": "evicted"]] == 1)
      }
      let report = try operations.get("/sessions").json()["sessions"] as? [[String: Any]]
      #expect(report?.map { $0["opened"] as? Int } == [2, 1])
      try application.shutdown()
    }
  }

  @Test("The ages of a series are those of its oldest registry")
  func agesOfOneScope() throws {
    try withLoops { loops in
      let application = try Environment(name: "application")
      let factory = try application.childFactory(
        "session", seed: Void.self, scope: { SessionScope(loop: loops[0], idleTimeout: .seconds(3_600)) })
      let registries = [Sessions(factory), Sessions(factory), Sessions(factory)]
      let operations = Operations(environment: try application.startup(), sessions: registries)
      _ = try registries[1].open("old", ())
      _ = try registries[2].open("new", ())
      let before = try #require(registries[1].statistics().oldestAge) / .seconds(1)
      for metrics in try parse(operations) {
        #expect(try #require(metrics["beans_sessions_oldest_seconds", ["scope": "session"]]) >= before)
      }
      try application.shutdown()
    }
  }

  @Test("Health checks of one name are one series, which is up if all of them are")
  func checksOfOneName() throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    try application.define(application.bean(ScriptedCheck("store")).id("first"))
    try application.define(application.bean(ScriptedCheck("store", failure: "it is away")).id("second"))
    let operations = Operations(environment: try application.startup(), clock: clock)
    try operations.start()
    try waitUntil("both answers") {
      let checks = try? operations.get("/health").json()["checks"] as? [[String: Any]]
      return checks?.map { $0["status"] as? String } == ["UP", "DOWN"]
    }
    for metrics in try parse(operations) { #expect(metrics["beans_health_check_up", ["check": "store"]] == 0) }
    operations.stop()
  }

  @Test("Names with the same spelling are one series")
  func namesThatAreWrittenAlike() throws {
    let application = try Environment(name: "application")
    let factories = try ["re\rquest", "request"].map { try application.childFactory($0, seed: Void.self) }
    let operations = Operations(environment: try application.startup())
    for factory in factories { try factory.withChild(()) { _ in } }
    for metrics in try parse(operations) {
      #expect(metrics["beans_environments_opened_total", ["scope": "request"]] == 2)
    }
  }

  @Test("Loops, checks and the process are measured")
  func others() throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    try application.define(application.bean(ScriptedCheck("store")))
    let threads = [try EventLoopThread(name: "lag")]
    let lag = LoopLag()
    lag.watch(threads.map(\.loop))
    let operations = Operations(environment: try application.startup(), lag: lag, clock: clock)
    try operations.start()
    try clock.waitForSleeper(of: .seconds(5))
    try waitUntil("a timer of the loop") {
      (try? parse(operations)[0]["beans_loop_lag_seconds_count", ["loop": "0"]]) ?? 0 > 0
    }
    for metrics in try parse(operations) {
      #expect(metrics["beans_health_check_up", ["check": "store"]] == 1)
      #expect(try #require(metrics["process_cpu_seconds_total"]) > 0)
      #expect(try #require(metrics["process_resident_memory_bytes"]) > 1_000_000)
      #expect(try #require(metrics["process_open_fds"]) > 3)
      #expect(try #require(metrics["process_start_time_seconds"]) > 1_600_000_000)
    }
    for thread in threads { try thread.stopAndJoin() }
  }

  @Test("Names with any characters can be read in both forms")
  func names() throws {
    let name = "a \"quoted\\ one\"\nof\r two lines, {scope=\"x\"} 😀"
    let operations = Operations(environment: try Environment(name: name).startup())
    let open = try operations.get("/metrics", accept: "application/openmetrics-text").text
    #expect(!open.contains(name))
    // A carriage return is no line end to either, but to many a reader.
    for metrics in try parse(operations) {
      #expect(metrics["beans_environments_open", ["scope": name.replacing("\r", with: "")]] == 1)
    }
  }

  @Test(
    "The parser of these tests refuses malformed metrics",
    arguments: [
      "# TYPE a counter\n# HELP a x\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a x\na 1\n",
      "# TYPE a gauge\n# HELP a x\na 1\n# EOF", "# TYPE a gauge\n# HELP a x\na{b=\"1\",b=\"2\"} 1\n# EOF\n",
      "# TYPE a gauge\n# HELP a x\na 1\na 1\n# EOF\n", "# TYPE a gauge\n# UNIT a seconds\n# HELP a x\na 1\n# EOF\n",
      "# TYPE a gauge\n# HELP a x\na{b=\"\\q\"} 1\n# EOF\n", "# TYPE a gauge\n# HELP a x\na one\n# EOF\n",
      "# TYPE a gauge\n# HELP a x\na 1\n# TYPE b gauge\n# HELP b x\nb 1\n# TYPE a gauge\n# EOF\n",
      "# TYPE a histogram\n# HELP a x\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n# EOF\n",
      "# TYPE a histogram\n# HELP a x\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n# EOF\n",
      "# TYPE a histogram\n# HELP a x\na_bucket{le=\"1.0\"} 1\na_sum 1\na_count 1\n# EOF\n",
      "# TYPE a counter\n# HELP a x\na_total -1\n# EOF\n", "# TYPE a gauge\n# HELP a x\n\na 1\n# EOF\n",
    ])
  func refusals(text: String) {
    #expect(throws: MetricParser.Fault.self) { try MetricParser(text, isOpen: true) }
  }
}
