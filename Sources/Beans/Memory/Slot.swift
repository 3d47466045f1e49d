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

/// The slots and the creation log of an environment that is no child of a factory, and the values from its
/// declarations: startup determines their number.
final class SlotBlock: Sendable {
  let slots: Slots
  /// One place for each value.
  private let values: FrozenArray<Atomic<UInt>>

  /// A block without slots.
  static let none = SlotBlock(slots: 0, values: 0)

  init(slots count: Int, values: Int) {
    slots = SlotLayout(slots: count).allocate()
    self.values = FrozenArray(count: values) { Atomic(0) }
  }

  deinit {
    releaseValues()
    slots.deallocate()
  }

  /// Returns the place of the value with a number.
  func value(_ number: Int) -> Slot { Slot(values.reference(number)) }

  /// Releases the values and empties their places.
  func releaseValues() {
    for number in 0..<values.count {
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

  init(slots count: Int) {
    slots = count
    words = count + ((1 + count) * MemoryLayout<Int32>.stride + 7) / 8
  }

  /// Allocates the slots of an environment that has no room for them itself.
  @inline(never)
  func allocate() -> Slots {
    unsafe initialize(.allocate(byteCount: words * MemoryLayout<UInt>.stride, alignment: 16))
  }

  /// Empties all slots and the log.
  @inline(__always)
  func initialize(_ memory: UnsafeMutableRawPointer) -> Slots {
    unsafe (memory + slots &* MemoryLayout<UInt>.stride).initializeMemory(as: Int32.self, to: 0)
    let first = unsafe memory.assumingMemoryBound(to: Atomic<UInt>.self)
    for index in 0..<slots { unsafe (first + index).initialize(to: Atomic(0)) }
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
  /// The number of slots, and behind it their numbers.
  private let memory: UnsafeMutablePointer<Int32>

  @inline(__always)
  init(of slots: Slots, _ layout: SlotLayout) {
    let log = unsafe slots.memory + layout.slots &* MemoryLayout<UInt>.stride
    unsafe memory = unsafe log.assumingMemoryBound(to: Int32.self)
  }

  @inline(__always)
  var count: Int { unsafe Int(memory.pointee) }

  @inline(__always)
  func append(_ slot: Int32) {
    let count = unsafe memory.pointee &+ 1
    unsafe memory.pointee = count
    unsafe memory[Int(count)] = slot
  }

  /// Calls `body` with the first `count` slots, last one first, until it returns false. Returns the number of slots
  /// left then.
  @inline(__always)
  func last(_ count: Int, _ body: (Int32) -> Bool) -> Int {
    var left = count
    while left > 0, body(unsafe memory[left]) { left &-= 1 }
    return left
  }

  @inline(__always)
  subscript(index: Int) -> Int32 { unsafe memory[index &+ 1] }
}
