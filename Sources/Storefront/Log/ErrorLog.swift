import BeansLogging
import BeansSessions

/// Writes a line for each error that nobody expected, but no flood of them. Safe from any thread.
final class ErrorLog: Sendable {
  /// How many lines there may be in each second.
  static let linesPerSecond = 10

  private struct State {
    var second: UInt64 = 0
    var lines = 0
    var suppressed = 0
  }

  private let write: @Sendable (String) -> Void
  private let state = Guarded(State())

  /// `write` gets each line without its line end.
  init(write: @escaping @Sendable (String) -> Void) { self.write = write }

  /// Writes to the logger of the service.
  convenience init() { self.init { line in ServiceLog.logger.error(line) } }

  /// What the client is told of an error; one that nobody expected gets a line.
  func response(to error: any Error, _ request: HTTPRequest) -> HTTPResponse {
    let response = HTTPResponse(failure: error)
    if response.status == .internalServerError || error is SQLiteError || error is SessionError {
      record(error, request)
    }
    return response
  }

  /// Notes what went wrong with a request.
  func record(_ error: any Error, _ request: HTTPRequest) { record(error, "\(request.method) \(request.path)") }

  /// Notes what went wrong in the middle of `work`.
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
    // What a client has sent must not be able to forge a line.
    if mayWrite { write("storefront: \(work): \(error)".map { $0.isNewline ? " " : String($0) }.joined()) }
  }

  /// Tells of errors that have not been written, which is otherwise done with the next error.
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
