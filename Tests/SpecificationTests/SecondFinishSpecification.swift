import Beans
import Glibc
import Synchronization
import TestSupport
import Testing

/// Two threads end the same session repeatedly: after any `finish()` has returned, each lookup fails.
@Suite("The second of two concurrent finishes", .timeLimit(.minutes(20)), .serialized)
struct SecondFinishSpecification {
  private static let rounds = 20_000

  private struct Service {
    let application: Environment
    let sessions: EnvironmentFactory<Int>
    let requests: EnvironmentFactory<Int>

    init() throws {
      application = try Environment(name: "application")
      sessions = try application.childFactory("session", seed: Int.self) { try $0.define($0.bean(Cart.self)) }
      requests = try sessions.childFactory("request", seed: Int.self) { try $0.define($0.bean(Part.self)) }
    }
  }

  /// A meeting point of two threads, once in each round, as close as the machine allows.
  private final class Rounds: Sendable {
    private let arrived = Atomic(0)

    func arrive(at round: Int) {
      arrived.add(1, ordering: .acquiringAndReleasing)
      var patience = 1_000
      while arrived.load(ordering: .acquiring) < 2 * (round + 1) {
        patience -= 1
        if patience < 0 { sched_yield() }
      }
    }
  }

  @Test("Lookups in a request below throw once any finish of its session has returned")
  func requestBelow() throws {
    let service = try Service()
    let sessions = try (0..<Self.rounds).map { try service.sessions.build($0) }
    let requests = try sessions.map { session in
      let request = try service.requests.build(1, in: session)
      _ = try request.getBean(Part.self)
      return request
    }
    let rounds = Rounds()
    let found = try onThreads(2) { _ -> [String: Int] in
      var found: [String: Int] = [:]
      for round in 0..<Self.rounds {
        rounds.arrive(at: round)
        sessions[round].finish()
        let codes = [code { try requests[round].getBean(Part.self) }, code { try requests[round].getBean(Cart.self) }]
        for (type, code) in zip(["part", "cart"], codes) where code != .finished {
          found["\(type): \(code, default: "found")", default: 0] += 1
        }
      }
      return found
    }
    #expect(found == [[:], [:]])
    try service.application.shutdown()
  }

  @Test("A request that was opened meanwhile is finished once finish of its session has returned")
  func requestOpenedMeanwhile() throws {
    let service = try Service()
    let (sessions, factory) = (try (0..<Self.rounds).map { try service.sessions.build($0) }, service.requests)
    let rounds = Rounds()
    let found = try onThreads(2) { number -> Int in
      var found = 0
      for round in 0..<Self.rounds {
        rounds.arrive(at: round)
        let opened = number == 0 ? nil : try? factory.build(round, in: sessions[round])
        sessions[round].finish()
        guard let opened else { continue }
        if code({ try opened.getBean(Part.self) }) != .finished { found += 1 }
        if code({ try opened.getBean(Int.self) }) != .finished { found += 1 }
      }
      return found
    }
    #expect(found == [0, 0])
    #expect(sessions.allSatisfy { !$0.hasOpenChildren })
    try service.application.shutdown()
  }
}

private final class Cart: Initializable { init() {} }
private final class Part: Initializable { init() {} }
