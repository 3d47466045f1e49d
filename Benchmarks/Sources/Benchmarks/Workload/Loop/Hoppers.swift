import BeansEventLoop
import Dispatch

/// An actor that runs on an event loop.
actor LoopCounter {
  private let loop: EventLoop
  private(set) var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func hop() { count += 1 }
}

/// Hops on a queue of Dispatch, by hand.
actor QueueCounter {
  private let executor = QueueExecutor()
  private(set) var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func hop() { count += 1 }
}

private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "hops")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

/// Runs asynchronous work and waits for it. Not on a thread that the work needs.
func waitFor(_ body: @escaping @Sendable () async -> Void) {
  let isDone = DispatchSemaphore(value: 0)
  Task {
    await body()
    isDone.signal()
  }
  isDone.wait()
}
