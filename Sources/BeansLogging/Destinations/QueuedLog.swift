public import Dispatch
import Glibc

/// Lets another thread write: whoever logs only leaves the entry in a queue.
///
/// Entries are written one after the other, in the order they were left. The queue is bounded: whoever finds it full
/// writes what is in it, or waits for the thread that does, so nothing is lost and memory does not grow. What is still
/// in it when the process ends is lost, unless `flush()` is called before (`LogManager.flush()`).
open class QueuedLog<T: LogManager.Log>: DelegatingLog<T>, @unchecked Sendable {  // `state` is under its lock
  private struct State {
    var waiting: [LogEntry] = []
    /// How many one thread is writing just now, and which.
    var writing = 0
    var writer: pthread_t?
    /// Whether the dispatch queue has been told.
    var isScheduled = false

    var isWritingHere: Bool { writer.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  private let state = Monitor(State())
  private let queue: DispatchQueue
  private let capacity: Int

  /// Creates one.
  ///
  /// - Parameters:
  ///   - name: by which `LogManager.log(_:)` finds it.
  ///   - delegate: who writes.
  ///   - queue: where it is done; a serial one of its own, if not given.
  ///   - capacity: how many entries may wait, at least 1.
  public init(name: String, delegate: T, queue: DispatchQueue? = nil, capacity: Int = 8_192) {
    self.queue = queue ?? DispatchQueue(label: "logging-queue")
    self.capacity = max(1, capacity)
    super.init(name: name, delegate: delegate)
  }

  /// Leaves the entry in the queue.
  open override func log(_ entry: LogEntry) {
    while true {
      let isTaken = state.withLock { state in
        // A delegate that logs to this queue would wait for itself.
        guard state.waiting.count + state.writing < capacity || state.isWritingHere else { return false }
        state.waiting.append(entry)
        if !state.isScheduled {
          state.isScheduled = true
          queue.async { [self] in
            self.state.withLock { $0.isScheduled = false }
            drain()
          }
        }
        return true
      }
      if isTaken { return }
      writeBatch()
    }
  }

  /// Returns when the queue has been empty, and the delegate has been flushed. Writes what is there itself, so that a busy
  /// dispatch queue holds nothing up.
  open override func flush() {
    drain()
    delegate.flush()
  }

  private func drain() {
    while !state.withLock({ $0.isWritingHere || ($0.waiting.isEmpty && $0.writing == 0) }) { writeBatch() }
  }

  /// Writes all that waits, once nobody else is writing.
  private func writeBatch() {
    let batch = state.withLock(when: { $0.writing == 0 }) { state in
      let batch = state.waiting
      state.waiting = []
      state.writing = batch.count
      state.writer = batch.isEmpty ? nil : pthread_self()
      return batch
    }
    if batch.isEmpty { return }
    for entry in batch { delegate.log(entry) }
    state.withLock {
      $0.writing = 0
      $0.writer = nil
    }
    state.changed()
  }
}
