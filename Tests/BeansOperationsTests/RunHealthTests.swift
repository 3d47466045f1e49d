import Beans
import BeansOperations
import BeansRunning
import BeansTesting
import TestSupport
import Testing

@Suite("Beans that run, in reports", .timeLimit(.minutes(20)))
struct RunHealthTests {
  private struct Outage: Error, CustomStringConvertible {
    let description = "the queue is away"
  }

  /// Becomes ready, and fails, on demand.
  private final class Consumer: RunnableBean {
    private let (readiness, ready) = AsyncStream.makeStream(of: Void.self)
    private let (failure, fail) = AsyncStream.makeStream(of: Void.self)

    func becomeReady() { ready.yield() }

    func breakDown() { fail.yield() }

    func run() async throws {
      for await _ in failure { throw Outage() }
    }

    func untilReady() async throws { for await _ in readiness { return } }
  }

  private func health(_ operations: Operations) throws -> (status: String?, reason: String?, ready: Int) {
    let checks = try operations.get("/health").json()["checks"] as? [[String: Any]] ?? []
    let check = checks.first { $0["name"] as? String == "run of Consumer" } ?? [:]
    return (check["status"] as? String, check["reason"] as? String, try operations.get("/readyz").status)
  }

  @Test("A bean that runs is a check: unknown, up, degraded before a restart, and down")
  func statuses() async throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    try application.useClock(clock)
    try application.define(
      application.bean(Consumer.self, factory: { Consumer() })
        .restarts(after: .seconds(1), upTo: .seconds(1), limit: 1))
    let operations = Operations(environment: application)
    let run = Task { try await application.run() }
    let consumer = try await application.getBean(awaiting: Consumer.self)
    try await waitUntilStatus("UNKNOWN", operations)
    #expect(try health(operations).ready == 503)
    consumer.becomeReady()
    try await waitUntilStatus("UP", operations)
    #expect(try health(operations).ready == 200)
    consumer.breakDown()
    try await clock.waitForSleepers()
    #expect(try health(operations) == ("DEGRADED", "the queue is away", 200))
    clock.advance(by: .seconds(1))
    consumer.becomeReady()
    try await waitUntilStatus("UP", operations)
    consumer.breakDown()
    await #expect(throws: EnvironmentError.self) { try await run.value }
    #expect(try health(operations) == ("DOWN", "the queue is away", 503))
  }

  /// Returns when the check of the run has a status.
  private func waitUntilStatus(_ status: String, _ operations: Operations) async throws {
    while try health(operations).status != status { await Task.yield() }
  }

  /// Completes its work after its cancellation, on demand.
  private final class Server: RunnableBean {
    private let (completion, complete) = AsyncStream.makeStream(of: Void.self)
    let (beginning, begun) = AsyncStream.makeStream(of: Void.self)
    let (cancellation, cancelled) = AsyncStream.makeStream(of: Void.self)

    func completeRequests() { complete.finish() }

    func run() async throws {
      begun.finish()
      await withTaskCancellationHandler {
        // Not cancelled by the end: this task waits for its requests.
        await Task { for await _ in completion {} }.value
      } onCancel: {
        cancelled.finish()
      }
    }
  }

  @Test("/readyz fails while the runs end, and lookups succeed until the last one has ended")
  func ending() async throws {
    let application = try Environment(name: "application")
    try application.define(Server.self, factory: { Server() })
    let operations = Operations(environment: application)
    let run = Task { try await application.run() }
    let server = try await application.getBean(awaiting: Server.self)
    for await _ in server.beginning {}
    while try operations.get("/readyz").status != 200 { await Task.yield() }
    application.stop()
    for await _ in server.cancellation {}
    #expect(try operations.get("/readyz").status == 503)
    #expect(try operations.get("/livez").status == 200)
    #expect(try application.getBean(Server.self) === server)
    server.completeRequests()
    try await run.value
    #expect(try operations.get("/readyz").status == 503)
  }

  @Test("A scheduled call that fails is counted in the metrics")
  func failedCalls() async throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    try application.useClock(clock)
    try application.define(
      application.bean(Consumer.self, factory: { Consumer() }).scheduled(every: .seconds(1)) { _ in throw Outage() })
    try application.startup()
    let operations = Operations(environment: application)
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    try await clock.waitForSleepers()
    #expect(try operations.get("/metrics").text.contains("beans_scheduled_failures_total 1"))
    let beans = try operations.get("/beans").text
    #expect(beans.contains(#""flags":["running","scheduled"]"#))
    try await application.shutdown()
  }
}
