import Glibc

/// A value behind a POSIX mutex, and a condition to wait for its changes. Not reentrant.
///
/// Not `Synchronization.Mutex`, because that has no condition, and because ThreadSanitizer sees what this one orders.
final class Monitor<Value>: @unchecked Sendable {  // `guarded` is only touched while `mutex` is held
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
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` while no other thread is inside.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&guarded.value)
  }

  /// The same, waiting first until `isReady`. Whoever makes it so calls `changed()`.
  func withLock<Result>(when isReady: (Value) -> Bool, _ body: (inout Value) throws -> Result) rethrows -> Result {
    try withLock { value in
      while !isReady(value) { pthread_cond_wait(condition, mutex) }
      return try body(&value)
    }
  }

  /// Lets those who wait look again.
  func changed() { pthread_cond_broadcast(condition) }
}
