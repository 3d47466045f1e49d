public import Synchronization

/// The place where one bean instance of one environment lives.
@usableFromInline
struct Slot: Sendable, Equatable {
  @usableFromInline let place: FrozenReference<Atomic<UInt>>

  @inlinable @inline(__always)
  init(_ place: FrozenReference<Atomic<UInt>>) { self.place = place }

  @inlinable @inline(__always)
  var content: Content { Content(word: place.value.load(ordering: .sequentiallyConsistent)) }

  @inline(__always)
  func store(_ content: Content) { place.value.store(content.word, ordering: .releasing) }

  /// The bean, retained for the caller; nil unless the slot is filled. The caller prevents the release of the bean.
  @inline(__always)
  var retainedBean: ObjectReference? {
    let content = content
    guard content.isFilled else { return nil }
    content.object.retain()
    return content.object
  }

  /// The content of a slot at one moment: one word, whose sign separates claims from beans.
  ///
  ///     0                        empty
  ///     − address of a build     claimed by that build
  ///     address of an object     filled; the slot owns one reference
  ///     4                        a bean that the user's scope keeps, and that is in the creation log
  ///
  /// Beside `BackLink` the only number that stands for an address: an atomic has one word for the four cases. Only this
  /// type converts it.
  @usableFromInline
  struct Content: Equatable, Sendable {
    @usableFromInline let word: UInt

    @inlinable @inline(__always)
    init(word: UInt) { self.word = word }

    static var empty: Content { Content(word: 0) }
    static var kept: Content { Content(word: 4) }

    @inline(__always)
    static func filled(_ object: ObjectReference) -> Content { Content(word: UInt(bitPattern: unsafe object.pointer)) }

    @inline(__always)
    static func claimed<Build: ~Copyable>(by build: StackReference<Build>) -> Content {
      Content(word: 0 &- UInt(bitPattern: unsafe build.opaque))
    }

    @inline(__always)
    var isEmpty: Bool { word == 0 }

    @inlinable @inline(__always)
    var isFilled: Bool { Int(bitPattern: word) > 4 }

    @inline(__always)
    var isKept: Bool { word == 4 }

    /// The build that has claimed the slot.
    @inline(__always)
    var claimant: StackReference<Void>? {
      if Int(bitPattern: word) >= 0 { return nil }
      return unsafe UnsafeRawPointer(bitPattern: 0 &- word).map { unsafe StackReference(opaque: $0) }
    }

    /// The bean of a slot, which must be filled.
    @inlinable @inline(__always)
    var object: ObjectReference { unsafe ObjectReference(opaque: UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped) }
  }
}

/// The slots of one environment, by number: the place of the first one.
@usableFromInline typealias Slots = FrozenReference<Atomic<UInt>>

extension Slots {
  /// Returns a slot. The number must be one of the plan's; it is not checked.
  @inlinable @inline(__always)
  subscript(slot: Int32) -> Slot { Slot(advanced(by: Int(slot))) }

  /// Returns the number of a slot if it is one of the first `count`; nil otherwise.
  func number(of slot: Slot, among count: Int) -> Int32? {
    let distance = unsafe slot.place.pointer - pointer
    return if (0..<count).contains(distance) { Int32(distance) } else { nil }
  }

  /// The memory of the environment that starts with the slots.
  @inline(__always)
  fileprivate var memory: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(mutating: opaque) }

  static var none: Slots { SlotBlock.none.slots }

  /// Frees the memory of slots that `SlotLayout.allocate` has created. The slots must be empty.
  func deallocate() { unsafe memory.deallocate() }
}

/// The slots and the creation log of an environment that is no child of a factory: startup determines their number.
/// They are followed by values from declarations.
final class SlotBlock: Sendable {
  let slots: Slots
  let layout: SlotLayout
  private let values: Slots
  private let valueCount: Int

  /// A block without slots.
  static let none = SlotBlock(slots: 0, values: 0)

  init(slots count: Int, values: Int) {
    layout = SlotLayout(slots: count)
    valueCount = values
    let bytes = (layout.words + values) * MemoryLayout<UInt>.stride
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(bytes, 1), alignment: 16)
    slots = unsafe layout.initialize(memory)
    self.values = unsafe SlotLayout.initialize(memory + layout.words * MemoryLayout<UInt>.stride, values)
  }

  deinit {
    releaseValues()
    unsafe slots.memory.deallocate()
  }

  /// Returns the place of the value with a number.
  func value(_ number: Int) -> Slot { values[Int32(number)] }

  /// Releases the values and empties their places.
  func releaseValues() {
    for number in 0..<valueCount {
      let content = value(number).content
      value(number).store(.empty)
      if content.isFilled { content.object.release() }
    }
  }
}

