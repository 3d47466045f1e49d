import CBeansRuntime
import Synchronization

/// A `Mutex` whose order ThreadSanitizer sees.
///
/// On Linux a contended `Mutex` is handed over by the kernel (a priority-inheritance futex), inside a library that is not
/// instrumented: two holders look unordered, and correct programs are reported. Debug builds, the only ones that run under
/// it, therefore announce each hand-over; release builds use the mutex as it is.
package struct Locked<Value>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>

  package init(_ value: consuming sending Value) { mutex = Mutex(value) }

  /// Runs `body` while no other thread is inside. Not reentrant.
  @inline(__always)
  package borrowing func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    #if DEBUG
      return try mutex.withLock { value throws(Failure) in
        // The address only names the lock; nothing is read through it.
        withUnsafePointer(to: mutex) { beans_lock_acquired($0) }
        defer { withUnsafePointer(to: mutex) { beans_lock_releasing($0) } }
        return try body(&value)
      }
    #else
      return try mutex.withLock(body)
    #endif
  }
}
