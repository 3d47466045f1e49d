import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Where loggers come from and where their entries go: standard error, from `warn` up, unless told otherwise.
public enum LogManager {
  /// Receives entries, on the thread that logs. Must not log itself.
  public typealias Destination = @Sendable (LogEntry) -> Void

  private static let threshold = Atomic<Int>(Level.warn.rawValue)
  private static let destination = Mutex<Destination>(standardError)

  /// A logger for a dotted path. Free of cost.
  public static func getLogger(forName path: String) -> Logger { Logger(path: path) }

  /// Whether an entry of that level would be written. One relaxed load.
  public static func isEnabled(_ level: Level) -> Bool { level.rawValue >= threshold.load(ordering: .relaxed) }

  /// Sends entries from `level` up to `destination`, from now on, for all loggers. From any thread.
  public static func configure(level: Level, destination: Destination? = nil) {
    threshold.store(level.rawValue, ordering: .relaxed)
    if let destination { self.destination.withLock { $0 = destination } }
  }

  static func dispatch(_ entry: LogEntry) {
    // Called outside the lock: a destination may be slow, or log through another manager.
    destination.withLock { $0 }(entry)
  }

  /// One line on standard error, written at once so that lines of several threads do not mix.
  public static let standardError: Destination = { entry in
    var line = "[\(entry.logger)] \(entry.level) - \(entry.message)\n"
    line.withUTF8 { bytes in _ = write(2, bytes.baseAddress, bytes.count) }
  }
}
