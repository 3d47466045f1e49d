import Glibc

/// The flushes at the exit of the process.
enum LogExit {
  /// The longest time that `exit` waits for all of them together.
  static let limit = Duration.seconds(1)

  private static let flushes = Monitor<[@Sendable () -> Void]>([])

  private static let registration: Void = {
    atexit {
      _ = LogThread.run(within: LogExit.limit) {
        for flush in LogExit.flushes.withLock({ $0 }) { flush() }
      }
    }
  }()

  /// Adds a flush, which runs at the exit of a process in which a queue has written on a thread of its own.
  static func add(_ flush: @escaping @Sendable () -> Void) { flushes.withLock { $0.append(flush) } }

  /// Registers the flushes, once, because a thread now writes entries.
  static func register() { _ = registration }
}
