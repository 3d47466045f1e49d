import Dispatch

/// A value that one thread at a time reads or changes.
///
/// A Dispatch queue guards it instead of a `Mutex`: ThreadSanitizer does not see the order in which a contended `Mutex`
/// passes from one thread to another, and reports correct programs.
final class Guarded<Value>: @unchecked Sendable {  // the queue runs one access after the other
  private let queue = DispatchQueue(label: "storefront")
  private var value: Value

  init(_ value: sending Value) { self.value = value }

  /// Runs `body` while no other thread is inside. Not reentrant.
  func withLock<R>(_ body: (inout Value) throws -> R) rethrows -> R { try queue.sync { try body(&value) } }
}
