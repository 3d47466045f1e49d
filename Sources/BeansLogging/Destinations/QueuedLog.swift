public import Dispatch

/// Writes on another thread: `log(_:)` adds the entry to a bounded queue and returns.
///
/// Use it for every destination that the threads of an event loop log to: a pipe whose reader has stopped reading, or a
/// slow disk, then delays the log and nothing else. Entries are written one after the other, in the order in which they
/// were added. While the queue is full, entries are dropped and counted, and a line in their place reports their
/// number; with `WhenFull.wait` the caller waits instead, so no entry is lost and the caller may block.
///
/// `flush()` returns when the queue has been empty and the delegate has been flushed. The calling thread writes the entries
/// that no other thread is writing already, and blocks as long as the delegate does; see `flush(within:)`. `dropped` counts
/// the entries that this queue and the delegate have dropped.
///
/// When the process calls `exit`, or returns from `main`, the installed `LogManager` is flushed for up to one second. A
/// process that ends in any other way loses the waiting entries, unless it calls `LogManager.flush(within:)` before.
open class QueuedLog<T: Log>: DelegatingLog<T>, @unchecked Sendable {  // immutable
  /// The treatment of an entry while the queue is full.
  public enum WhenFull: Sendable {
    /// The entry is dropped, and counted. The caller never waits for the destination.
    case drop
    /// The caller writes the queued entries, or waits for the thread that is writing them.
    case wait
  }

  private let entries: LogQueue

  /// Creates a queue in front of a destination. The thread starts with the first entry, or with `start()`.
  ///
  /// - Parameters:
  ///   - name: the name for `LogManager.log(_:)`.
  ///   - delegate: the destination that writes.
  ///   - queue: the queue that the delegate writes on; by default, a thread of the log's own.
  ///   - capacity: the number of entries that may wait, at least 1.
  ///   - whenFull: the treatment of an entry while the queue is full.
  public init(
    name: String, delegate: T, queue: DispatchQueue? = nil, capacity: Int = 8_192, whenFull: WhenFull = .drop
  ) {
    entries = LogQueue(delegate, name: name, queue: queue, capacity: capacity, waits: whenFull == .wait)
    super.init(name: name, delegate: delegate, writer: entries)
  }

  deinit { entries.close() }

  /// Starts the log's thread now, so that a service detects a missing thread before it serves.
  ///
  /// - Throws: `LogError` when the system cannot create a thread. Entries then wait until a later entry starts one, or
  ///   for `flush()`.
  public func start() throws { try entries.start() }
}
