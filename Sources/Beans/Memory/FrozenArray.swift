/// An array that is filled, and never changes once it is a constant: it is read in place, without counting references to
/// its storage.
struct FrozenArray<Element>: ~Copyable, @unchecked Sendable {  // written by who has it as a variable
  private let storage: UnsafeMutablePointer<Element>
  private let capacity: Int
  private(set) var count = 0

  /// An empty array with room for so many elements.
  init(capacity: Int) {
    storage = .allocate(capacity: max(capacity, 1))
    self.capacity = capacity
  }

  init(_ elements: [Element]) {
    self.init(capacity: elements.count)
    for element in elements { append(element) }
  }

  init(repeating element: Element, count: Int) {
    self.init(capacity: count)
    storage.initialize(repeating: element, count: count)
    self.count = count
  }

  deinit {
    storage.deinitialize(count: count)
    storage.deallocate()
  }

  mutating func append(_ element: consuming Element) {
    precondition(count < capacity, "more elements than there was room for")
    (storage + count).initialize(to: element)
    count += 1
  }

  /// All elements, or some of them; for as long as this array lives.
  var all: FrozenSlice<Element> { FrozenSlice(first: storage, end: storage + count) }

  @inline(__always)
  subscript(index: Int) -> Element {
    unsafeAddress { UnsafePointer(storage + index) }
    unsafeMutableAddress { storage + index }
  }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> { FrozenReference(pointer: UnsafePointer(storage + index)) }
}

extension FrozenArray {
  /// The size of an element, by which `reference(atByte:)` counts.
  static var stride: Int { MemoryLayout<Element>.stride }

  @inline(__always)
  func reference(atByte position: UInt) -> FrozenReference<Element> {
    let first = UnsafeRawPointer(storage)
    return FrozenReference(pointer: (first + Int(bitPattern: position)).assumingMemoryBound(to: Element.self))
  }
}

/// A part of a frozen array, which somebody else keeps.
struct FrozenSlice<Element>: @unchecked Sendable {  // what it names is never written
  let first: UnsafePointer<Element>
  let end: UnsafePointer<Element>

  fileprivate init(first: UnsafePointer<Element>, end: UnsafePointer<Element>) { (self.first, self.end) = (first, end) }

  @inline(__always)
  var count: Int { end - first }

  @inline(__always)
  var isEmpty: Bool { first == end }

  subscript(range: Range<Int>) -> FrozenSlice {
    FrozenSlice(first: first + range.lowerBound, end: first + range.upperBound)
  }

  @inline(__always)
  subscript(index: Int) -> Element { unsafeAddress { first + index } }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> { FrozenReference(pointer: first + index) }

  /// Whether all elements meet a condition.
  @inline(__always)
  func allMeet(_ condition: (borrowing Element) -> Bool) -> Bool {
    var next = first
    while next != end {
      if !condition(next.pointee) { return false }
      next += 1
    }
    return true
  }

  /// Calls `body` with a reference to each element, in order.
  @inline(__always)
  func forEachReference(_ body: (FrozenReference<Element>) throws -> Void) rethrows {
    var next = first
    while next != end {
      try body(FrozenReference(pointer: next))
      next += 1
    }
  }

  /// Calls `body` with each element, in order.
  @inline(__always)
  func forEach(_ body: (borrowing Element) throws -> Void) rethrows {
    var next = first
    while next != end {
      try body(next.pointee)
      next += 1
    }
  }
}

/// One element of a frozen array, which somebody else keeps.
struct FrozenReference<Element>: @unchecked Sendable, Equatable {  // what it names is never written
  let pointer: UnsafePointer<Element>

  @inline(__always)
  var value: Element { unsafeAddress { pointer } }

  @inline(__always)
  var address: UInt { UInt(bitPattern: pointer) }

  @inline(__always)
  init(pointer: UnsafePointer<Element>) { self.pointer = pointer }

  @inline(__always)
  init?(address: UInt) {
    guard let pointer = UnsafePointer<Element>(bitPattern: address) else { return nil }
    self.pointer = pointer
  }
}

extension FrozenReference {
  /// Another element of the same array, by its index; `own` is the index of this one.
  @inline(__always)
  func sibling(_ index: Int32, of own: Int32) -> FrozenReference {
    FrozenReference(pointer: pointer + (Int(index) &- Int(own)))
  }
}
