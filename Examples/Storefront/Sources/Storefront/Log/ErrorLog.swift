import BeansLogging
import BeansSessions

/// Writes a line for each unexpected error, with a limit on the lines in a second. Safe from any thread.
final class ErrorLog: Sendable {
  /// The maximum number of lines in each second.
  static let linesPerSecond = 10

  private struct State {
    var second: UInt64 = 0
    var lines = 0
    var suppressed = 0
  }

  private let write: @Sendable (String) -> Void
  private let state = Guarded(State())

  /// Creates a log that passes each line, without its line end, to `write`.
  init(write: @escaping @Sendable (String) -> Void) { self.write = write }

  /// Creates a log that writes to the logger of the service.
  convenience init() { self.init { line in ServiceLog.logger.error(line) } }

  /// Returns the response to an error, and writes a line for an unexpected one.
  func response(to error: any Error, _ request: HTTPRequest) -> HTTPResponse {
    let response = HTTPResponse(failure: error)
    if response.status == .internalServerError || error is SQLiteError || error is SessionError {
      record(error, request)
    }
    return response
  }

  /// Records an error of a request.
  func record(_ error: any Error, _ request: HTTPRequest) {
    // The environment of the request may have ended, or may not exist.
    LogMetadata.with(request.logMetadata) { record(error, "\(request.method) \(request.path)") }
  }

  /// Records an error that occurred during `work`.
  func record(_ error: any Error, _ work: String, at time: MonotonicTime = .now) {
    let second = time.nanoseconds / 1_000_000_000
    let (mayWrite, suppressed) = state.withLock { state in
      var suppressed = 0
      if second != state.second {
        suppressed = state.suppressed
        state = State(second: second)
      }
      state.lines += 1
      let mayWrite = state.lines <= Self.linesPerSecond
      if !mayWrite { state.suppressed += 1 }
      return (mayWrite, suppressed)
    }
    tell(suppressed)
    // Text that a client has sent must not be able to forge a line.
    if mayWrite { write("storefront: \(work): \(error)".map { $0.isNewline ? " " : String($0) }.joined()) }
  }

  /// Writes the number of suppressed errors, which otherwise comes with the next error.
  func flush() {
    tell(
      state.withLock { state in
        defer { state.suppressed = 0 }
        return state.suppressed
      })
  }

  private func tell(_ suppressed: Int) {
    if suppressed > 0 { write("storefront: \(suppressed) more errors were not written") }
  }
}
