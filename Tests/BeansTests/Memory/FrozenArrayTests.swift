import TestSupport
import Testing

@testable import Beans

@Suite struct FrozenArrayTests {
  @Test(arguments: [1, 2, 100])
  func elementsKeepTheirOrder(count: Int) {
    let elements = (0..<count).map { "element \($0)" }
    let array = FrozenArray(elements)
    let (length, byIndex) = (array.count, (0..<count).map { array[$0] })
    let byReference = (0..<count).map { array.reference($0).value }
    let all = array.all
    #expect(length == count)
    #expect(byIndex == elements)
    #expect(byReference == elements)
    #expect((0..<all.count).map { all[$0] } == elements)
    withExtendedLifetime(array) {}
  }

  @Test func anEmptyArrayHasAnEmptySlice() {
    let array = FrozenArray<String>([])
    let (count, all) = (array.count, array.all)
    #expect(count == 0)
    #expect(all.isEmpty)
    #expect(all.count == 0)
    #expect(all[0..<0].isEmpty)
    all.forEach { Issue.record("an element: \($0)") }
    withExtendedLifetime(array) {}
  }

  @Test func slicesOfSlicesHaveTheirElements() {
    let array = FrozenArray(Array(0..<100))
    let part = array.all[10..<50]
    func elements(_ slice: FrozenSlice<Int>) -> [Int] {
      var elements: [Int] = []
      slice.forEach { elements.append($0) }
      return elements
    }
    #expect(part.count == 40)
    #expect(part[0] == 10)
    #expect(elements(part) == Array(10..<50))
    #expect(elements(part[5..<8]) == [15, 16, 17])
    #expect(part[40..<40].isEmpty)
    #expect(part.reference(3).value == 13)
    let last = array.reference(99)
    #expect(part.reference(39).advanced(by: 50) == last)
    #expect(last.advanced(by: -99).value == 0)
    withExtendedLifetime(array) {}
  }

  @Test func anErrorOfTheBodyEndsTheIteration() {
    let array = FrozenArray(Array(0..<10))
    let all = array.all
    var seen: [Int] = []
    #expect(throws: Boom.self) {
      try all.forEach {
        seen.append($0)
        if $0 == 3 { throw Boom() }
      }
    }
    #expect(seen == [0, 1, 2, 3])
    withExtendedLifetime(array) {}
  }

  @Test func referencesToOnePlaceAreEqual() {
    let array = FrozenArray([1, 2, 3])
    let (first, second) = (array.reference(0), array.reference(1))
    #expect(first != second)
    #expect(first == array.all.first)
    #expect(second.value == 2)
    #expect(array.reference(3) == array.all.end)
    withExtendedLifetime(array) {}
  }

  @Test func elementsAreDeallocatedWithTheArray() {
    let ended = Counter()
    do {
      let array = FrozenArray((0..<5).map { _ in Canary(ended) })
      // A read retains nothing for longer than the read.
      for index in 0..<5 { _ = array[index] }
      #expect(ended.value == 0)
      withExtendedLifetime(array) {}
    }
    #expect(ended.value == 5)
  }
}
