import Beans
import BeansEventLoop
import BeansLogging
import BeansOperations
import BeansTesting
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct HealthCheckTests {
  private let application: Environment
  private let clock = ManualClock()
  private let log = KeptLog(name: "kept")

  init() throws { application = try Environment(name: "application") }

  private func operations(_ checks: any HealthCheck..., options: OperationsOptions = OperationsOptions()) throws
    -> Operations
  {
    for check in checks {
      if let check = check as? ScriptedCheck { try application.define(application.bean(check)) }
    }
    var options = options
    options.logs = log.manager()
    return Operations(environment: application, options: options, clock: clock)
  }

  private func status(_ operations: Operations, _ path: String) throws -> Int { try operations.get(path).status }

  /// Runs the checks once more.
  private func askAgain() throws {
    try clock.waitForSleeper(of: .seconds(5))
    clock.advance(by: .seconds(5))
    try clock.waitForSleeper(of: .seconds(5))
  }

  @Test("A service is ready once its critical checks have passed, and live before")
  func firstAnswer() throws {
    let operations = try operations(ScriptedCheck("store"))
    #expect(try status(operations, "/livez") == 200)
    #expect(try status(operations, "/readyz") == 503)
    try application.startup()
    try operations.start()
    try clock.waitForSleeper(of: .seconds(5))
    #expect(try status(operations, "/readyz") == 200)
    #expect(try status(operations, "/health") == 200)
  }

  @Test("Three failures turn a check, two successes turn it back")
  func thresholds() throws {
    let check = ScriptedCheck("store")
    let operations = try operations(check)
    try application.startup()
    try operations.start()
    try clock.waitForSleeper(of: .seconds(5))
    check.failure = "disk full"
    try askAgain()
    try askAgain()
    #expect(try status(operations, "/readyz") == 200)
    check.failure = nil
    try askAgain()
    check.failure = "disk full"
    try askAgain()
    try askAgain()
    #expect(try status(operations, "/readyz") == 200)
    try askAgain()
    #expect(try status(operations, "/readyz") == 503)
    #expect(try status(operations, "/livez") == 200)
    check.failure = nil
    try askAgain()
    #expect(try status(operations, "/readyz") == 503)
    try askAgain()
    #expect(try status(operations, "/readyz") == 200)
  }

  @Test("The reason of a failing check appears in the log and in /health, and in no probe")
  func theReasonAppearsInTheLogAndInHealthAndInNoProbe() throws {
    let check = ScriptedCheck("store", failure: "password 'hunter2' refused")
    let operations = try operations(check)
    try application.startup()
    try operations.start()
    try clock.waitForSleeper(of: .seconds(5))
    let answer = try #require(operations.probe(method: "GET", path: "/readyz"))
    #expect(answer.status == 503 && !answer.text.contains("hunter2"))
    #expect(try !operations.get("/readyz").text.contains("hunter2"))
    let health = try operations.get("/health").json()
    #expect(try firstCheck(operations)["reason"] as? String == "password 'hunter2' refused")
    let reasons = try #require(health["reasons"] as? [String: [String]])
    #expect(reasons == ["/livez": [], "/readyz": ["health check 'store': password 'hunter2' refused"]])
    #expect(
      log.journal.entries == [
        "WARN health check 'store' is down (critical to /readyz): password 'hunter2' refused",
        "WARN /readyz returns 503: health check 'store': password 'hunter2' refused",
      ])
    check.failure = nil
    try askAgain()
    // One success does not turn a check back: it is still down for the reason that it failed with.
    #expect(try firstCheck(operations)["reason"] as? String == "password 'hunter2' refused")
    try askAgain()
    #expect(try status(operations, "/readyz") == 200)
    #expect(try firstCheck(operations)["reason"] is String == false)
    #expect(
      log.journal.entries.dropFirst(2) == [
        "INFO health check 'store' is up again (critical to /readyz)", "INFO /readyz returns 200",
      ])
  }

  private func firstCheck(_ operations: Operations) throws -> [String: Any] {
    let checks = try #require(try operations.get("/health").json()["checks"] as? [[String: Any]])
    return try #require(checks.first)
  }

  @Test("/health names the time since when a check has its status")
  func statusSince() throws {
    let check = ScriptedCheck("store")
    let operations = try operations(check)
    try application.startup()
    let before = Date()
    try operations.start()
    try clock.waitForSleeper(of: .seconds(5))
    func since() throws -> Date {
      let text = try #require(try firstCheck(operations)["since"] as? String)
      return try Date(text, strategy: .iso8601WithFractions)
    }
    let first = try since()
    #expect(before.addingTimeInterval(-0.001) <= first && first <= Date())
    // Another result of the same status does not change the time; a turn does. Times have milliseconds.
    repeat { try askAgain() } while Date().timeIntervalSince(first) < 0.01
    #expect(try since() == first)
    check.failure = "disk full"
    for _ in 0..<3 { try askAgain() }
    #expect(try since() > first)
    #expect(try firstCheck(operations)["status"] as? String == "DOWN")
  }

  @Test("A check runs on its schedule, for any number of requests")
  func isAskedOnItsSchedule() throws {
    let check = ScriptedCheck("store")
    let operations = try operations(check)
    try application.startup()
    try operations.start()
    try clock.waitForSleeper(of: .seconds(5))
    for _ in 0..<100 { _ = try (operations.get("/readyz"), operations.get("/health"), operations.get("/metrics")) }
    #expect(check.calls == 1)
    try askAgain()
    #expect(check.calls == 2)
  }

  @Test("Each probe fails by its own critical checks")
  func kinds() throws {
    let alive = ScriptedCheck("loop", .alive, failure: "stuck")
    let ready = ScriptedCheck("mail", isCritical: false, failure: "away")
    let operations = try operations(alive, ready)
    try application.startup()
    try operations.start()
    try waitUntil("both answers") { (try? operations.get("/health").text.contains("UNKNOWN")) == false }
    #expect(try status(operations, "/livez") == 503)
    #expect(try status(operations, "/readyz") == 200)
    let health = try operations.get("/health")
    #expect(health.status == 503)
    let checks = try #require(try health.json()["checks"] as? [[String: Any]])
    #expect(checks.map { $0["name"] as? String } == ["loop", "mail"])
    #expect(checks.map { $0["status"] as? String } == ["DOWN", "DOWN"])
    #expect(checks.map { $0["critical"] as? Bool } == [true, false])
    // A check that is not critical is no reason against a probe.
    #expect(health.text.contains(#""reasons":{"/livez":["health check 'loop': stuck"],"/readyz":[]}"#))
  }

  @Test("A check without a result in time is logged, and counts as failed")
  func slow() throws {
    final class Slow: HealthCheck {
      let name = "slow"
      let gate = Gate()
      func check() throws { try gate.wait() }
    }
    let slow = Slow()
    try application.define(application.bean(slow))
    var options = OperationsOptions()
    options.slowCheck = .seconds(2)
    let operations = try operations(options: options)
    try application.startup()
    try operations.start()
    try clock.waitForSleeper(of: .seconds(2))
    clock.advance(by: .seconds(2))
    try clock.waitForSleeper(of: .seconds(2))
    #expect(
      log.journal.entries == [
        "WARN health check 'slow' has not finished for 2.0 seconds",
        "WARN health check 'slow' is down (critical to /readyz): no result for 2.0 seconds",
      ])
    slow.gate.open()
    try askAgain()
    #expect(try status(operations, "/readyz") == 200)
  }

  @Test("Beans in use by a check are released after it has returned")
  func beansInUseByACheckAreReleasedAfterIt() throws {
    final class Patient: HealthCheck {
      let name = "patient"
      let begun = Gate(), gate = Gate()
      func check() throws {
        begun.open()
        try gate.wait()
      }
    }
    let (patient, journal) = (Patient(), Journal())
    try application.define(application.bean(patient).onDestroy { _ in journal.note("released") })
    let operations = try operations()
    try application.startup()
    try operations.start()
    try patient.begun.wait()
    application.finish()
    #expect(journal.entries == [])
    patient.gate.open()
    try application.waitForEnd()
    #expect(journal.entries == ["released"])
  }
}
