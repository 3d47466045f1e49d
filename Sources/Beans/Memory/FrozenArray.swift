/// An array that is filled once and immutable as soon as it is a constant. Elements are read in place, without
/// retaining the storage.
struct FrozenArray<Element: ~Copyable>: ~Copyable, Sendable {
  /// The address of the first element.
  private let first: UInt
  private let capacity: Int
  private(set) var count = 0

  /// Creates an empty array with a fixed capacity.
  init(capacity: Int) {
    first = UInt(bitPattern: UnsafeMutablePointer<Element>.allocate(capacity: max(capacity, 1)))
    self.capacity = capacity
  }

  deinit { unsafe storage.deinitialize(count: count).deallocate() }

  // Never nil: `init` has allocated the storage.
  private var storage: UnsafeMutablePointer<Element> {
    unsafe UnsafeMutablePointer(bitPattern: first).unsafelyUnwrapped
  }

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
}

extension FrozenArray {
  init(_ elements: [Element]) {
    self.init(capacity: elements.count)
    for element in elements { append(element) }
  }

  init(repeating element: Element, count: Int) {
    self.init(capacity: count)
    unsafe storage.initialize(repeating: element, count: count)
    self.count = count
  }

  /// All elements. Valid as long as this array lives.
  var all: FrozenSlice<Element> { FrozenSlice(first: first, count: count) }

  /// The size of an element in bytes, the unit of positions in `reference(atByte:)`.
  static var stride: Int { MemoryLayout<Element>.stride }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> {
    FrozenReference(known: first &+ UInt(bitPattern: index &* MemoryLayout<Element>.stride))
  }

  @inline(__always)
  func reference(atByte position: UInt) -> FrozenReference<Element> { FrozenReference(known: first &+ position) }
}

/// A part of a frozen array. Does not retain the array.
struct FrozenSlice<Element>: Sendable {
  /// The address of the first element.
  let first: UInt
  /// The address behind the last element.
  let end: UInt

  fileprivate init(first: UInt, count: Int) {
    self.first = first
    end = first + UInt(count * MemoryLayout<Element>.stride)
  }

  /// Creates a slice from two addresses of elements of one array.
  @inline(__always)
  init(from first: UInt, to end: UInt) { (self.first, self.end) = (first, end) }

  @inline(__always)
  var count: Int { Int(bitPattern: end &- first) / MemoryLayout<Element>.stride }

  @inline(__always)
  var isEmpty: Bool { first == end }

  /// A pointer to the first element; valid only if the slice is not empty.
  @inline(__always)
  var pointer: UnsafePointer<Element> { unsafe UnsafePointer(bitPattern: first).unsafelyUnwrapped }

  subscript(range: Range<Int>) -> FrozenSlice {
    FrozenSlice(first: reference(range.lowerBound).address, count: range.count)
  }

  @inline(__always)
  subscript(index: Int) -> Element { unsafeAddress { unsafe reference(index).pointer } }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> {
    FrozenReference(known: first &+ UInt(bitPattern: index &* MemoryLayout<Element>.stride))
  }

  /// Returns the first element that meets a condition.
  @inline(__always)
  func first(where condition: (borrowing Element) -> Bool) -> FrozenReference<Element>? {
    var next = first
    while next != end {
      let element = FrozenReference<Element>(known: next)
      if condition(element.value) { return element }
      next &+= UInt(MemoryLayout<Element>.stride)
    }
    return nil
  }

  /// Calls `body` with a reference to each element, in order.
  @inline(__always)
  func forEachReference(_ body: (FrozenReference<Element>) throws -> Void) rethrows {
    var next = first
    while next != end {
      try body(FrozenReference(known: next))
      next &+= UInt(MemoryLayout<Element>.stride)
    }
  }

  /// Calls `body` with each element, in order.
  @inline(__always)
  func forEach(_ body: (borrowing Element) throws -> Void) rethrows {
    try forEachReference { try body($0.value) }
  }
}

/// One element of a frozen array. Does not retain the array.
@safe struct FrozenReference<Element>: @unchecked Sendable, Equatable {  // the element is never written
  // A pointer and no integer: an optional pointer takes one word.
  fileprivate let pointer: UnsafePointer<Element>

  /// Creates a reference from an address that is known not to be 0.
  @inline(__always)
  fileprivate init(known address: UInt) { unsafe pointer = unsafe UnsafePointer(bitPattern: address).unsafelyUnwrapped }

  /// Creates a reference from an address; nil for 0.
  @inline(__always)
  init?(address: UInt) {
    guard let pointer = unsafe UnsafePointer<Element>(bitPattern: address) else { return nil }
    unsafe self.pointer = unsafe pointer
  }

  @inline(__always)
  var address: UInt { unsafe UInt(bitPattern: pointer) }

  @inline(__always)
  static func == (left: FrozenReference, right: FrozenReference) -> Bool { left.address == right.address }

  @inline(__always)
  var value: Element { unsafeAddress { unsafe pointer } }

  /// Returns another element of the same array, by its index; `own` is the index of this one.
  @inline(__always)
  func sibling(_ index: Int32, of own: Int32) -> FrozenReference {
    FrozenReference(known: address &+ UInt(bitPattern: (Int(index) &- Int(own)) &* MemoryLayout<Element>.stride))
  }
}
