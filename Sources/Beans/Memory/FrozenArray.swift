/// An array that is filled once and immutable as soon as it is a constant. Elements are read in place, without
/// retaining the storage.
struct FrozenArray<Element: ~Copyable>: ~Copyable {
  private let first: ReadOnlyPointer<Element>
  private let capacity: Int
  private(set) var count = 0

  /// Creates an empty array with a fixed capacity.
  init(capacity: Int) {
    first = unsafe ReadOnlyPointer(UnsafePointer(UnsafeMutablePointer.allocate(capacity: max(capacity, 1))))
    self.capacity = capacity
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
}

extension FrozenArray: Sendable where Element: Sendable & ~Copyable {}

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
  var all: FrozenSlice<Element> { FrozenSlice(from: reference(0), to: reference(count)) }

  /// The size of an element in bytes, the unit of positions in `reference(atByte:)`.
  static var stride: Int { MemoryLayout<Element>.stride }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> {
    unsafe FrozenReference(first.pointer + index)
  }

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

  /// Returns the first element that meets a condition.
  @inline(__always)
  func first(where condition: (borrowing Element) -> Bool) -> FrozenReference<Element>? {
    var next = first
    while next != end {
      if condition(next.value) { return next }
      next = next.advanced(by: 1)
    }
    return nil
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

/// One place of a frozen array. Does not retain the array.
struct FrozenReference<Element>: PointerWrapper {
  private let place: ReadOnlyPointer<Element>

  @inline(__always)
  fileprivate init(_ pointer: UnsafePointer<Element>) { place = unsafe ReadOnlyPointer(pointer) }

  @inline(__always)
  init(opaque: UnsafeRawPointer) { unsafe self.init(opaque.assumingMemoryBound(to: Element.self)) }

  @inline(__always)
  var opaque: UnsafeRawPointer { unsafe UnsafeRawPointer(pointer) }

  @inline(__always)
  var pointer: UnsafePointer<Element> { unsafe place.pointer }

  @inline(__always)
  var value: Element { unsafeAddress { unsafe pointer } }

  /// Returns the place so many elements further in the same array.
  @inline(__always)
  fileprivate func advanced(by count: Int) -> FrozenReference { unsafe FrozenReference(pointer + count) }

  /// Returns another element of the same array, by its index; `own` is the index of this one.
  @inline(__always)
  func sibling(_ index: Int32, of own: Int32) -> FrozenReference { advanced(by: Int(index) &- Int(own)) }
}

extension FrozenReference: Sendable where Element: Sendable {}
