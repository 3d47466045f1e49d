import Beans
@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import BeansOperations
import BeansServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct ProbeTests {
  @Test("A service is live while it starts and ready when all beans are built")
  func startup() async throws {
    let application = try Environment(name: "application")
    let mayEnd = AsyncStream<Void>.makeStream()
    try application.define(
      application.bean(
        Int.self,
        async: { () async in
          for await _ in mayEnd.stream { break }
          return 7
        }))
    let operations = Operations(environment: application)
    #expect(try operations.get("/livez").status == 200)
    #expect(try operations.get("/readyz").status == 503)
    #expect(throws: EnvironmentError(.notReady, "")) { try application.startup() }
    #expect(try operations.get("/readyz").status == 503)
    mayEnd.continuation.yield()
    try await application.ready()
    #expect(try operations.get("/readyz").status == 200)
    #expect(try operations.get("/readyz").json()["status"] as? String == "UP")
    try await application.shutdown()
    #expect(try operations.get("/livez").status == 200)
    #expect(try operations.get("/readyz").status == 503)
  }

  @Test("A service is not ready from the announcement of its end on, and live until its end")
  func end() throws {
    let application = try Environment(name: "application").startup()
    try withLoops { loops in
      let draining = Locked<(@Sendable () -> Void)?>(nil)
      let lifecycle = ServerLifecycle(environment: application, loop: loops[0]) { _, done in
        draining.withLock { $0 = done }
      }
      let operations = Operations(environment: application, lifecycle: lifecycle)
      #expect(try operations.get("/readyz").status == 200)
      lifecycle.stop()
      #expect(lifecycle.phase == .draining)
      #expect(try operations.get("/readyz").status == 503)
      #expect(try operations.get("/livez").status == 200)
      let done = try #require(draining.withLock { $0 })
      done()
      try lifecycle.run()
      #expect(lifecycle.phase == .finishing)
    }
  }

  @Test("A service serves requests during the announcement, although it is not ready")
  func announcement() throws {
    let application = try Environment(name: "application").startup()
    try withLoops { loops in
      let journal = Journal()
      let lifecycle = ServerLifecycle(
        environment: application, loop: loops[0], announcement: .milliseconds(30)
      ) { limit, done in
        journal.note("drain \(limit)")
        done()
      }
      let operations = Operations(environment: application, lifecycle: lifecycle)
      // Until the loop goes on, the time is not over.
      let gate = Gate()
      try loops[0].block(by: gate)
      lifecycle.stop()
      #expect(lifecycle.phase == .announcing)
      #expect(journal.entries == [])
      #expect(try operations.get("/readyz").status == 503)
      gate.open()
      try lifecycle.run()
      #expect(journal.entries == ["drain 10.0 seconds"])
    }
  }

  @Test("A second signal cuts the announcement short")
  func impatience() throws {
    let application = try Environment(name: "application").startup()
    try withLoops { loops in
      let journal = Journal()
      let lifecycle = ServerLifecycle(
        environment: application, loop: loops[0], announcement: .seconds(3_600)
      ) { limit, done in
        journal.note("drain \(limit)")
        done()
      }
      lifecycle.stop()
      lifecycle.stop()
      try lifecycle.run()
      #expect(journal.entries == ["drain 0.0 seconds"])
    }
  }

  @Test("Strangers reach the two probes only")
  func strangers() throws {
    let operations = Operations(environment: try Environment(name: "application").startup())
    #expect(operations.probe(method: "GET", path: "/livez")?.status == 200)
    #expect(operations.probe(method: "HEAD", path: "/readyz")?.status == 200)
    let refused = try #require(operations.probe(method: "POST", path: "/readyz"))
    #expect(refused.status == 405)
    #expect(refused.headers.contains { $0.name == "Allow" && $0.value == "GET, HEAD" })
    for path in ["/", "/health", "/metrics", "/beans", "/livez/", "/nothing"] {
      #expect(operations.probe(method: "GET", path: path) == nil, "\(path)")
    }
    #expect(operations.respond(method: "GET", path: "/nothing") == nil)
    #expect(operations.respond(method: "DELETE", path: "/metrics")?.status == 405)
  }
}
