#if !BEANS_SCHEDULES
  import Glibc
  import Synchronization

  /// The lock of an environment: held for a few instructions each time, so who finds it taken spins. Not reentrant.
  ///
  /// A `Mutex` would cost the three locked sections of a request some hundred instructions more.
  struct SpinLock: ~Copyable, Sendable {
    private let isTaken = Atomic<Bool>(false)

    @inline(__always)
    borrowing func withLock<R: ~Copyable>(_ body: () -> R) -> R {
      if isTaken.exchange(true, ordering: .acquiring) { spin() }
      defer { isTaken.store(false, ordering: .releasing) }
      return body()
    }

    @inline(never)
    private borrowing func spin() {
      var patience = 100
      repeat {
        while isTaken.load(ordering: .relaxed) {
          patience -= 1
          // Its holder may have been put off the processor.
          if patience < 0 { sched_yield() }
        }
      } while isTaken.exchange(true, ordering: .acquiring)
    }
  }
#endif
