import Glibc

/// A value guarded by a `pthread_mutex_t`.
///
/// `Synchronization.Mutex` is not used: on Linux it sleeps in a priority-inheritance futex, which the kernel passes on
/// without an atomic access in user space, so ThreadSanitizer sees no order between two holders and reports false
/// races. False reports would hide the real races in this module.
@safe struct Lock<Value>: ~Copyable, @unchecked Sendable {
  // Safe to send: `value` is accessed only inside `withLock`, which the mutex makes exclusive.
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
