import Testing

@testable import Beans

@Suite struct TopologicalSortTests {
  private func sort(_ dependencies: [[Int]]) -> (sorted: [Int], circles: [[Int]]) {
    TopologicalSort.sort(dependencies.count) { number, body in dependencies[number].forEach(body) }
  }

  // MARK: order

  @Test(
    arguments: [
      ([], []),
      ([[]], [0]),
      // No element needs another one: order of definition.
      ([[], [], []], [0, 1, 2]),
      // Dependencies come first, those of one number in its order.
      ([[2, 1], [3], [3], []], [3, 2, 1, 0]),
      // A repeated dependency occurs once.
      ([[1, 1, 2], [2], []], [2, 1, 0]),
      // A sorted list stays sorted.
      ([[], [0], [0, 1], [2]], [0, 1, 2, 3]),
      // Two independent parts.
      ([[3], [2], [], []], [3, 0, 2, 1]),
    ] as [([[Int]], [Int])])
  func dependenciesComeFirstInOrderOfDefinition(dependencies: [[Int]], expected: [Int]) {
    let (sorted, circles) = sort(dependencies)
    #expect(sorted == expected)
    #expect(circles.isEmpty)
  }

  @Test func theDependenciesOfEachElementAreReadOnce() {
    var asked: [Int] = []
    _ = TopologicalSort.sort(4) { number, body in
      asked.append(number)
      [[1, 2, 3], [2, 3], [3], []][number].forEach(body)
    }
    #expect(asked.sorted() == [0, 1, 2, 3])
  }

  // MARK: circles

  @Test(
    arguments: [
      ([[0]], [[0]]),
      ([[1], [0]], [[0, 1]]),
      ([[1], [2], [0]], [[0, 1, 2]]),
      // The path into the circle is left out.
      ([[1], [2], [3], [1]], [[1, 2, 3]]),
      // Each of several circles is reported.
      ([[0], [2], [1], []], [[0], [1, 2]]),
      ([[1, 2], [0], [0]], [[0, 1], [0, 2]]),
      // An element that leads into a known circle is in none itself.
      ([[1], [0], [0]], [[0, 1]]),
    ] as [([[Int]], [[Int]])])
  func eachCircleIsReported(dependencies: [[Int]], expected: [[Int]]) {
    let (sorted, circles) = sort(dependencies)
    #expect(circles == expected)
    #expect(sorted.sorted() == Array(dependencies.indices))
  }

  @Test func everyCircleOfARandomGraphIsOneAndOtherDependenciesComeFirst() {
    var random = SeededGenerator(seed: 20)
    var (withCircle, without) = (0, 0)
    for _ in 0..<2_000 {
      let count = Int.random(in: 1...12, using: &random)
      let dependencies = (0..<count).map { _ in
        (0..<Int.random(in: 0...2, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) }
      }
      let (sorted, circles) = sort(dependencies)
      #expect(sorted.sorted() == Array(0..<count))
      for circle in circles {
        #expect(Set(circle).count == circle.count)
        for (number, next) in zip(circle, circle.dropFirst() + circle.prefix(1)) {
          #expect(dependencies[number].contains(next))
        }
      }
      let position = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
      var isOrdered = true
      for (number, needed) in dependencies.enumerated() {
        for next in needed { isOrdered = isOrdered && position[next, default: count] < position[number, default: 0] }
      }
      #expect(isOrdered == circles.isEmpty, "\(dependencies)")
      if circles.isEmpty { without += 1 } else { withCircle += 1 }
    }
    #expect(withCircle > 100 && without > 100)
  }

  // MARK: size

  @Test func aLongChainNeedsNoDeepStack() {
    let count = 100_000
    let (backward, none) = TopologicalSort.sort(count) { number, body in if number > 0 { body(number - 1) } }
    #expect(backward == Array(0..<count))
    #expect(none.isEmpty)
    let (forward, alsoNone) = TopologicalSort.sort(count) { number, body in if number + 1 < count { body(number + 1) } }
    #expect(forward == (0..<count).reversed())
    #expect(alsoNone.isEmpty)
  }

  @Test func aLongCircleNeedsNoDeepStack() {
    let count = 100_000
    let (sorted, circles) = TopologicalSort.sort(count) { number, body in body((number + 1) % count) }
    #expect(sorted.count == count)
    #expect(circles == [Array(0..<count)])
  }

  @Test func aDenseGraphIsSorted() {
    let count = 400
    let (forward, none) = TopologicalSort.sort(count) { number, body in (0..<number).forEach(body) }
    #expect(forward == Array(0..<count))
    #expect(none.isEmpty)
    let (backward, alsoNone) = TopologicalSort.sort(count) { number, body in ((number + 1)..<count).forEach(body) }
    #expect(backward == (0..<count).reversed())
    #expect(alsoNone.isEmpty)
  }

  @Test func aHundredCirclesOfADenseGraphAreReported() {
    let count = 200
    let (sorted, circles) = TopologicalSort.sort(count) { _, body in (0..<count).forEach(body) }
    #expect(sorted.sorted() == Array(0..<count))
    #expect(circles.count == 100)
    #expect(circles.first == [0])
    #expect(circles.allSatisfy { Set($0).count == $0.count })
  }
}
