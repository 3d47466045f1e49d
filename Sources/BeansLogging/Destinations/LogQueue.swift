import Dispatch
import Glibc

/// Entries on their way to a destination, and the thread that writes them.
///
/// The thread is started for the first entry, keeps the queue alive, and ends when `close()` has been called and everything is
/// written. A queue that writes on a Dispatch queue has no thread.
final class LogQueue: @unchecked Sendable {  // nothing here changes but `state`, which has its own lock
  private enum Item {
    case entry(LogEntry)
    /// So many entries were dropped here.
    case dropped(Int)
  }

  private struct State {
    var waiting: [Item] = []
    /// Items of the batch under way that are not written yet.
    var writing = 0
    /// The thread that writes the batch.
    var writer: pthread_t?
    /// Whether the Dispatch queue has work to do, or the thread is running.
    var isScheduled = false
    var isClosed = false
    /// All entries that were dropped.
    var dropped = 0

    var count: Int { waiting.count + writing }
    var isWritingHere: Bool { writer.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

    mutating func drop() {
      dropped += 1
      if case .dropped(let count) = waiting.last {
        waiting[waiting.count - 1] = .dropped(count + 1)
      } else {
        waiting.append(.dropped(1))
      }
    }
  }

  private let destination: LogManager.Log
  private let name: String
  private let queue: DispatchQueue?
  private let capacity: Int
  private let waits: Bool
  private let state = Monitor(State())

  /// - Parameters:
  ///   - destination: writes the entries.
  ///   - name: of the log, for reports of dropped entries.
  ///   - queue: where entries are written; nil for a thread.
  ///   - capacity: entries that may wait.
  ///   - waits: whether an entry that finds no room waits for it; it is dropped otherwise.
  init(_ destination: LogManager.Log, name: String, queue: DispatchQueue?, capacity: Int, waits: Bool) {
    self.destination = destination
    self.name = name
    self.queue = queue
    self.capacity = max(1, capacity)
    self.waits = waits
  }

  var dropped: Int { state.withLock { $0.dropped } }

  func add(_ entry: LogEntry) {
    var next = step(for: entry)
    while next == .wait {
      writeBatch()
      next = step(for: entry)
    }
    switch next {
    case .schedule: schedule()
    case .wake: state.changed()
    case .wait, .leave: break
    }
  }

  /// The next step of the thread that adds an entry.
  private enum Step {
    /// There is no room: the entry is not added.
    case wait
    /// No writer has been told.
    case schedule
    /// The writer may be idle.
    case wake
    /// The writer knows.
    case leave
  }

  private func step(for entry: LogEntry) -> Step {
    state.withLock { state in
      let wasEmpty = state.waiting.isEmpty
      // A destination that logs to this queue would wait for itself.
      if state.count < capacity || state.isWritingHere {
        state.waiting.append(.entry(entry))
      } else if waits {
        return .wait
      } else {
        state.drop()
      }
      if !state.isScheduled {
        state.isScheduled = true
        return .schedule
      }
      return wasEmpty && queue == nil ? .wake : .leave
    }
  }

  /// Starts the thread, unless it runs already.
  ///
  /// - Throws: `LogError` where the system has no thread to give.
  func start() throws(LogError) {
    if queue != nil { return }
    let isRunning = state.withLock { state in
      defer { state.isScheduled = true }
      return state.isScheduled
    }
    if !isRunning { try startThread() }
  }

  /// Writes everything that waits, on the calling thread or on the one that is writing already.
  func drain() {
    while !state.withLock({ $0.isWritingHere || ($0.waiting.isEmpty && $0.writer == nil) }) { writeBatch() }
  }

  /// Ends the thread once everything has been written.
  func close() {
    state.withLock { $0.isClosed = true }
    state.changed()
  }

  private func schedule() {
    guard let queue else {
      // Without a thread entries wait for the next one, or for `drain()`.
      try? startThread()
      return
    }
    queue.async { [self] in
      state.withLock { $0.isScheduled = false }
      drain()
    }
  }

  private func startThread() throws(LogError) {
    let status = LogThread.start(name: "log") { [self] in
      while state.withLock(when: { $0.writer == nil && (!$0.waiting.isEmpty || $0.isClosed) }, { !$0.waiting.isEmpty })
      {
        writeBatch()
      }
    }
    guard status != 0 else { return LogExit.flushInstalledManager() }
    state.withLock { $0.isScheduled = false }
    throw LogError("log '\(name)' has no thread", number: status)
  }

  /// Writes all that waits, once no other thread is writing.
  private func writeBatch() {
    let batch = state.withLock(when: { $0.writer == nil }) { state in
      let batch = state.waiting
      state.waiting = []
      state.writing = batch.count
      state.writer = batch.isEmpty ? nil : pthread_self()
      return batch
    }
    if batch.isEmpty { return }
    for item in batch {
      switch item {
      case .entry(let entry): destination.log(entry)
      case .dropped(let count): destination.log(report(count))
      }
      state.withLock { $0.writing -= 1 }
    }
    state.withLock { $0.writer = nil }
    state.changed()
  }

  private func report(_ count: Int) -> LogEntry {
    LogEntry(
      logger: "Beans.Logging", level: .warn,
      message: "log '\(name)' was full: \(count) \(count == 1 ? "entry was" : "entries were") dropped here")
  }
}
