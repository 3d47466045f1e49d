import TestSupport
import Testing

@testable import Beans

@Suite("Strongly connected components") struct StrongComponentsTests {
  @Test("Two numbers are together if each leads to the other", arguments: 1...200)
  func randomGraphs(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let count = Int.random(in: 1...12, using: &random)
    let dependencies = (0..<count).map { _ in
      (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) }
    }
    let components = StrongComponents(count) { number, body in dependencies[number].forEach(body) }
    func leads(_ one: Int, to other: Int) -> Bool {
      var (seen, rest): (Set<Int>, [Int]) = ([one], [one])
      while let next = rest.popLast() {
        if next == other { return true }
        for dependency in dependencies[next] where seen.insert(dependency).inserted { rest.append(dependency) }
      }
      return false
    }
    for one in 0..<count {
      for other in 0..<count {
        #expect(components.areTogether(one, other) == (leads(one, to: other) && leads(other, to: one)))
      }
    }
  }

  @Test("A long chain and a long circle need no stack")
  func longGraphs() {
    let count = 200_000
    let chain = StrongComponents(count) { number, body in if number > 0 { body(number - 1) } }
    #expect(!chain.areTogether(0, count - 1))
    let circle = StrongComponents(count) { number, body in body((number + 1) % count) }
    #expect(circle.areTogether(0, count - 1))
  }
}
