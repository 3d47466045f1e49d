import Beans
import BeansLogging
import Foundation
import TestSupport
import Testing

/// Scenarios have no registered scopes but `AbstractBeanScope`s, no beans that are scopes, and no scope objects of
/// children. Beans of a registered scope take only beans that are open where it is registered, and only ends follow its
/// end. Factory beans and decorators have no templates, and instances are declared in environments created by hand.
///
/// Environment variables: `MODEL_SEEDS` is the number of scenarios to run, `MODEL_FIRST_SEED` the first one.
@Suite("The container beside a naive reference", .timeLimit(.minutes(30))) struct ModelSpecification {
  private static let parts: UInt64 = 4

  @Test("Random scenarios lead to the same objects, faults and releases as in the reference", arguments: 0..<parts)
  func sameAsReference(part: UInt64) {
    let first: UInt64 = setting("MODEL_FIRST_SEED") ?? 1
    let seeds = first..<first + (setting("MODEL_SEEDS") ?? 10_000)
    // Random beans are not `Sendable`, and each start of an environment warns of that. No other test runs beside so many.
    if seeds.count > 10_000 { LogManager.getSingleton().setLevel(.error, forName: "Beans.Environment") }
    for (count, seed) in stride(from: first + part, to: seeds.upperBound, by: Int(Self.parts)).enumerated() {
      if count > 0, count % 25_000 == 0 { progress("part \(part): \(count) scenarios") }
      let scenario = ScenarioGenerator.scenario(seed: seed)
      if Comparison.difference(scenario) == nil { continue }
      Issue.record("seed \(seed): \(Comparison.report(scenario))")
      return
    }
  }

  @Test(
    "A wrong reference differs, in a handful of declarations, which are printed", arguments: Mistake.allCases)
  func mistakesAreFound(mistake: Mistake) throws {
    let differing = (1...1_000).lazy.map { ScenarioGenerator.scenario(seed: $0) }
      .first { Comparison.difference($0, mistake: mistake) != nil }
    let scenario = try #require(differing)
    let shrunk = ScenarioShrinker { Comparison.difference($0, mistake: mistake) != nil }.shrink(scenario)
    #expect(shrunk.declarationCount <= 3)
    #expect(shrunk.operations.count <= 2)
    let source = Comparison.report(scenario, mistake: mistake)
    #expect(source.contains("try environment.define(environment.bean("))
    #expect(source.contains("the reference"))
  }

  @Test("A seed yields the same scenario as before")
  func seedsAreStable() {
    for seed in UInt64(1)...50 {
      #expect(ScenarioGenerator.scenario(seed: seed) == ScenarioGenerator.scenario(seed: seed))
    }
    #expect(ScenarioGenerator.scenario(seed: 1) != ScenarioGenerator.scenario(seed: 2))
  }

  /// Writes the progress at once, without the buffer of standard output.
  private func progress(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
