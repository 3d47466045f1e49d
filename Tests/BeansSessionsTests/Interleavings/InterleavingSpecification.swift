import Glibc
import Testing

/// Environment variables: `SESSION_SEEDS` says how many orders are tried, `SESSION_SEED` which one alone.
@Suite("Two nodes that use the same sessions", .timeLimit(.minutes(20)))
struct InterleavingSpecification {
  @Test("keep the promises to clients in any order of steps, whatever call of the store fails")
  func randomOrders() throws {
    let seeds = number("SESSION_SEED").map { $0...$0 } ?? 1...max(1, number("SESSION_SEEDS") ?? 1_000)
    for seed in seeds {
      let interleaving = try Interleaving.run(seed: seed)
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

  @Test("do not keep them over a store that is wrong", arguments: StoreMistake.allCases)
  func mistakesAreFound(mistake: StoreMistake) throws {
    let found = try (UInt64(1)...1_000).contains { seed in
      try !Interleaving.run(seed: seed) { NaiveStore($0, mistake) }.violations.isEmpty
    }
    #expect(found)
  }

  @Test("do the same for the same seed")
  func seedsAreStable() throws {
    for seed in UInt64(1)...20 {
      #expect(try Interleaving.run(seed: seed).events == Interleaving.run(seed: seed).events)
    }
  }

  private func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}
