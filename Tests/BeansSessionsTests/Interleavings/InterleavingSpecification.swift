import BeansSessions
import TestSupport
import Testing

/// Environment variables: `SESSION_SEEDS` says how many orders are tried, `SESSION_SEED` which one alone.
@Suite("Two nodes that use the same sessions", .timeLimit(.minutes(20)))
struct InterleavingSpecification {
  @Test("Two nodes keep the promises to clients in any order of steps, with failures of any call of the store")
  func randomOrders() throws {
    try look { try Interleaving.run(seed: $0) }
  }

  @Test("Two nodes keep the promises over Redis, too", .needsRedis)
  func randomOrdersOverRedis() async throws {
    try await withStore(.redis, limits: SessionLimits(idleLimit: Interleaving.idleLimit)) { test in
      try look { seed in
        try test.raw?("FLUSHALL")
        return try Interleaving.run(seed: seed, over: test)
      }
    }
  }

  @Test("Two nodes break the promises over a faulty store", arguments: StoreMistake.allCases.filter(\.concernsClients))
  func mistakesAreFound(mistake: StoreMistake) throws {
    let found = try (UInt64(1)...1_000).contains { seed in
      try !Interleaving.run(seed: seed) { NaiveStore($0, mistake) }.violations.isEmpty
    }
    #expect(found)
  }

  @Test("Two nodes take the same steps for the same seed")
  func seedsAreStable() throws {
    for seed in UInt64(1)...20 {
      #expect(try Interleaving.run(seed: seed).events == Interleaving.run(seed: seed).events)
    }
  }

  /// Records the first broken promise.
  private func look(_ run: (UInt64) throws -> Interleaving) throws {
    let one: UInt64? = setting("SESSION_SEED")
    for seed in one.map({ $0...$0 }) ?? 1...max(1, setting("SESSION_SEEDS") ?? 1_000) {
      let interleaving = try run(seed)
      if interleaving.violations.isEmpty { continue }
      Issue.record(
        """
        SESSION_SEED=\(seed):
        \(interleaving.violations.joined(separator: "\n"))

        \(interleaving.events.joined(separator: "\n"))
        """)
      return
    }
  }
}
