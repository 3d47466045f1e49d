import Glibc

/// A value behind a POSIX mutex, and a condition to wait for its changes. Not reentrant.
///
/// Not `Synchronization.Mutex`, because that has no condition, and because ThreadSanitizer sees what this one orders.
@safe final class Monitor<Value>: @unchecked Sendable {  // `guarded` is only touched while `mutex` is held
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var guarded: Guarded

  /// Never empty: an empty property stands where the object does, and ThreadSanitizer would take a look at the object's class
  /// for one at the value.
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

  /// Runs `body` while no other thread is inside.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&guarded.value)
  }

  /// Runs `body` while no other thread is inside, waiting first until `isReady`. Whoever makes it so calls `changed()`.
  func withLock<Result>(when isReady: (Value) -> Bool, _ body: (inout Value) throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    // Read anew each time: the optimizer keeps what is read from an `inout` value, which no other thread may change meanwhile.
    while !isReady(guarded.value) { unsafe pthread_cond_wait(condition, mutex) }
    return try body(&guarded.value)
  }

  /// Lets those who wait look again.
  func changed() { unsafe pthread_cond_broadcast(condition) }
}
