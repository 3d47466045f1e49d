import Synchronization

/// A reference to a value that no code writes through it: the value is immutable, or its mutable parts are atomic.
///
/// Does not keep the value alive; the owner of the value outlives every use. All types of this folder that share the
/// address of memory with other threads consist of this one.
@usableFromInline
@safe struct FrozenReference<Value: ~Copyable>: PointerWrapper {
  @usableFromInline let pointer: UnsafePointer<Value>

  @inlinable @inline(__always)
  init(_ pointer: UnsafePointer<Value>) { unsafe self.pointer = unsafe pointer }

  @inlinable @inline(__always)
  init(opaque: UnsafeRawPointer) { unsafe pointer = unsafe opaque.assumingMemoryBound(to: Value.self) }

  @inlinable @inline(__always)
  var opaque: UnsafeRawPointer { unsafe UnsafeRawPointer(pointer) }

  @inlinable @inline(__always)
  var value: Value { unsafeAddress { unsafe pointer } }

  /// Creates a reference from one to a value that is known to be a `Value`.
  @inline(__always)
  init(_ erased: FrozenReference<Void>) { unsafe self.init(opaque: erased.opaque) }

  /// The reference, without the value's type.
  @inline(__always)
  var erased: FrozenReference<Void> { unsafe FrozenReference<Void>(opaque: opaque) }
}

// Threads share the address alone; reading an immutable or atomic value of a `Sendable` type needs no order.
extension FrozenReference: @unchecked Sendable where Value: Sendable & ~Copyable {}

extension FrozenReference where Value: ~Copyable {
  /// Returns the place so many elements further in the same array.
  @inlinable @inline(__always)
  func advanced(by count: Int) -> FrozenReference { unsafe FrozenReference(pointer + count) }
}

extension FrozenReference where Value == UInt8 {
  /// The address of a literal, which is never deallocated and ends with a zero.
  @inlinable @inline(__always)
  init(literal text: StaticString) {
    let known: StaticString = if text.hasPointerRepresentation { text } else { "" }
    unsafe self.init(known.utf8Start)
  }

  /// The text of a literal.
  var text: String { unsafe String(cString: pointer) }

  /// Runs `body` with the bytes of a text, which must not be empty, and their number.
  @inline(__always)
  static func with<R>(_ text: String, _ body: (FrozenReference, Int) -> R) -> R {
    func read(_ bytes: UnsafeBufferPointer<UInt8>) -> R {
      unsafe body(FrozenReference(bytes.baseAddress.unsafelyUnwrapped), bytes.count)
    }
    return unsafe text.utf8.withContiguousStorageIfAvailable { unsafe read($0) }
      ?? Array(text.utf8).withUnsafeBufferPointer { unsafe read($0) }
  }

  /// Returns the eight bytes that begin at a position, as a word.
  @inline(__always)
  func word(at position: Int) -> UInt { unsafe opaque.loadUnaligned(fromByteOffset: position, as: UInt.self) }
}

/// A reference to a value on a thread's stack. Valid only during the call of `with(_:_:)` that created it.
typealias StackReference<Value: ~Copyable> = FrozenReference<Value>

extension FrozenReference where Value: ~Copyable {
  /// Runs `body` with a reference to a value. Since many threads may have the reference, the mutable parts of the value
  /// are atomic.
  @inline(__always)
  static func with<R: ~Copyable>(
    _ value: inout Value, _ body: (FrozenReference) throws -> R
  ) rethrows -> R {
    try unsafe withUnsafeMutablePointer(to: &value) { try unsafe body(FrozenReference(UnsafePointer($0))) }
  }
}

/// An array that is filled once and immutable as soon as it is a constant. Elements are read in place, without
/// retaining the storage.
struct FrozenArray<Element: ~Copyable>: ~Copyable {
  private let first: FrozenReference<Element>
  private let capacity: Int
  private(set) var count = 0

  /// Creates an empty array with a fixed capacity.
  init(capacity: Int) {
    first = unsafe FrozenReference(UnsafePointer(UnsafeMutablePointer.allocate(capacity: max(capacity, 1))))
    self.capacity = capacity
  }

  /// Creates an array of so many elements, each made by a call.
  init(count: Int, _ element: () -> Element) {
    self.init(capacity: count)
    for _ in 0..<count { append(element()) }
  }

  deinit { unsafe storage.deinitialize(count: count).deallocate() }

  /// The elements, which only a mutation of this array changes.
  private var storage: UnsafeMutablePointer<Element> { unsafe UnsafeMutablePointer(mutating: first.pointer) }

  mutating func append(_ element: consuming Element) {
    precondition(count < capacity, "more elements than there was room for")
    unsafe (storage + count).initialize(to: element)
    count += 1
  }

  @inline(__always)
  subscript(index: Int) -> Element {
    unsafeAddress { unsafe UnsafePointer(storage + index) }
    unsafeMutableAddress { unsafe storage + index }
  }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> { first.advanced(by: index) }
}

extension FrozenArray: Sendable where Element: Sendable & ~Copyable {}

extension FrozenArray {
  init(_ elements: [Element]) {
    self.init(capacity: elements.count)
    for element in elements { append(element) }
  }

  /// All elements. Valid as long as this array lives.
  var all: FrozenSlice<Element> { FrozenSlice(from: reference(0), to: reference(count)) }

  /// The size of an element in bytes, the unit of positions in `reference(atByte:)`.
  static var stride: Int { MemoryLayout<Element>.stride }

  @inline(__always)
  func reference(atByte position: UInt) -> FrozenReference<Element> {
    unsafe FrozenReference(opaque: UnsafeRawPointer(first.pointer) + Int(bitPattern: position))
  }
}

/// A part of a frozen array. Does not retain the array.
struct FrozenSlice<Element> {
  /// The place of the first element.
  let first: FrozenReference<Element>
  /// The place behind the last element.
  let end: FrozenReference<Element>

  /// Creates a slice from two places of one array.
  @inline(__always)
  init(from first: FrozenReference<Element>, to end: FrozenReference<Element>) {
    (self.first, self.end) = (first, end)
  }

  @inline(__always)
  var count: Int { unsafe end.pointer - first.pointer }

  @inline(__always)
  var isEmpty: Bool { first == end }

  subscript(range: Range<Int>) -> FrozenSlice {
    FrozenSlice(from: reference(range.lowerBound), to: reference(range.upperBound))
  }

  @inline(__always)
  subscript(index: Int) -> Element { unsafeAddress { unsafe reference(index).pointer } }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> { first.advanced(by: index) }

  /// Whether an element meets a condition.
  @inline(__always)
  func contains(where condition: (borrowing Element) -> Bool) -> Bool {
    var next = first
    while next != end {
      if condition(next.value) { return true }
      next = next.advanced(by: 1)
    }
    return false
  }

  /// Calls `body` with each element, in order.
  @inline(__always)
  func forEach(_ body: (borrowing Element) throws -> Void) rethrows {
    var next = first
    while next != end {
      try body(next.value)
      next = next.advanced(by: 1)
    }
  }
}

extension FrozenSlice: Sendable where Element: Sendable {}
