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
  /// Queues a job of a task that prefers the loop. From any thread; the runtime calls this.
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

  /// The loop as an actor's executor. The actor must keep the loop alive.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe actors.asUnownedSerialExecutor() }

  /// The loop as a task's preferred executor.
  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { unsafe UnownedTaskExecutor(ordinary: self) }

  /// Stops the process unless the calling thread is the loop's: makes `assumeIsolated` work in the loop's callbacks.
  public func checkIsolated() { preconditionIsCurrent() }

  /// Whether the calling thread is the loop's.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Inactive until the loop's memory has been given back.
  static func makeLateQueue() -> DispatchQueue {
    DispatchQueue(label: "BeansEventLoop late jobs", attributes: .initiallyInactive)
  }
}

/// The half of a loop that runs the jobs of actors.
///
/// An object of its own, because a job has to be run in the name of the executor it came to: a task that is already where it
/// wants to go on then goes on without being queued again. The loop itself is the other half: a task that prefers an
/// executor owns it by this very reference.
final class LoopActorExecutor: SerialExecutor {
  // Set once, in the loop's `init`, and only read from then on. The loop owns this object, and an actor keeps its loop alive.
  private nonisolated(unsafe) unowned(unsafe) var loop: EventLoop?

  func attach(to loop: EventLoop) { unsafe self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    guard let loop = unsafe loop else {
      preconditionFailure("BUG in BeansEventLoop: a job before the loop was complete")
    }
    loop.accept(.job(UnownedJob(job)))
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

  func checkIsolated() { unsafe loop?.preconditionIsCurrent() }

  func isIsolatingCurrentContext() -> Bool? { unsafe loop?.isCurrent }
}
