public import Synchronization

/// The place where one bean instance of one environment lives: one word, whose sign tells claims from beans.
///
///     0                        empty
///     − address of a build     claimed by that build
///     address of an object     filled; the slot owns one reference
///     address of an object | 2 filled, and not yet in the creation log
///     4                        a bean that the user's scope keeps, and that is in the creation log
@usableFromInline
struct Slot: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt>(0)

  /// What a slot held at one moment.
  @usableFromInline
  struct Content: Equatable, Sendable {
    @usableFromInline let word: UInt

    @inlinable @inline(__always)
    init(word: UInt) { self.word = word }

    static var empty: Content { Content(word: 0) }
    static var kept: Content { Content(word: 4) }

    /// A bean that the creation log does not name yet.
    @inline(__always)
    static func unlogged(_ object: ObjectReference) -> Content { Content(word: object.address | 2) }

    @inline(__always)
    static func logged(_ object: ObjectReference) -> Content { Content(word: object.address) }

    @inline(__always)
    static func claimed(_ build: UInt) -> Content { Content(word: 0 &- build) }

    @inline(__always)
    var isEmpty: Bool { word == 0 }

    @inlinable @inline(__always)
    var isFilled: Bool { Int(bitPattern: word) > 4 }

    @inline(__always)
    var isUnlogged: Bool { word & 3 == 2 }

    @inline(__always)
    var isKept: Bool { word == 4 }

    /// The address of the build that has claimed the slot.
    @inline(__always)
    var claimant: UInt? { Int(bitPattern: word) < 0 ? 0 &- word : nil }

    /// The bean of a slot that is filled.
    @inlinable @inline(__always)
    var object: ObjectReference { ObjectReference(address: word & ~2) }

    /// As `object`, where the creation log names the bean.
    @inline(__always)
    var loggedObject: ObjectReference { ObjectReference(address: word) }
  }

  @inlinable @inline(__always)
  var content: Content { Content(word: word.load(ordering: .acquiring)) }

  @inline(__always)
  func store(_ content: Content) { word.store(content.word, ordering: .releasing) }

  /// False where the slot held something else.
  func replace(_ old: Content, by new: Content) -> Bool {
    word.compareExchange(expected: old.word, desired: new.word, ordering: .acquiringAndReleasing).exchanged
  }
}

/// The address of a slot that stays where it is: of an environment that is no child of a factory.
///
/// Sendable because the memory outlives every plan that names it, and slots are atomic.
@usableFromInline
struct SlotReference: @unchecked Sendable, Equatable {
  @usableFromInline let pointer: UnsafePointer<Slot>

  @inlinable @inline(__always)
  init(pointer: UnsafePointer<Slot>) { self.pointer = pointer }

  var address: UInt { UInt(bitPattern: pointer) }

  @inlinable @inline(__always)
  var content: Slot.Content { pointer.pointee.content }

  @inline(__always)
  func store(_ content: Slot.Content) { pointer.pointee.store(content) }

  func replace(_ old: Slot.Content, by new: Slot.Content) -> Bool { pointer.pointee.replace(old, by: new) }
}

/// The slots of one environment, by number.
@usableFromInline
struct Slots: @unchecked Sendable {  // owned by the environment; slots are atomic
  @usableFromInline let first: UnsafePointer<Slot>

  @inline(__always)
  init(_ first: UnsafePointer<Slot>) { self.first = first }

  @inline(__always)
  init(address: UInt) { first = UnsafePointer(bitPattern: address).unsafelyUnwrapped }

  @inline(__always)
  var address: UInt { UInt(bitPattern: first) }

  /// The number is one of the plan's.
  @inlinable @inline(__always)
  subscript(slot: Int32) -> SlotReference { SlotReference(pointer: first + Int(slot)) }

  /// The number of a slot, where that is one of the first `count`.
  func number(of slot: SlotReference, among count: Int) -> Int32? {
    let distance = slot.pointer - first
    return distance >= 0 && distance < count ? Int32(distance) : nil
  }

  static var none: Slots { SlotBlock.none.slots }
}

/// The slots and the creation log of an environment that is no child of a factory: their number is known at its startup.
/// Behind them stand values that declarations give.
///
/// Sendable because nothing in it changes but slots, which are atomic, and the log, which its users lock.
final class SlotBlock: @unchecked Sendable {
  private let memory: UnsafeMutableRawPointer
  let slots: Slots
  let layout: SlotLayout
  private let places: UnsafeMutablePointer<Slot>
  private let placeCount: Int

