@_spi(BeansPackage) import BeansErrors
import Dispatch

/// Runs tasks that prefer it on the test's own thread, one after another in the order in which they became ready.
final class ManualExecutor: TaskExecutor {
  private let jobs = Locked<[UnownedJob]>([])
  private let arrivals = DispatchSemaphore(value: 0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // All of it under the lock: the thread that takes the job may end the run, and with it this executor.
    jobs.withLock { jobs in
      jobs.append(job)
      arrivals.signal()
    }
  }

  /// Until all tasks wait for the test, or have ended. While `isBusy`, one of them waits for something else.
  func run(while isBusy: () -> Bool) {
    while true {
      while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
      guard isBusy() else { return }
      arrivals.wait()
    }
  }
}
