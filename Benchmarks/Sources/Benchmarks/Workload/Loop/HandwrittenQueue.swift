import Glibc

/// A thread that runs closures handed over by other threads, by hand: an array under a lock, and a condition to sleep
/// on.
final class HandwrittenQueue: @unchecked Sendable {
  // `waiting` and `isStopped` are guarded by `lock`, whose memory lives as long as this object.
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let arrival = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var waiting: [@Sendable () -> Void] = []
  private var isStopped = false
  private var thread = pthread_t()

  init() throws {
    pthread_mutex_init(lock, nil)
    pthread_cond_init(arrival, nil)
    let argument = Unmanaged.passUnretained(self)
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        // `stop` waits for the thread.
        Unmanaged<HandwrittenQueue>.fromOpaque(argument).takeUnretainedValue().run()
        return nil
      }, argument.toOpaque())
    if status != 0 { throw Together.NoThread() }
  }

  deinit {
    pthread_cond_destroy(arrival)
    pthread_mutex_destroy(lock)
    arrival.deallocate()
    lock.deallocate()
  }

  func execute(_ work: @escaping @Sendable () -> Void) {
    pthread_mutex_lock(lock)
    waiting.append(work)
    let wasEmpty = waiting.count == 1
    pthread_mutex_unlock(lock)
    if wasEmpty { pthread_cond_signal(arrival) }
  }

  /// Runs the pending work, then ends the thread.
  func stop() {
    pthread_mutex_lock(lock)
    isStopped = true
    pthread_mutex_unlock(lock)
    pthread_cond_signal(arrival)
    pthread_join(thread, nil)
  }

  private func run() {
    while true {
      pthread_mutex_lock(lock)
      while waiting.isEmpty, !isStopped { pthread_cond_wait(arrival, lock) }
      var taken: [@Sendable () -> Void] = []
      swap(&taken, &waiting)
      pthread_mutex_unlock(lock)
      if taken.isEmpty { return }
      for work in taken { work() }
    }
  }
}
