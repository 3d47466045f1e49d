import Dispatch

/// The loop runs the jobs of Swift concurrency: actors that name it as their executor, tasks that prefer it.
///
/// ```swift
/// actor Cart {
///   let loop: EventLoop
///   nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
/// }
/// await withTaskExecutorPreference(loop) { … }
/// ```
///
/// A job costs a lock and no allocation. Jobs enqueued before `run()`, or after it has returned, wait for `run()` or
/// `close()`. Jobs that come after `close()` still run, one at a time on a Dispatch queue of this loop, so that no
/// continuation is lost; `isCurrent` holds during them.
extension EventLoop: SerialExecutor, TaskExecutor {
  /// Queues a job. From any thread; the runtime calls this.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let lateJobs = state.withLock { state -> DispatchQueue? in
      guard state.phase != .closed else { return state.lateJobs }
      state.queue.append(.job(job))
      wakeIfWaiting(&state)
      return nil
    }
    lateJobs?.async { self.driveLate { self.run(job) } }
  }

  /// The loop as an actor's executor. The actor must keep the loop alive.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// The loop as a task's preferred executor.
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  /// Stops the process unless the calling thread is the loop's: makes `assumeIsolated` work in the loop's callbacks.
  public func checkIsolated() { preconditionIsCurrent() }

  /// Whether the calling thread is the loop's.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  func run(_ job: UnownedJob) {
    job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
  }

  /// Inactive until the loop's memory has been given back.
  static func makeLateQueue() -> DispatchQueue {
    DispatchQueue(label: "BeansEventLoop late jobs", attributes: .initiallyInactive)
  }
}
