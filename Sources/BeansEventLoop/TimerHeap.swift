/// The action of a due timer.
enum TimerAction: Sendable {
  case run(@Sendable () -> Void)
  case wake(Sleeper)
}

/// The permanent key of one timer: the sequence number is never reused, so a stale key removes nothing.
struct TimerKey: Sendable, Hashable {
  let slot: Int32
  let sequence: UInt64
}

/// The timers of a loop: a 4-ary min-heap over a table of slots.
///
/// Inserting, removing and popping cost O(log n), and allocate nothing except one block per thousand timers. The heap
/// is dense: a removed timer leaves neither its closure nor a tombstone. A timer takes about 64 bytes, plus the
/// captures of its closure. The heap is a plain value without a lock; the loop's mutex protects it.
struct TimerHeap: Sendable {
  private struct Node {
    var deadline: UInt64
    /// Orders equal deadlines by time of insertion.
    var sequence: UInt64
    var slot: Int32

    static func < (left: Node, right: Node) -> Bool {
      left.deadline != right.deadline ? left.deadline < right.deadline : left.sequence < right.sequence
    }
  }

  fileprivate struct Slot {
    /// The action of the timer; nil when the slot is free.
    var action: TimerAction?
    var sequence: UInt64
    /// The index in `nodes`; in a free slot, the next free slot or `none`.
    var position: Int32
  }

  private static let none: Int32 = -1
  /// The number of slot segments above which a heap releases them when its last timer has been removed.
  private static let keptSegments = 4
  /// The number of segments that are released at a time.
  private static let segmentsAtATime = 64

  private var nodes = SegmentedArray<Node>()
  private var slots = SegmentedArray<Slot>()
  /// The slots of removed timers, which are still to be released.
  private var emptied: [[Slot]] = []
  private var firstFree = Self.none
  private var nextSequence: UInt64 = 0

  var count: Int { nodes.count }
  var isEmpty: Bool { nodes.isEmpty }
  /// The deadline of the next timer, or `UInt64.max` when there is none.
  var earliest: UInt64 { nodes.first?.deadline ?? .max }

  mutating func insert(deadline: UInt64, _ action: TimerAction) -> TimerKey {
    let sequence = nextSequence
    nextSequence += 1
    let position = Int32(nodes.count)
    let slot: Int32
    if firstFree != Self.none {
      slot = firstFree
      firstFree = slots[Int(slot)].position
      slots[Int(slot)] = Slot(action: action, sequence: sequence, position: position)
    } else {
      slot = Int32(slots.count)
      slots.append(Slot(action: action, sequence: sequence, position: position))
    }
    nodes.append(Node(deadline: deadline, sequence: sequence, slot: slot))
    siftUp(nodes.count - 1)
    return TimerKey(slot: slot, sequence: sequence)
  }

  /// Removes the timer and returns its action; nil when it has fired or been removed before.
  mutating func remove(_ key: TimerKey) -> TimerAction? {
    let index = Int(key.slot)
    guard index < slots.count, slots[index].sequence == key.sequence, slots[index].action != nil else { return nil }
    return removeNode(at: Int(slots[index].position))
  }

  /// Removes the first timer whose deadline is not after `now`, and returns its action.
  mutating func popDue(at now: UInt64) -> TimerAction? {
    guard let first = nodes.first, first.deadline <= now else { return nil }
    return removeNode(at: 0)
  }

  /// Removes all timers, and returns their actions in no particular order.
  mutating func removeAll() -> [TimerAction] {
    let actions = slots.takeSegments().joined().compactMap(\.action)
    _ = nodes.takeSegments()
    firstFree = Self.none
    return actions
  }

  /// The memory of removed timers, which is deallocated with this value.
  struct Emptied: Sendable {
    fileprivate let slots: [[Slot]]
  }

  /// Takes some of the memory that an empty heap does not need; nil when there is none.
  ///
  /// The deallocation of a million timers takes milliseconds, which may be spent neither under a lock nor all in one
  /// turn.
  mutating func takeEmptied() -> Emptied? {
    if nodes.isEmpty, slots.segmentCount > Self.keptSegments {
      // No node refers to a slot any more, and sequence numbers continue, so stale keys stay stale.
      emptied += slots.takeSegments()
      firstFree = Self.none
    }
    guard !emptied.isEmpty else { return nil }
    let some = Array(emptied.suffix(Self.segmentsAtATime))
    emptied.removeLast(some.count)
    return Emptied(slots: some)
  }

  /// Moves all deadlines nearer by the same time, which preserves their order.
  mutating func hasten(by nanoseconds: UInt64) {
    for index in 0..<nodes.count where nodes[index].deadline != .max {
      nodes[index].deadline -= min(nodes[index].deadline, nanoseconds)
    }
  }

  private mutating func removeNode(at position: Int) -> TimerAction? {
    let slot = nodes[position].slot
    let last = nodes.removeLast()
    if position < nodes.count {
      nodes[position] = last
      slots[Int(last.slot)].position = Int32(position)
      siftDown(position)
      siftUp(position)
    }
    let action = slots[Int(slot)].action.take()
    slots[Int(slot)].position = firstFree
    firstFree = slot
    return action
  }

  private mutating func siftUp(_ start: Int) {
    var position = start
    let node = nodes[position]
    while position > 0 {
      let parent = (position - 1) / 4
      guard node < nodes[parent] else { break }
      place(nodes[parent], at: position)
      position = parent
    }
    if position != start { place(node, at: position) }
  }

  private mutating func siftDown(_ start: Int) {
    var position = start
    let node = nodes[position]
    while true {
      let firstChild = position * 4 + 1
      guard firstChild < nodes.count else { break }
      var least = firstChild
      for child in (firstChild + 1)..<max(firstChild + 1, min(firstChild + 4, nodes.count))
      where nodes[child] < nodes[least] {
        least = child
      }
      guard nodes[least] < node else { break }
      place(nodes[least], at: position)
      position = least
    }
    if position != start { place(node, at: position) }
  }

  private mutating func place(_ node: Node, at position: Int) {
    nodes[position] = node
    slots[Int(node.slot)].position = Int32(position)
  }
}
