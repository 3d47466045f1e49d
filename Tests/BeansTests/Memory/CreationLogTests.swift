import Testing

@testable import Beans

@Suite struct CreationLogTests {
  static let counts = [0, 1, 2, 7, 8, 9, 255, 256, 257, 300, 70_000]

  /// Memory of exactly the layout's size, with guard words on both sides.
  private final class Memory {
    private static let pattern: UInt = 0xA5A5_A5A5_A5A5_A5A5
    private let words: UnsafeMutablePointer<UInt>
    private let count: Int
    let start: UnsafeMutableRawPointer

    init(_ layout: SlotLayout) {
      count = layout.words
      words = .allocate(capacity: count + 2)
      words.initialize(repeating: Self.pattern, count: count + 2)
      start = UnsafeMutableRawPointer(words + 1)
    }

    deinit { words.deallocate() }

    /// Whether the guard words are unchanged.
    var isIntact: Bool { words[0] == Self.pattern && words[count + 1] == Self.pattern }
  }

  @Test(arguments: counts)
  func partsOfTheLayoutAreContiguous(count: Int) {
    let layout = SlotLayout(slots: count)
    #expect(layout.slots == count)
    let log = (layout.words - count) * 8
    let needed = 4 + 4 * count
    #expect((needed..<(needed + 8)).contains(log))
  }

  @Test(arguments: counts)
  func slotsAndLogAreEmptyAtFirst(count: Int) {
    let layout = SlotLayout(slots: count)
    let memory = Memory(layout)
    let slots = layout.initialize(memory.start)
    #expect(slots.opaque == UnsafeRawPointer(memory.start))
    #expect(CreationLog(of: slots, layout).count == 0)
    #expect((0..<Int32(count)).allSatisfy { slots[$0].content.isEmpty })
    #expect(memory.isIntact)
  }

  @Test(arguments: counts)
  func slotsAreLoggedInOrderOfCreation(count: Int) {
    let layout = SlotLayout(slots: count)
    let memory = Memory(layout)
    let slots = layout.initialize(memory.start)
    for slot in 0..<Int32(count) { slots[slot].store(Slot.Content(word: UInt(slot) * 16)) }
    var random = SeededGenerator(seed: UInt64(count))
    let order = (0..<Int32(count)).shuffled(using: &random)

    let log = CreationLog(of: slots, layout)
    for slot in order { log.append(slot) }
    #expect(log.count == count)
    #expect((0..<count).map { log[$0] } == order)
    // The last slot comes first, until the reader stops.
    var seen: [Int32] = []
    let left = log.last(count) { slot in
      seen.append(slot)
      return seen.count <= count / 3
    }
    #expect(left == count - min(count, count / 3))
    #expect(seen == Array(order.reversed().prefix(count / 3 + 1)))
    // Another look at the same memory.
    let again = CreationLog(of: Slots(opaque: memory.start), layout)
    #expect((0..<again.count).map { again[$0] } == order)
    #expect((0..<Int32(count)).allSatisfy { slots[$0].content.word == UInt($0) * 16 })
    #expect(memory.isIntact)
  }

  /// A scope object without a host, which its child alone retains.
  private final class OwnScope: ChildScope {
    let name = "request"

    func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {}
    func finish() {}
  }

  @Test(arguments: counts)
  func theScopeIsStoredBesideSlotsAndLog(count: Int) throws {
    let layout = SlotLayout(slots: count)
    weak var last: OwnScope?
    var environment: Environment?
    do {
      let scope = OwnScope()
      last = scope
      environment = Environment(
        layout,
        EnvironmentCore(
          plan: nil, parent: nil, lifecycle: Lifecycle(.released).word, slots: nil, extras: nil,
          place: CallPlace(file: #fileID, line: #line)), .life(scope))
    }
    do {
      let child = try #require(environment)
      let slots = child.core.slots
      for slot in 0..<Int32(count) { CreationLog(of: slots, layout).append(slot) }
      #expect(child.childScope === last)
      #expect(last != nil)
      #expect((0..<Int32(count)).allSatisfy { slots[$0].content.isEmpty })
    }
    environment = nil
    #expect(last == nil)
  }
}
