public import Dispatch

/// Lets another thread write: `log(_:)` leaves the entry in a bounded queue and returns.
///
/// Use it for every destination that threads of an event loop log to: a pipe whose reader has stopped reading, or a slow disk,
/// then delays the log and nothing else. Entries are written one after the other, in the order in which they were left. An
/// entry that finds the queue full is dropped and counted, and a line says in its place how many were, once there is room;
/// with `WhenFull.wait` it waits instead, so nothing is lost and the caller may block.
///
/// When the process calls `exit`, or returns from `main`, the installed `LogManager` is flushed for up to a second. Entries that
/// wait in a process that ends otherwise are lost; `LogManager.flush(within:)` writes them before.
open class QueuedLog<T: LogManager.Log>: DelegatingLog<T>, @unchecked Sendable {  // nothing changes
  /// What happens to an entry that finds the queue full.
  public enum WhenFull: Sendable {
    /// The entry is dropped, and counted. The caller never waits for the destination.
    case drop
    /// The caller writes what is in the queue, or waits for the thread that does.
    case wait
  }

  private let entries: LogQueue

  /// Creates a queue in front of a destination. Its thread starts with the first entry, or by `start()`.
  ///
  /// - Parameters:
  ///   - name: by which `LogManager.log(_:)` finds it.
  ///   - delegate: the destination that writes.
  ///   - queue: where it writes; a thread of the log's own, if not given.
  ///   - capacity: how many entries may wait, at least 1.
  ///   - whenFull: what happens to an entry that finds the queue full.
  public init(
    name: String, delegate: T, queue: DispatchQueue? = nil, capacity: Int = 8_192, whenFull: WhenFull = .drop
  ) {
    entries = LogQueue(delegate, name: name, queue: queue, capacity: capacity, waits: whenFull == .wait)
    super.init(name: name, delegate: delegate)
  }

  deinit { entries.close() }

  /// Starts the log's thread now, where a service wants to know before it serves that there is one.
  ///
  /// - Throws: `LogError` where the system has no thread to give. Entries wait then until there is one, or for `flush()`.
  public func start() throws { try entries.start() }

  /// Leaves the entry in the queue.
  open override func log(_ entry: LogEntry) { entries.add(entry) }

  /// Returns when the queue has been empty, and the delegate has been flushed. Writes on the calling thread what no other
  /// thread is writing already; blocks as long as the delegate does. See `flush(within:)`.
  open override func flush() {
    entries.drain()
    delegate.flush()
  }

  /// The number of entries that this queue and the delegate have dropped.
  open override var dropped: Int { entries.dropped + delegate.dropped }
}
