#if !BEANS_SCHEDULES
  import CBeansRuntime
  import Synchronization

  /// The lock of an environment's core, which every request takes once for each bean and twice more; all other state
  /// uses `Locked`. Each section takes a few instructions, so a thread that finds the lock taken spins. Not reentrant.
  ///
  /// With a `Mutex`, each section would take some 30 instructions more.
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
          // The thread that holds the lock may have been preempted.
          if patience < 0 { beans_yield() }
        }
      } while isTaken.exchange(true, ordering: .acquiring)
    }
  }
#endif
