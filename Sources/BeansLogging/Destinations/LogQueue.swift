import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The entries that wait for a destination, and the thread that writes them.
///
/// The first entry starts the thread. The thread retains the queue, and ends when `close()` has been called and every
/// entry is written. A queue that writes on a Dispatch queue has no thread.
final class LogQueue: LogWriter, @unchecked Sendable {  // immutable, except `state`, which has its own lock
  private enum Item {
    case entry(LogEntry)
    /// The number of entries dropped at this place.
    case dropped(Int)
  }

  private struct State {
    var waiting: [Item] = []
    /// The number of items of the current batch that are not yet written.
    var writing = 0
    /// The thread that writes the batch.
    var writer: pthread_t?
    /// Whether the Dispatch queue has work to do, or the thread is running.
    var isScheduled = false
    var isClosed = false
    /// The number of entries dropped so far.
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

  private let destination: Log
  private let name: String
  private let queue: DispatchQueue?
  private let capacity: Int
  private let waits: Bool
  private let state = Monitor(State())

  /// - Parameters:
  ///   - destination: writes the entries.
  ///   - name: the name of the log, for reports of dropped entries.
  ///   - queue: the Dispatch queue that writes; nil for a thread of the log's own.
  ///   - capacity: the number of entries that may wait.
  ///   - waits: whether the caller waits while the queue is full; otherwise the entry is dropped.
  init(_ destination: Log, name: String, queue: DispatchQueue?, capacity: Int, waits: Bool) {
    self.destination = destination
    self.name = name
    self.queue = queue
    self.capacity = max(1, capacity)
    self.waits = waits
  }

  /// The number of entries that the queue and the destination have dropped.
  var dropped: Int { state.withLock { $0.dropped } + destination.dropped }

  /// Adds the entry.
  func write(_ entry: LogEntry, as line: @autoclosure () -> String) {
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
    /// The queue is full: the entry is not added.
    case wait
    /// No writer is scheduled.
    case schedule
    /// The writer may be idle.
    case wake
    /// The writer is active already.
    case leave
  }

  private func step(for entry: LogEntry) -> Step {
    state.withLock { state in
      let wasEmpty = state.waiting.isEmpty
      // A destination that logs to this queue while it writes would wait for itself.
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

  /// Starts the thread, unless it is running already.
  ///
  /// - Throws: `LogError` when the system cannot create a thread.
  func start() throws(LogError) {
    if queue != nil { return }
    let isRunning = state.withLock { state in
      defer { state.isScheduled = true }
      return state.isScheduled
    }
    if !isRunning { try startThread() }
  }

  /// Returns when the queue has been empty and the destination has been flushed.
  func flush() {
    drain()
    destination.flush()
  }

  func reopen() throws { try destination.reopen() }

  /// Returns when all waiting entries are written: on the calling thread, or on the thread that is writing already.
  func drain() {
    while !state.withLock({ $0.isWritingHere || ($0.waiting.isEmpty && $0.writer == nil) }) { writeBatch() }
  }

  /// Ends the thread once every entry has been written.
  func close() {
    state.withLock { $0.isClosed = true }
    state.changed()
  }

  private func schedule() {
    guard let queue else {
      // Without a thread, entries wait until a later entry starts one, or for `drain()`.
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
    guard status != 0 else { return LogExit.register() }
    state.withLock { $0.isScheduled = false }
    throw LogError("log '\(name)' has no thread", number: status)
  }

  /// Writes all waiting entries, once no other thread is writing.
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
