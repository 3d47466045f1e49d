import Beans
import BeansEventLoop
import BeansServer
import TestSupport
import Testing

/// Two loops, sessions and requests on both, and threads that belong to none of them.
@Suite(.timeLimit(.minutes(20)))
struct ScopeStressTests {
  private static let sessions = 24
  private static let requestsPerSession = 40
  private static let threads = 4

  /// Counts releases on the right thread, releases elsewhere, and releases after the parent's.
  private struct World: Sendable {
    let application: Environment
    let sessions: EnvironmentFactory<Int>
    let requests: EnvironmentFactory<Int>
    let tally = Tally()

    init(_ loops: [EventLoop]) throws {
      application = try Environment(name: "application")
      let turn = Tally()
      let next: @Sendable () -> EventLoop = {
        turn.count("taken")
        return loops[turn["taken"] % loops.count]
      }
      let tally = tally
      // A bean that is built from the scope records its loop.
      sessions = try application.childFactory("session", seed: Int.self) {
        try $0.define(
          $0.bean(Cart.self, factory: { Cart() }).onDestroy { _ in
            tally.count(loops.contains { $0.isCurrent } ? "cart" : "cart elsewhere")
          })
      } scope: {
        SessionScope(loop: next(), idleTimeout: .seconds(3_600))
      }
      requests = try sessions.childFactory("request", seed: Int.self) {
        try $0.define(
          $0.bean(Log.self, factory: { (_: Cart) in Log() }).onDestroy { _ in
            tally.count(loops.contains { $0.isCurrent } ? "log" : "log elsewhere")
          })
        try $0.define(
          $0.bean(Transaction.self, factory: { (_: Log) in Transaction() }).onDestroy { _ in tally.count("transaction")
          })
      } scope: {
        RequestScope(loop: next())
      }
    }

    func counts(of scope: String) -> ScopeStatistics? { application.statistics().first { $0.scope == scope } }
  }

  @Test func everyBeanIsReleasedOnceForAnyFinisher() throws {
    try withLoops(2) { loops in
      let world = try World(loops)
      let open = try (0..<Self.sessions).map { try world.sessions.build($0) }
      let threads = (0..<Self.threads).map { thread in
        BackgroundThread {
          for number in 0..<Self.requestsPerSession {
            for (index, session) in open.enumerated() where index % Self.threads == thread {
              let request = try world.requests.build(number, in: session)
              _ = try request.getBean(Transaction.self)
              switch number % 4 {
              case 0: request.finish()
              case 1: loops[number % 2].execute { request.finish() }
              case 2: try request.shutdown()
              // Left open for its session to end.
              default: break
              }
            }
          }
        }
      }
      for thread in threads { try thread.value() }
      // Half of the sessions are ended from outside, twice each; the application's end finds the rest.
      let ends = (0..<2).map { _ in
        BackgroundThread { for session in open.prefix(Self.sessions / 2) { session.finish() } }
      }
      for end in ends { try end.value() }
      try world.application.shutdown()

      let total = Self.sessions * Self.requestsPerSession
      #expect(world.tally["log"] == total)
      #expect(world.tally["transaction"] == total)
      #expect(world.tally["cart"] == Self.sessions)
      #expect(world.tally["log elsewhere"] == 0)
      #expect(world.tally["cart elsewhere"] == 0)
      let requests = try #require(world.counts(of: "request"))
      #expect([requests.opened, requests.finished] == [total, total])
      #expect([requests.created, requests.released] == [total * 2, total * 2])
      let sessions = try #require(world.counts(of: "session"))
      #expect([sessions.opened, sessions.finished] == [Self.sessions, Self.sessions])
      #expect([sessions.created, sessions.released] == [Self.sessions, Self.sessions])
    }
  }

  /// Requests are being opened and used while the application ends under them: each is refused or released, none is lost.
  @Test func theApplicationEndsUnderRequestsThatAreBeingOpened() throws {
    for _ in 0..<10 {
      try withLoops(2) { loops in
        let world = try World(loops)
        let open = try (0..<Self.threads).map { try world.sessions.build($0) }
        let isBusy = Gate("some request")
        let threads = open.map { session in
          BackgroundThread {
            for number in 0... {
              do {
                let request = try world.requests.build(number, in: session)
                defer { request.finish() }
                _ = try request.getBean(Transaction.self)
              } catch let error as EnvironmentError where error.code == .finished {
                return
              }
              if number == 20 { isBusy.open() }
            }
          }
        }
        try isBusy.wait()
        try world.application.shutdown()
        for thread in threads { try thread.value() }
        for scope in ["session", "request"] {
          let counts = try #require(world.counts(of: scope))
          #expect(counts.opened == counts.finished, "\(scope)")
          #expect(counts.created == counts.released, "\(scope)")
        }
        let requests = try #require(world.counts(of: "request"))
        #expect(requests.released == world.tally["log"] + world.tally["transaction"])
        #expect(world.tally["log elsewhere"] == 0)
      }
    }
  }

  /// A deadline, an idle time, two threads and the application, all at the same time.
  @Test func allWaysToEndMayMeet() throws {
    try withLoops(2) { loops in
      let application = try Environment(name: "application")
      let tally = Tally()
      let sessions = try application.childFactory("session", seed: Int.self) {
        try $0.define($0.bean(Cart.self, factory: { Cart() }).onDestroy { _ in tally.count("cart") })
      } scope: {
        SessionScope(loop: loops[0], idleTimeout: .milliseconds(1))
      }
      let requests = try sessions.childFactory("request", seed: Int.self) {
        try $0.define($0.bean(Log.self, factory: { (_: Cart) in Log() }).onDestroy { _ in tally.count("log") })
      } scope: {
        RequestScope(loop: loops[1], deadline: .milliseconds(1))
      }
      let threads = (0..<2).map { _ in
        BackgroundThread {
          for number in 0..<400 {
            do {
              let session = try sessions.build(number)
              let request = try requests.build(number, in: session)
              _ = try request.getBean(Log.self)
              loops[0].execute { request.finish() }
              if number % 2 == 0 { session.finish() }
            } catch let error as EnvironmentError where error.code == .finished {
              // The loop was faster.
            }
          }
        }
      }
      for thread in threads { try thread.value() }
      try application.shutdown()
      let counts = application.statistics().filter { $0.scope != "application" }
      for scope in counts {
        #expect(scope.opened == scope.finished)
        #expect(scope.created == scope.released)
      }
      #expect(counts.reduce(0) { $0 + $1.released } == tally["cart"] + tally["log"])
    }
  }
}
