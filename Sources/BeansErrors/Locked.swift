public import Synchronization

#if DEBUG
  import CBeansRuntime
#endif

/// The lock for every state that several threads change, except an environment's core and the caches of users' scopes:
/// a `Mutex` with an order that ThreadSanitizer sees.
///
/// The state need not be `Sendable`: it enters and leaves the lock as `sending`. A thread that finds the lock taken
/// sleeps, so sections may allocate. No section runs code of users.
///
/// On Linux the kernel hands over a contended `Mutex` (a priority-inheritance futex), inside a library without
/// instrumentation: two holders look unordered, and ThreadSanitizer reports correct programs. Debug builds, the only
/// ones that run under ThreadSanitizer, therefore announce each hand-over; release builds use the mutex alone.
///
/// For the modules of this package only. Not `package`, because other modules do not see a generic body of that access:
/// they would call the unspecialised one, and make the mutex's type at run time in each call.
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
        // The address identifies the lock; nothing is read through it.
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
