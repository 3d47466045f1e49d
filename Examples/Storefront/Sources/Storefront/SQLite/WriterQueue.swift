import Dispatch
import Glibc

/// The writes of this process: one transaction after the other, in the order of arrival, on a thread of its own.
///
/// No event loop waits for the disk, nor for the lock of another process. If the store is locked, the queue retries a
/// write for up to `patience`; the writes behind it wait. After every `writesPerCheckpoint` writes the thread copies
/// the log into the database (a checkpoint). Safe from any thread.
final class WriterQueue: Sendable {
  /// The error of a write that has not begun: too many writes wait, or the queue is closed.
  struct Refused: Error {}

  private struct Write: Sendable {
    /// The time of the last attempt.
    let limit: MonotonicTime
    /// Makes an attempt and passes its outcome on. Returns false instead if the store is locked and more attempts
    /// follow.
    let attempt: @Sendable (_ isLast: Bool) -> Bool
    let refuse: @Sendable () -> Void
  }

  private struct State {
    var waiting: [Write] = []
    var isClosed = false
  }

  /// The milliseconds between two attempts: at first, and at most.
  private static let pauses = (first: 1, last: 50)
  /// The number of writes between two checkpoints. The log then has about five megabytes.
  private static let writesPerCheckpoint = 200

  private let store: SQLiteStore
  private let patience: Duration
  private let capacity: Int
  private let state = Guarded(State())
  /// The semaphore of the thread, signalled once for each write, and once by `close()`.
  private let work = DispatchSemaphore(value: 0)
  /// The semaphore that `close()` signals to end a pause.
  private let closing = DispatchSemaphore(value: 0)
  private let ended = DispatchGroup()

  /// Starts the thread, which runs until `close()`.
  ///
  /// - Parameters:
  ///   - store: receives the writes; open.
  ///   - patience: the time from the arrival of a write to its last attempt, while another process has locked the
  ///     store.
  ///   - capacity: the number of writes that may wait, beside the one in flight.
  /// - Throws: `SQLiteError` if the system refuses a thread.
  init(store: SQLiteStore, patience: Duration, capacity: Int = 1_000) throws(SQLiteError) {
    self.store = store
    self.patience = patience
    self.capacity = capacity
    ended.enter()
    let queue = unsafe Unmanaged.passRetained(self)
    var thread = pthread_t()
    let status = unsafe pthread_create(
      &thread, nil,
      { queue in
        guard let queue = unsafe queue else { return nil }
        unsafe Unmanaged<WriterQueue>.fromOpaque(queue).takeRetainedValue().run()
        return nil
      }, unsafe queue.toOpaque())
    guard status == 0 else {
      unsafe queue.release()
      ended.leave()
      throw SQLiteError.misuse("the system has no thread for the writes (error \(status))", operation: "open")
    }
    pthread_detach(thread)
  }

  /// Runs `body` in a transaction and commits it.
  ///
  /// - Parameter body: Runs on the queue's thread, again after an attempt that has found the store locked.
  /// - Returns: the value of `body`, after the commit.
  /// - Throws: the error of `body`, `Refused` or `SQLiteError`; nothing is written then.
  nonisolated(nonsending) func write<R: Sendable>(
    _ body: @escaping @Sendable (SQLiteTransaction) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      enqueue(body) { continuation.resume(with: $0) }
    }
  }

  /// Queues a write and returns. Like `write(_:)`, but passes the outcome to `completion`, which is called once, on the
  /// queue's thread or, for `Refused`, on that of the caller or of `close()`.
  func enqueue<R: Sendable>(
    _ body: @escaping @Sendable (SQLiteTransaction) throws -> R,
    completion: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    let write = Write(limit: .now + patience) { [store] isLast in
      let outcome = Result { try Self.commit(body, to: store) }
      if !isLast, case .failure(let error as SQLiteError) = outcome, error.isBusy { return false }
      completion(outcome)
      return true
    } refuse: {
      completion(.failure(Refused()))
    }
    let isAccepted = state.withLock { state in
      guard !state.isClosed, state.waiting.count < capacity else { return false }
      state.waiting.append(write)
      return true
    }
    if isAccepted { work.signal() } else { write.refuse() }
  }

  /// Refuses the waiting writes, and all later ones. A write in flight is completed, but waits for no lock any longer.
  /// Idempotent.
  func close() {
    let (isFirst, waiting) = state.withLock { state in
      defer { state = State(isClosed: true) }
      return (!state.isClosed, state.waiting)
    }
    if isFirst {
      closing.signal()
      work.signal()
    }
    for write in waiting { write.refuse() }
  }

  /// Closes the queue, and returns when the thread has ended: no write to the store is in flight any more.
  func closeAndWait() {
    close()
    ended.wait()
  }

  // MARK: On the queue's thread

  private func run() {
    // The main thread handles signals; blocked here, none of them interrupts a call of SQLite.
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    var count = 0
    while let write = next() {
      perform(write)
      count += 1
      if count % Self.writesPerCheckpoint == 0 { checkpoint() }
    }
    ended.leave()
  }

  /// Waits for a write; returns nil after `close()`.
  private func next() -> Write? {
    work.wait()
    return state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
  }

  private func perform(_ write: Write) {
    var pause = Self.pauses.first
    while !write.attempt(state.withLock { $0.isClosed } || write.limit <= .now) {
      // `close()` cuts the pause short; the next attempt is then the last.
      _ = closing.wait(timeout: .now() + .milliseconds(pause))
      pause = min(pause * 2, Self.pauses.last)
    }
  }

  private static func commit<R>(
    _ body: (SQLiteTransaction) throws -> R, to store: SQLiteStore
  ) throws -> R {
    let transaction = SQLiteTransaction(store: store)
    // Rolls back after an error. The error of the rollback is dropped; its cause is thrown.
    defer { try? transaction.finish() }
    let value = try body(transaction)
    try transaction.commit()
    return value
  }

  private func checkpoint() {
    let transaction = SQLiteTransaction(store: store)
    defer { try? transaction.finish() }
    // The next checkpoint makes up for a failed one. A disk with a lasting failure fails the writes, too.
    try? transaction.read { connection throws(SQLiteError) in try connection.execute("PRAGMA wal_checkpoint(PASSIVE)") }
  }
}
