import Beans
import BeansEventLoop
import BeansServer
import BeansSessions
import TestSupport
import Testing

/// Many threads at one registry.
@Suite(.timeLimit(.minutes(20)))
struct SessionOpeningTests {
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  /// Runs `body` on so many threads that begin together.
  private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let ready = Tally()
    let threads = (0..<count).map { number in
      BackgroundThread {
        ready.count("thread")
        try waitUntil("all threads") { ready["thread"] == count }
        try body(number)
      }
    }
    for thread in threads { try thread.value() }
  }

  /// The error that the seed of an opening threw, with the number of the attempt.
  private struct Failed: Error, Equatable { let attempt: Int }

  @Test func theOpenerRunsOnceForAllConcurrentCallers() throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self))
    for round in 0..<200 {
      let (coming, seeds) = (Tally(), Tally())
      let opened = Journal()
      try onThreads(4) { number in
        func seed() throws -> String {
          seeds.count("asked")
          try waitUntil("all having come") { coming["thread"] == 4 }
          return "\(number)"
        }
        coming.count("thread")
        let session = try sessions.open("\(round)", seed())
        opened.note("\(ObjectIdentifier(session)) \(try session.getBean(String.self))")
      }
      #expect(seeds["asked"] == 1)
      #expect(opened.entries.count == 4 && Set(opened.entries).count == 1)
    }
    #expect(sessions.counts.opened == 200)
    try application.shutdown()
  }

  @Test func aTaskThatSuspendsInsideANewSessionStaysInside() async throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self), capacity: 1)
    let seed = try await sessions.withSession("a", opening: "seed") { session in
      await Task.yield()
      #expect(throws: EnvironmentError(.exhausted, "")) { try sessions.open("b", "") }
      let seed = try session.getBean(String.self)
      // Does not wait for this task.
      try await session.shutdown()
      #expect(session.isFinished)
      return seed
    }
    #expect(seed == "seed")
    #expect(sessions.counts.ended == 1 && sessions.count == 0)
    try await application.shutdown()
  }

  @Test func aFailureReachesAllWaitingCallersAndTheNextCallTriesAgain() throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self))
    var sawSharedFailure = false
    var round = 0
    // A late caller tries again; sooner or later some wait for one attempt.
    while !sawSharedFailure {
      round += 1
      try #require(round < 10_000)
      let id = "\(round)"
      let (coming, seeds) = (Tally(), Tally())
      let failures = Journal()
      try onThreads(4) { _ in
        func seed() throws -> String {
          seeds.count("asked")
          let attempt = seeds["asked"]
          try waitUntil("all having come") { coming["thread"] == 4 }
          throw Failed(attempt: attempt)
        }
        coming.count("thread")
        do {
          _ = try sessions.open(id, seed())
          Issue.record("opened")
        } catch let failed as Failed {
          failures.note("\(failed.attempt)")
        }
      }
      #expect(failures.entries.count == 4)
      #expect(Set(failures.entries).count == seeds["asked"])
      #expect(sessions.find(id) == nil)
      sawSharedFailure = seeds["asked"] < 4
      _ = try sessions.open(id, "")
    }
    #expect(sessions.count == round)
    try application.shutdown()
  }

  @Test func anOpeningThatWaitsForItselfIsACircle() throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self))
    let error = #expect(throws: EnvironmentError.self) {
      try sessions.open("a", try sessions.open("a", "").name)
    }
    #expect(error?.code == .cyclicDependency)
    // Across threads: each opens the other's.
    let (begun, failures) = (Tally(), Tally())
    try onThreads(2) { number in
      func seed() throws -> String {
        begun.count("opening")
        try waitUntil("both being opened") { begun["opening"] == 2 }
        return try sessions.open("\(1 - number)", "").name
      }
      do {
        _ = try sessions.open("\(number)", seed())
      } catch let error as EnvironmentError where error.code == .cyclicDependency {
        failures.count("circle")
      }
    }
    #expect(failures["circle"] >= 1)
    #expect(sessions.count == 2 - failures["circle"])
    try application.shutdown()
  }

  @Test func oneOfManyConcurrentRotationsSucceeds() throws {
    let sessions = Sessions(try application.childFactory("session", seed: String.self))
    for round in 0..<200 {
      let session = try sessions.open("\(round)", "")
      let (ids, refusals) = (Journal(), Tally())
      try onThreads(3) { _ in
        do {
          ids.note(try sessions.rotate("\(round)"))
        } catch let error as EnvironmentError where error.code == .finished {
          refusals.count("refused")
        }
      }
      #expect(ids.entries.count == 1 && refusals["refused"] == 2)
      #expect(ids.entries.first.flatMap(sessions.find) === session)
    }
    #expect(sessions.count == 200)
    try application.shutdown()
  }

  /// Evictions, expiries, rotations and ends at once: no call is ever inside a session that ends for lack of use or
  /// room, and each session publishes one opening and then one end.
  @Test(arguments: [false, true])
  func aCallInsideASessionStaysInside(_ withExplicitEnds: Bool) throws {
    try withLoops(2) { loops in
      let told = Journal()
      let turn = Tally()
      let factory = try application.childFactory("session", seed: String.self) {
        try $0.define($0.bean(Cart.self, factory: { Cart() }))
      } scope: {
        turn.count("taken")
        return SessionScope(loop: loops[turn["taken"] % 2], idleTimeout: .microseconds(200))
      }
      let requests = try factory.childFactory("request", seed: Int.self)
      let threads = 4
      // Each thread is inside of one session at most, so there is always one that can go.
      let sessions = Sessions(factory, capacity: threads) { told.note("\($0)") }
      try onThreads(threads) { thread in
        var random = SplitMix64(seed: UInt64(thread))
        for step in 0..<3_000 {
          let id = "\(Int.random(in: 0..<6, using: &random))"
          var isInside = false
          do {
            try sessions.withSession(id, opening: id) { session throws in
              isInside = true
              let cart = try session.getBean(Cart.self)
              try requests.withChild(step, in: session) { request throws in
                if try request.getBean(Cart.self) !== cart { Issue.record("another cart") }
              }
              if try session.getBean(Cart.self) !== cart { Issue.record("another cart") }
            }
          } catch let error as EnvironmentError where error.code == .finished && (withExplicitEnds || !isInside) {
            // Another call has ended it, or the short idle time was over before a call was inside.
          }
          // Others may be inside of it.
          if step % 5 == 0, let rotated = try? sessions.rotate(id) { _ = try? sessions.withSession(rotated) { _ in } }
          if let found = sessions.find(id), step % 3 == 0 { _ = try? requests.build(step, in: found).finish() }
          if withExplicitEnds, step % 7 == 0 { try sessions.end(id) }
        }
      }
      try application.shutdown()
      // The event comes last: a session that has ended is counted a moment before.
      try waitUntil("all having left") {
        let ends = told.entries.count { !$0.hasPrefix("opened") && !$0.hasPrefix("rotated") }
        return ends == sessions.counts.opened
      }
      let counts = sessions.counts
      #expect(counts.opened == counts.expired + counts.evicted + counts.ended && counts.open == 0)
      var open: [String: Int] = [:]
      // One id may be that of a session which is ending, and of the next one.
      for line in told.entries {
        let ids = line.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        let id = try #require(ids.first)
        if line.hasPrefix("opened") {
          open[id, default: 0] += 1
        } else {
          let count = try #require(open[id], "\(line)")
          open[id] = count == 1 ? nil : count - 1
          if let other = ids.dropFirst().first { open[other, default: 0] += 1 }
        }
      }
      #expect(open.isEmpty)
      #expect(counts.opened == told.entries.count { $0.hasPrefix("opened") })
      #expect(counts.rotated == told.entries.count { $0.hasPrefix("rotated") })
      #expect(counts.evicted > 0)
    }
  }
}
