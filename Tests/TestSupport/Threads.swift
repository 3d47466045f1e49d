@_spi(BeansPackage) import BeansErrors
package import Dispatch
import Glibc
import Synchronization

/// Thrown instead of waiting for ever: a deadlock fails one test and not the run.
package struct Stuck: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// The time that a test waits for an event: long enough for a loaded machine under a sanitizer.
package let patience = DispatchTimeInterval.seconds(600)

/// A gate for threads that is closed until it is opened; then it stays open.
package final class Gate: Sendable {
  private let name: String
  private let semaphore = DispatchSemaphore(value: 0)

  package init(_ name: String = "gate") { self.name = name }

  package func open() { semaphore.signal() }

  package func wait() throws {
    guard semaphore.wait(timeout: .now() + patience) == .success else {
      throw Stuck(description: "'\(name)' has not been opened")
    }
    semaphore.signal()
  }
}

/// A gate for one task that is closed until it is opened.
package final class Latch: Sendable {
  private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

  package init() {}

  package func open() { continuation.finish() }

  package func wait() async { for await _ in stream {} }
}

/// Runs a body on a thread of its own, so that blocking in it does not starve the pool that runs the tests.
package final class BackgroundThread<Value: Sendable>: Sendable {
  private let outcome = Locked<Result<Value, any Error>?>(nil)
  private let directory = Locked("")
  private let started = Gate("start of a thread")
  private let ended = Gate("end of a thread")

  package init(_ body: @escaping @Sendable () throws -> Value) {
    let entry = Entry { [self] in
      let directory = ownDirectory()
      self.directory.withLock { $0 = directory }
      started.open()
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
    precondition(code == 0, "pthread_create: \(code)")
    pthread_detach(thread)
  }

  /// Waits for the end of the thread. Returns the value of its body, and throws its error; throws `Stuck` if the thread
  /// does not end.
  @discardableResult
  package func value() throws -> Value { try result().get() }

  /// Waits for the end of the thread. Returns the outcome of its body; throws `Stuck` if the thread does not end.
  package func result() throws -> Result<Value, any Error> {
    try ended.wait()
    guard let outcome = outcome.withLock({ $0 }) else { throw Stuck(description: "no outcome") }
    return outcome
  }

  /// Waits until the thread sleeps in the kernel. The container does not report which threads wait for a build.
  package func waitUntilAsleep() throws { try waitUntilAsleep(orEnded: false) }

  /// Waits until the thread sleeps in the kernel or has ended: its action is done, or waits.
  package func waitUntilAsleepOrEnded() throws { try waitUntilAsleep(orEnded: true) }

  private func waitUntilAsleep(orEnded mayEnd: Bool) throws {
    try started.wait()
    let task = directory.withLock { $0 }
    var last = ""
    var repetitions = 0
    try waitUntil("\(task) asleep") {
      if mayEnd, outcome.withLock({ $0 != nil }) { return true }
      let status = contents(of: "\(task)/status")
      repetitions = status.contains("State:\tS") && status == last ? repetitions + 1 : 0
      last = status
      // The counter of context switches is part of the text: so many equal ones are one long sleep.
      return repetitions == 100
    }
  }
}

private final class Entry {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}

/// Returns the directory in which the kernel describes the calling thread.
private func ownDirectory() -> String {
  var bytes = [UInt8](repeating: 0, count: 256)
  let count = bytes.withUnsafeMutableBytes { readlink("/proc/thread-self", $0.baseAddress!, $0.count) }
  return "/proc/" + String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}

private func contents(of path: String) -> String {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return "" }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = read(descriptor, &bytes, bytes.count)
  return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
}

/// Runs `body` on several threads that start together, and waits for all.
package func onThreads<Value: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
) throws -> [Value] {
  let start = Start(of: count)
  let threads = (0..<count).map { number in
    BackgroundThread<Value> {
      start.arrive()
      return try body(number)
    }
  }
  return try threads.map { try $0.value() }
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
package func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
  let deadline = DispatchTime.now() + patience
  while try !condition() {
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
