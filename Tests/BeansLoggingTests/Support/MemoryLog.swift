import BeansLogging
import Dispatch

/// Keeps all entries in memory.
final class MemoryLog: Log, @unchecked Sendable {  // `semaphore` protects the variables
  private let semaphore = DispatchSemaphore(value: 1)
  private var received: [LogEntry] = []
  private var flushed = 0
  private let onLog: @Sendable (LogEntry) -> Void

  init(name: String = "memory", onLog: @escaping @Sendable (LogEntry) -> Void = { _ in }) {
    self.onLog = onLog
    super.init(name: name)
  }

  private func alone<R>(_ body: () -> R) -> R {
    semaphore.wait()
    defer { semaphore.signal() }
    return body()
  }

  override func log(_ entry: LogEntry) {
    onLog(entry)
    alone { received.append(entry) }
  }

  override func flush() { alone { flushed += 1 } }

  var entries: [LogEntry] { alone { received } }
  var messages: [String] { entries.map(\.message) }
  var flushes: Int { alone { flushed } }
}

/// The error with which a test fails on purpose.
struct Boom: Error, CustomStringConvertible {
  var description: String { "boom" }
}

/// An error with a description of a test's choice.
struct Told: Error, CustomStringConvertible {
  let description: String
}
