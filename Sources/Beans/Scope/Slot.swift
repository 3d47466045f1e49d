import Synchronization

/// The place where one bean of one environment lives: one word.
///
///     0                    empty
///     thread | 1           being built by that thread
///     address of the bean  built; the slot holds one reference
struct Slot: ~Copyable {
  let word = Atomic<UInt>(0)

  /// The bean, not retained, or nil.
  @inline(__always)
  var object: UnsafeRawPointer? {
    let word = word.load(ordering: .acquiring)
    return word & 1 == 0 ? UnsafeRawPointer(bitPattern: word) : nil
  }

  static func builder(_ word: UInt) -> UInt? { word & 1 == 1 ? word & ~1 : nil }
}
