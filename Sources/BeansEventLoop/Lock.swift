import Glibc

/// A value behind a `pthread_mutex_t`.
///
/// Not `Synchronization.Mutex`: on Linux that one sleeps in a priority-inheritance futex which the kernel hands over without
/// an atomic access in user space, so ThreadSanitizer sees no order between two holders and reports races that are none.
/// A check that cries wolf would not find the real ones in this module.
@safe struct Lock<Value>: ~Copyable, @unchecked Sendable {
  // Safe to send: `value` is touched inside `withLock` only, which the mutex makes exclusive.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  init(_ initial: consuming sending Value) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe value = .allocate(capacity: 1)
    unsafe value.initialize(to: initial)
    let status = unsafe pthread_mutex_init(mutex, nil)
    precondition(status == 0, "pthread_mutex_init fails only for attributes, and there are none")
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }

  borrowing func withLock<Result, Failure>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let status = unsafe pthread_mutex_lock(mutex)
    precondition(status == 0, "BUG in BeansEventLoop: the lock is not usable")
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value.pointee)
  }
}
