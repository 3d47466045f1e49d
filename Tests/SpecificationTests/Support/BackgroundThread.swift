import Dispatch
import Glibc
import Synchronization

/// A thread of its own: a body that blocks cannot starve the pool that runs the tests.
final class BackgroundThread<Value: Sendable>: Sendable {
  private let outcome = Guarded<Result<Value, any Error>?>(nil)
  private let directory = Guarded("")
  private let started = Gate("start of the thread")
  private let ended = Gate("end of the thread")

  init(_ body: @escaping @Sendable () throws -> Value) {
    let entry = ThreadEntry { [self] in
      directory.withLock { $0 = ownDirectory() }
      started.open()
      let result = Result { try body() }
      outcome.withLock { $0 = result }
      ended.open()
    }
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        // Balances `passRetained` below; the pointer is handed to this thread alone.
        Unmanaged<ThreadEntry>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(entry).toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    pthread_detach(thread)
  }

  /// Waits for the end of the thread; throws the error of its body, or `Stuck`.
  @discardableResult
  func value() throws -> Value {
    try result().get()
  }

  func result() throws -> Result<Value, any Error> {
    try ended.wait()
    return outcome.withLock { $0 }!
  }

  /// Waits until the thread sleeps in the kernel or has ended: its steps have completed, or wait.
  func waitUntilAsleepOrEnded() throws {
    try started.wait()
    let task = directory.withLock { $0 }
    var last = ""
    var repetitions = 0
    try waitUntil("\(task) asleep or ended") {
      if outcome.withLock({ $0 != nil }) { return true }
      let status = contents(of: "\(task)/status")
      repetitions = status.contains("State:\tS") && status == last ? repetitions + 1 : 0
      last = status
      return repetitions == 100
    }
  }

  /// Waits until the thread sleeps in the kernel: the container does not report threads that wait for a build.
  func waitUntilAsleep() throws {
    try started.wait()
    let task = directory.withLock { $0 }
    var last = ""
    var repetitions = 0
    try waitUntil("\(task) asleep") {
      let status = contents(of: "\(task)/status")
      let isAsleep = status.contains("State:\tS")
      repetitions = isAsleep && status == last ? repetitions + 1 : 0
      last = status
      // The text includes the counter of context switches: so many equal texts are one long sleep.
      return repetitions == 100
    }
  }
}

/// Runs `body` on several threads that start together, and waits for all.
func onThreads<Value: Sendable>(
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

private final class ThreadEntry {
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