  /// No slots at all.
  static let none = SlotBlock(slots: 0, values: 0)

  init(slots count: Int, values: Int) {
    layout = SlotLayout(slots: count, hasScope: false)
    memory = .allocate(byteCount: max(layout.words, 1) * MemoryLayout<UInt>.stride, alignment: 16)
    slots = Slots(layout.initialize(memory))
    places = .allocate(capacity: max(values, 1))
    placeCount = values
    for index in 0..<values { (places + index).initialize(to: Slot()) }
  }

  deinit {
    releaseValues()
    memory.deallocate()
    places.deallocate()
  }

  /// Where the value of that number stands.
  func value(_ number: Int) -> SlotReference { SlotReference(pointer: places + number) }

  /// Lets go of the values.
  func releaseValues() {
    for index in 0..<placeCount {
      let content = places[index].content
      places[index].store(.empty)
      if content.isFilled { content.object.release() }
    }
  }
}

/// How slots, scope object and creation log stand one behind the other, in words.
struct SlotLayout: Sendable {
  let slots: Int
  /// Where the scope object stands, if there is one.
  let scope: Int
  /// Where the creation log begins.
  let log: Int
  let words: Int
  /// Whether a byte names a slot.
  let isNarrow: Bool

  init(slots count: Int, hasScope: Bool) {
    slots = count
    scope = count
    log = count + (hasScope ? ScopeCell.words : 0)
    isNarrow = count <= 1 << 8
    let bytes = MemoryLayout<UInt32>.stride * (isNarrow ? 1 : count + 1) + (isNarrow ? count : 0)
    words = log + (bytes + 7) / 8
  }

  /// Empties all slots and the log.
  @inline(__always)
  func initialize(_ memory: UnsafeMutableRawPointer) -> UnsafePointer<Slot> {
    let first = memory.assumingMemoryBound(to: Slot.self)
    for index in 0..<slots { (first + index).initialize(to: Slot()) }
    (memory + log &* MemoryLayout<UInt>.stride).initializeMemory(as: UInt32.self, to: 0)
    return UnsafePointer(first)
  }
}

/// The slots of one environment in the order in which they were filled. Guarded by the environment's lock.
struct CreationLog {
  private let memory: UnsafeMutableRawPointer
  private let isNarrow: Bool

  /// Behind the slots that begin at `slots`.
  @inline(__always)
  init(_ slots: UnsafeMutableRawPointer, _ layout: SlotLayout) {
    memory = slots + layout.log &* MemoryLayout<UInt>.stride
    isNarrow = layout.isNarrow
  }

  @inline(__always)
  init(of slots: Slots, _ layout: SlotLayout) {
    self.init(UnsafeMutableRawPointer(mutating: slots.first), layout)
  }

  @inline(__always)
  private var counter: UnsafeMutablePointer<UInt32> { memory.assumingMemoryBound(to: UInt32.self) }

  @inline(__always)
  var count: Int { Int(counter.pointee) }

  @inline(__always)
  func append(_ slot: Int32) { extend { $0(slot) } }

  /// Lets `body` append slots.
  @inline(__always)
  func extend(_ body: ((Int32) -> Void) -> Void) {
    var count = Int(counter.pointee)
    if isNarrow {
      let entries = (memory + 4).assumingMemoryBound(to: UInt8.self)
      body {
        entries[count] = UInt8(truncatingIfNeeded: $0)
        count &+= 1
      }
    } else {
      let entries = (memory + 4).assumingMemoryBound(to: Int32.self)
      body {
        entries[count] = $0
        count &+= 1
      }
    }
    counter.pointee = UInt32(truncatingIfNeeded: count)
  }

  /// Hands slots to `body`, the last of the first `count` first, until it answers false. Answers how many are left then.
  @inline(__always)
  func last(_ count: Int, _ body: (Int32) -> Bool) -> Int {
    isNarrow
      ? last(count, body) { Int32((memory + (3 &+ $0)).load(as: UInt8.self)) }
      : last(count, body) { (memory + 4 &* $0).load(as: Int32.self) }
  }

  @inline(__always)
  private func last(_ count: Int, _ body: (Int32) -> Bool, _ slot: (Int) -> Int32) -> Int {
    var left = count
    while left > 0, body(slot(left)) { left &-= 1 }
    return left
  }

  @inline(__always)
  subscript(index: Int) -> Int32 {
    isNarrow
      ? Int32((memory + (4 &+ index)).load(as: UInt8.self))
      : (memory + (4 &+ 4 &* index)).load(as: Int32.self)
  }
}
