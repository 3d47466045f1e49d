package import Dispatch
import Glibc
@_spi(BeansPackage) import BeansSupport
import Synchronization

/// Thrown instead of waiting for ever: a deadlock fails one test and not the run.
package struct Stuck: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// The time that a test waits for an event, on a loaded machine and under a sanitizer.
package let patience = DispatchTimeInterval.seconds(120)

/// A gate that is closed until it is opened; then it stays open.
package final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  package init() {}

  package func open() { semaphore.signal() }

  package func wait() throws {
    guard semaphore.wait(timeout: .now() + patience) == .success else { throw Stuck(description: "gate") }
    semaphore.signal()
  }
}

/// Runs a body on a thread of its own, so that blocking in it starves no other task.
package final class Worker<Value: Sendable>: Sendable {
  private let outcome = Locked<Result<Value, any Error>?>(nil)
  private let ended = Gate()

  package init(_ body: @escaping @Sendable () throws -> Value) {
    let entry = Entry { [self] in
      let result = Result { try body() }
      outcome.withLock { $0 = result }
      ended.open()
    }
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        // Balances `passRetained` below; the pointer is handed to this thread alone.
        Unmanaged<Entry>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(entry).toOpaque())
    if code == 0 {
      pthread_detach(thread)
    } else {
      outcome.withLock { $0 = .failure(Stuck(description: "pthread_create: \(code)")) }
      ended.open()
    }
  }

  /// Returns the result of the body or throws its error; throws `Stuck` if it does not end.
  @discardableResult
  package func value() throws -> Value {
    try ended.wait()
    guard let outcome = outcome.withLock({ $0 }) else { throw Stuck(description: "no outcome") }
    return try outcome.get()
  }
}

private final class Entry {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}

/// Runs `body` on several threads that start together, and waits for all.
package func onThreads<Value: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
) throws -> [Value] {
  let start = Start(of: count)
  let workers = (0..<count).map { number in
    Worker<Value> {
      start.arrive()
      return try body(number)
    }
  }
  return try workers.map { try $0.value() }
}

/// Releases its threads when the last one has arrived, by spinning: they meet as closely as the machine allows.
private final class Start: Sendable {
  private let missing: Atomic<Int>

  init(of count: Int) { missing = Atomic(count) }

  func arrive() {
    missing.subtract(1, ordering: .sequentiallyConsistent)
    while missing.load(ordering: .sequentiallyConsistent) > 0 { sched_yield() }
  }
}

/// Yields the processor until `condition` holds.
package func waitUntil(_ what: String, _ condition: () -> Bool) throws {
  let deadline = DispatchTime.now() + patience
  while !condition() {
    guard DispatchTime.now() < deadline else { throw Stuck(description: "never seen: \(what)") }
    sched_yield()
  }
}

/// Runs tasks on a thread of its own: tests may block all threads of the pool.
package final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "tasks of a test")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
