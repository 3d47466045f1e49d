public import Synchronization

#if DEBUG
  import CBeansRuntime
#endif

/// A `Mutex` whose order ThreadSanitizer sees.
///
/// On Linux a contended `Mutex` is handed over by the kernel (a priority-inheritance futex), inside a library that is not
/// instrumented: two holders look unordered, and correct programs are reported. Debug builds, the only ones that run under
/// it, therefore announce each hand-over; release builds use the mutex as it is.
///
/// For the modules of this package only. Not `package`, because a generic body of that access is not handed to other
/// modules: they would call the unspecialised one, and make the mutex's type at run time in each call.
@_spi(BeansPackage)
public struct Locked<Value>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>

  /// A lock around a first value.
  @inlinable
  public init(_ value: consuming sending Value) { mutex = Mutex(value) }

  #if DEBUG
    /// Runs `body` while no other thread is inside. Not reentrant.
    public borrowing func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock { value throws(Failure) in
        // The address only names the lock; nothing is read through it.
        unsafe withUnsafePointer(to: mutex) { unsafe beans_lock_acquired($0) }
        defer { unsafe withUnsafePointer(to: mutex) { unsafe beans_lock_releasing($0) } }
        return try body(&value)
      }
    }
  #else
    /// Runs `body` while no other thread is inside. Not reentrant.
    @inlinable @inline(__always)
    public borrowing func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      try mutex.withLock(body)
    }
  #endif
}
