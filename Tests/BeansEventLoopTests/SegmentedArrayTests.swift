import Testing

@testable import BeansEventLoop

@Suite struct SegmentedArrayTests {
  @Test func aSegmentedArrayBehavesAsAnArray() {
    var random = SystemRandomNumberGenerator()
    var array = SegmentedArray<Int>()
    var expected: [Int] = []
    #expect(array.first == nil)
    for step in 0..<20_000 {
      // Grows for a while, then shrinks, across the borders of several segments.
      if expected.isEmpty || Int.random(in: 0..<3, using: &random) < (step < 12_000 ? 2 : 1) {
        array.append(step)
        expected.append(step)
      } else {
        #expect(array.removeLast() == expected.removeLast())
      }
      if let index = expected.indices.randomElement(using: &random) {
        array[index] += 7
        expected[index] += 7
      }
    }
    #expect(array.count == expected.count)
    #expect(array.first == expected.first)
    #expect(expected.indices.allSatisfy { array[$0] == expected[$0] })
    let all = array.takeSegments().joined()
    #expect(Array(all) == expected)
    #expect(array.isEmpty)
    #expect(array.segmentCount == 0)
  }

  @Test func aSegmentedArrayKeepsOneSegmentMoreThanItNeeds() {
    var array = SegmentedArray<Int>()
    for value in 0..<5_000 { array.append(value) }
    #expect(array.segmentCount == 5)
    while array.count > 1_000 { _ = array.removeLast() }
    #expect(array.segmentCount == 2)
    while !array.isEmpty { _ = array.removeLast() }
    #expect(array.segmentCount == 2)
  }
}