/// The layout of slots, and of the creation log behind them, in one block of memory, in words.
struct SlotLayout: Sendable {
  let slots: Int
  let words: Int
  /// Whether one byte can represent the number of a slot.
  let isNarrow: Bool

  init(slots count: Int) {
    slots = count
    isNarrow = count <= 1 << 8
    let bytes = MemoryLayout<UInt32>.stride * (isNarrow ? 1 : count + 1) + (isNarrow ? count : 0)
    words = count + (bytes + 7) / 8
  }

  /// Allocates the slots of an environment that has no room for them itself.
  @inline(never)
  func allocate() -> Slots {
    unsafe initialize(.allocate(byteCount: words * MemoryLayout<UInt>.stride, alignment: 16))
  }

  /// Empties all slots and the log.
  @inline(__always)
  func initialize(_ memory: UnsafeMutableRawPointer) -> Slots {
    unsafe (memory + slots &* MemoryLayout<UInt>.stride).initializeMemory(as: UInt32.self, to: 0)
    return unsafe Self.initialize(memory, slots)
  }

  /// Empties a number of slots.
  @inline(__always)
  fileprivate static func initialize(_ memory: UnsafeMutableRawPointer, _ count: Int) -> Slots {
    let first = unsafe memory.assumingMemoryBound(to: Atomic<UInt>.self)
    for index in 0..<count { unsafe (first + index).initialize(to: Atomic(0)) }
    return unsafe Slots(opaque: memory)
  }
}

/// Room for the slots of an environment inside its own allocation. All words are 0, like those of empty slots and logs.
///
/// The atomics are in nested structures: an `InlineArray` of them is destroyed word by word, which costs a request
/// about 2,800 instructions; a second allocation costs 390.
struct SlotRoom: ~Copyable, Sendable {
  private struct FourWords: ~Copyable, Sendable {
    let first = Atomic<UInt>(0)
    let second = Atomic<UInt>(0)
    let third = Atomic<UInt>(0)
    let fourth = Atomic<UInt>(0)
  }

  static var words: Int { MemoryLayout<SlotRoom>.size / MemoryLayout<UInt>.stride }

  private let first = FourWords()
  private let second = FourWords()
  private let third = FourWords()
  private let fourth = FourWords()

  /// The slots. Their address is stable, because the room is a stored property of an object.
  @inline(__always)
  var slots: Slots { unsafe withUnsafePointer(to: self) { unsafe Slots(opaque: $0) } }
}

/// The slots of one environment in the order in which they were filled. Guarded by the environment's lock.
@safe struct CreationLog {
  private let memory: UnsafeMutableRawPointer
  private let isNarrow: Bool

  @inline(__always)
  init(of slots: Slots, _ layout: SlotLayout) {
    unsafe memory = unsafe slots.memory + layout.slots &* MemoryLayout<UInt>.stride
    isNarrow = layout.isNarrow
  }

  @inline(__always)
  private var counter: UnsafeMutablePointer<UInt32> { unsafe memory.assumingMemoryBound(to: UInt32.self) }

  @inline(__always)
  var count: Int { unsafe Int(counter.pointee) }

  @inline(__always)
  func append(_ slot: Int32) {
    let count = unsafe Int(counter.pointee)
    if isNarrow {
      unsafe (memory + (4 &+ count)).storeBytes(of: UInt8(truncatingIfNeeded: slot), as: UInt8.self)
    } else {
      unsafe (memory + (4 &+ 4 &* count)).storeBytes(of: slot, as: Int32.self)
    }
    unsafe counter.pointee &+= 1
  }

  /// Calls `body` with the first `count` slots, last one first, until it returns false. Returns the number of slots
  /// left then.
  @inline(__always)
  func last(_ count: Int, _ body: (Int32) -> Bool) -> Int {
    var left = count
    if isNarrow {
      while left > 0, body(unsafe Int32((memory + (3 &+ left)).load(as: UInt8.self))) { left &-= 1 }
    } else {
      while left > 0, body(unsafe (memory + 4 &* left).load(as: Int32.self)) { left &-= 1 }
    }
    return left
  }

  @inline(__always)
  subscript(index: Int) -> Int32 {
    unsafe isNarrow
      ? Int32((memory + (4 &+ index)).load(as: UInt8.self))
      : (memory + (4 &+ 4 &* index)).load(as: Int32.self)
  }
}
