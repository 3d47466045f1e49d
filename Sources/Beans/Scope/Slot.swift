import Synchronization

/// The place where one bean of one environment lives: one word.
///
///     0                    empty
///     thread | top bit     being built by that thread
///     address of the bean  built; the slot holds one reference
///
/// No address of an object has the top bit on Linux, so one comparison tells a bean from everything else.
struct Slot: ~Copyable {
  let word = Atomic<UInt>(0)

  /// The bean, not retained, or nil.
  @inline(__always)
  var object: UnsafeRawPointer? {
    let word = word.load(ordering: .acquiring)
    return Self.isBean(word) ? UnsafeRawPointer(bitPattern: word) : nil
  }

  @inline(__always)
  static func isBean(_ word: UInt) -> Bool { Int(bitPattern: word) > 0 }

  @inline(__always)
  static func isMark(_ word: UInt) -> Bool { Int(bitPattern: word) < 0 }

  /// What says that the thread of that number builds.
  static func mark(_ thread: UInt) -> UInt { thread | top }

  static func builder(_ word: UInt) -> UInt? { isMark(word) ? word & ~top : nil }

  private static var top: UInt { 1 << UInt(UInt.bitWidth - 1) }
}
