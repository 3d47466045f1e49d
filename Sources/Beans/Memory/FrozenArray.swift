/// An array that never changes: it is read in place, without counting references to its storage.
struct FrozenArray<Element>: ~Copyable, @unchecked Sendable {  // written by `init` only
  private let storage: UnsafeMutableBufferPointer<Element>

  init(_ elements: [Element]) {
    storage = .allocate(capacity: elements.count)
    _ = storage.initialize(from: elements)
  }

  deinit {
    storage.deinitialize()
    storage.deallocate()
  }

  var count: Int { storage.count }

  /// All elements, or some of them; for as long as this array lives.
  var all: FrozenSlice<Element> { FrozenSlice(UnsafeBufferPointer(storage)) }

  @inline(__always)
  subscript(index: Int) -> Element { unsafeAddress { UnsafePointer(storage.baseAddress.unsafelyUnwrapped + index) } }

  @inline(__always)
  func reference(_ index: Int) -> FrozenReference<Element> {
    FrozenReference(pointer: UnsafePointer(storage.baseAddress.unsafelyUnwrapped + index))
  }
}

extension FrozenArray {
  /// The size of an element, by which `reference(atByte:)` counts.
  static var stride: Int { MemoryLayout<Element>.stride }

  @inline(__always)
  func reference(atByte position: UInt) -> FrozenReference<Element> {
    let first = UnsafeRawPointer(storage.baseAddress.unsafelyUnwrapped)
    return FrozenReference(pointer: (first + Int(bitPattern: position)).assumingMemoryBound(to: Element.self))
  }
}

/// A part of a frozen array, which somebody else keeps.
struct FrozenSlice<Element>: @unchecked Sendable {  // what it names is never written
  let first: UnsafePointer<Element>
  let end: UnsafePointer<Element>

  fileprivate init(_ elements: UnsafeBufferPointer<Element>) {
    // An empty one has no address of its own, and is never read.
    first = elements.baseAddress ?? UnsafePointer(bitPattern: MemoryLayout<Element>.alignment).unsafelyUnwrapped
    end = first + elements.count
  }

  private init(first: UnsafePointer<Element>, end: UnsafePointer<Element>) { (self.first, self.end) = (first, end) }

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
