import BeansLogging
import Synchronization

/// Counts responses, and writes a line for each request if a destination is set. Safe from any thread.
final class AccessLog: Sendable {
  struct Counts: Equatable, Sendable {
    /// The number of responses by the first digit of their status; index 0 counts requests that ended without a
    /// response.
    var byClass = [Int](repeating: 0, count: 6)

    var total: Int { byClass.reduce(0, +) }
  }

  private let isWritten: @Sendable () -> Bool
  private let write: @Sendable (String) -> Void
  private let unanswered = Atomic(0)
  private let informed = Atomic(0)
  private let succeeded = Atomic(0)
  private let redirected = Atomic(0)
  private let refused = Atomic(0)
  private let failed = Atomic(0)

  /// Creates a log that passes each line, without its line end, to `write`; with nil the log only counts.
  init(write: (@Sendable (String) -> Void)? = nil) {
    isWritten = { write != nil }
    self.write = { write?($0) }
  }

  /// Creates a log that writes entries of level `info`.
  init(_ logger: Logger) {
    isWritten = { logger.isEnabled(.info) }
    write = { logger.info($0) }
  }

  /// The counts so far. Each number is exact; while requests run, the numbers may be of different moments.
  var current: Counts {
    Counts(byClass: [
      unanswered.load(ordering: .relaxed), informed.load(ordering: .relaxed), succeeded.load(ordering: .relaxed),
      redirected.load(ordering: .relaxed), refused.load(ordering: .relaxed), failed.load(ordering: .relaxed),
    ])
  }

  /// Counts a request and writes its line. A nil `status` means that there was no response. `duration` is evaluated
  /// only if a line is written.
  func record(_ request: HTTPRequest, status: HTTPStatus?, took duration: @autoclosure () -> Duration) {
    count(status)
    guard isWritten() else { return }
    let duration = duration()
    // The path is decoded, so it may contain any character; it must not be able to forge a line.
    let path = String(
      decoding: request.path.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
    let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    // The environment of the request may have ended, or may not exist.
    LogMetadata.with(request.logMetadata) {
      write("\(request.method) \(path) \(status.map { String($0.rawValue) } ?? "-") \(microseconds) µs")
    }
  }

  private func count(_ status: HTTPStatus?) {
    switch status.map({ $0.rawValue / 100 }) {
    case nil: unanswered.add(1, ordering: .relaxed)
    case 1: informed.add(1, ordering: .relaxed)
    case 2: succeeded.add(1, ordering: .relaxed)
    case 3: redirected.add(1, ordering: .relaxed)
    case 4: refused.add(1, ordering: .relaxed)
    default: failed.add(1, ordering: .relaxed)
    }
  }
}
