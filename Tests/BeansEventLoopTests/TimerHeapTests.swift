import Testing

@testable import BeansEventLoop

@Suite struct TimerHeapTests {
  /// Pops everything that is due and returns the order in which it came.
  private func drain(_ heap: inout TimerHeap, at now: UInt64, log: Box<[Int]>) -> [Int] {
    log.update { $0 = [] }
    while let action = heap.popDue(at: now) {
      if case .run(let closure) = action { closure() }
    }
    return log.value
  }

  @Test func aHeapPopsInOrderOfDeadlineThenOfInsertion() {
    var heap = TimerHeap()
    let log = Box<[Int]>([])
    for (index, deadline) in [30, 10, 20, 10, 40].enumerated() {
      _ = heap.insert(deadline: UInt64(deadline), .run { log.update { $0.append(index) } })
    }
    #expect(heap.earliest == 10)
    let due = drain(&heap, at: 25, log: log)
    #expect(due == [1, 3, 2])
    #expect(heap.earliest == 30)
    let rest = drain(&heap, at: .max, log: log)
    #expect(rest == [0, 4])
    #expect(heap.isEmpty)
    #expect(heap.earliest == .max)
  }

  @Test func aHeapStaysOrderedUnderRandomInsertionsAndRemovals() {
    var random = SystemRandomNumberGenerator()
    var heap = TimerHeap()
    var expected: [TimerKey: (deadline: UInt64, index: Int)] = [:]
    let log = Box<[Int]>([])
    for index in 0..<20_000 {
      let deadline = UInt64.random(in: 0..<1_000, using: &random)
      let key = heap.insert(deadline: deadline, .run { log.update { $0.append(index) } })
      expected[key] = (deadline, index)
      if index % 3 == 0, let victim = expected.keys.randomElement(using: &random) {
        let removed = [heap.remove(victim), heap.remove(victim)]
        #expect(removed[0] != nil)
        #expect(removed[1] == nil)
        expected[victim] = nil
      }
    }
    #expect(heap.count == expected.count)
    let order = expected.values.sorted { ($0.deadline, $0.index) < ($1.deadline, $1.index) }.map(\.index)
    let drained = drain(&heap, at: .max, log: log)
    #expect(drained == order)
  }

  @Test func removalReleasesTheClosureAtOnce() {
    let population = Box(0)
    var heap = TimerHeap()
    var keys: [TimerKey] = []
    for index in 0..<1_000 {
      let canary = Canary(population)
      keys.append(heap.insert(deadline: UInt64(index), .run { canary.sing() }))
    }
    #expect(population.value == 1_000)
    for (index, key) in keys.enumerated() {
      _ = heap.remove(key)
      #expect(population.value == 999 - index)
    }
  }

  @Test func aStaleKeyRemovesNothing() {
    var heap = TimerHeap()
    let first = heap.insert(deadline: 1, .run {})
    _ = heap.popDue(at: 1)
    let second = heap.insert(deadline: 2, .run {})
    #expect(first.slot == second.slot)
    let stale = heap.remove(first)
    #expect(stale == nil)
    #expect(heap.count == 1)
    // Also after the memory of many timers has been given back.
    let many = (0..<10_000).map { heap.insert(deadline: UInt64($0), .run {}) }
    while heap.popDue(at: .max) != nil {}
    while heap.takeEmptied() != nil {}
    _ = heap.insert(deadline: 1, .run {})
    let removed = many.compactMap { heap.remove($0) }
    #expect(removed.isEmpty)
    #expect(heap.count == 1)
  }

  @Test func aLargeHeapIsGivenUpPieceByPieceWhenItIsEmpty() {
    var heap = TimerHeap()
    for deadline in 0..<200_000 { _ = heap.insert(deadline: UInt64(deadline), .run {}) }
    while heap.count > 1 { _ = heap.popDue(at: .max) }
    #expect(piecesGivenUp(by: &heap) == 0)
    _ = heap.popDue(at: .max)
    // Timers that come meanwhile do not hold it up.
    _ = heap.insert(deadline: 7, .run {})
    _ = heap.popDue(at: .max)
    let piece = heap.takeEmptied()
    #expect(piece != nil)
    let key = heap.insert(deadline: 8, .run {})
    #expect(heap.earliest == 8)
    #expect(piecesGivenUp(by: &heap) == 3)
    #expect(heap.remove(key) != nil)
    // A small heap keeps its memory.
    #expect(piecesGivenUp(by: &heap) == 0)
  }

  private func piecesGivenUp(by heap: inout TimerHeap) -> Int {
    var count = 0
    while heap.takeEmptied() != nil { count += 1 }
    return count
  }

  @Test func removeAllReturnsEveryAction() {
    var heap = TimerHeap()
    let keys = (0..<10).map { heap.insert(deadline: UInt64($0), .run {}) }
    _ = heap.remove(keys[4])
    let actions = heap.removeAll()
    #expect(actions.count == 9)
    #expect(heap.isEmpty)
    let stale = heap.remove(keys[0])
    #expect(stale == nil)
  }
}
