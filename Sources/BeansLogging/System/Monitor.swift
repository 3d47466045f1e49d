#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value guarded by a POSIX mutex, with a condition variable for its changes. Not reentrant.
///
/// `Synchronization.Mutex` is not used: it has no condition variable, and ThreadSanitizer does not see its ordering.
@safe final class Monitor<Value>: @unchecked Sendable {  // `guarded` is accessed only while `mutex` is held
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var guarded: Guarded

  /// A wrapper that is never empty: an empty property has the address of the object, and ThreadSanitizer would take a
  /// read of the object's class for one of the value.
  private struct Guarded {
    var value: Value
    let filler: UInt8 = 0
  }

  init(_ value: sending Value) {
    guarded = Guarded(value: value)
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Runs `body` with exclusive access to the value.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&guarded.value)
  }

  /// Waits until `isReady` holds, then runs `body` with exclusive access to the value. The thread that changes the
  /// value has to call `changed()`.
  func withLock<Result>(when isReady: (Value) -> Bool, _ body: (inout Value) throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    // Read anew each time: the optimizer may keep a copy of an `inout` value, because no other thread may change it
    // meanwhile.
    while !isReady(guarded.value) { unsafe pthread_cond_wait(condition, mutex) }
    return try body(&guarded.value)
  }

  /// Wakes all waiting threads, which then check their conditions again.
  func changed() { unsafe pthread_cond_broadcast(condition) }
}
