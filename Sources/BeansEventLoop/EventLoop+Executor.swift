import Dispatch

/// Runs jobs of Swift concurrency on the loop: those of actors whose executor is the loop, and of tasks that prefer it.
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
/// `close()`. Jobs enqueued after `close()` still run, one at a time on a Dispatch queue of this loop, so that no
/// continuation is lost; `isCurrent` is true during these jobs.
extension EventLoop: SerialExecutor, TaskExecutor {
  /// Queues a job of a task that prefers the loop. The runtime calls this method, from any thread.
  public func enqueue(_ job: consuming ExecutorJob) { accept(.taskJob(UnownedJob(job))) }

  func accept(_ item: WorkItem) {
    let lateJobs = state.withLock { state -> DispatchQueue? in
      guard state.phase != .closed else { return state.lateJobs }
      state.queue.append(item)
      wakeIfWaiting(&state)
      return nil
    }
    lateJobs?.async { self.driveLate { self.run(item) } }
  }

  /// Returns the loop as an actor's executor. The actor must retain the loop.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe actors.asUnownedSerialExecutor() }

  /// Returns the loop as a task's preferred executor.
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }

  /// Stops the process unless the calling thread is the loop's. Makes `assumeIsolated` work in the loop's callbacks.
  public func checkIsolated() {
    precondition(isCurrent, "this may be called on the event loop's thread only")
  }

  /// Whether the calling thread is the loop's.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Creates the queue of late jobs, inactive until the loop's memory has been deallocated.
  static func makeLateQueue() -> DispatchQueue {
    DispatchQueue(label: "BeansEventLoop late jobs", attributes: .initiallyInactive)
  }
}

/// The executor of a loop for the jobs of actors.
///
/// A separate object, because a job has to run under the executor that it was enqueued on: a task that is already on
/// the executor on which it continues is then not queued again. The loop itself is the executor of tasks: a task
/// retains the executor that it prefers, through this very reference.
final class LoopActorExecutor: SerialExecutor {
  // Set once, in the loop's `init`, and only read afterwards. The loop owns this object, and an actor retains its loop.
  private nonisolated(unsafe) unowned(unsafe) var loop: EventLoop?

  func attach(to loop: EventLoop) { unsafe self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    guard let loop = unsafe loop else {
      preconditionFailure("BUG in BeansEventLoop: a job before the loop was complete")
    }
    loop.accept(.job(UnownedJob(job)))
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

  func checkIsolated() { unsafe loop?.checkIsolated() }

  func isIsolatingCurrentContext() -> Bool? { unsafe loop?.isCurrent }
}
