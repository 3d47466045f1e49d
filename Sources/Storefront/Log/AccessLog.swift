import Synchronization

/// Counts what has been answered, and writes a line for each request where it is told to. Safe from any thread.
final class AccessLog: Sendable {
  struct Counts: Equatable, Sendable {
    /// By the status's first digit; index 0 counts requests that ended without an answer.
    var byClass = [Int](repeating: 0, count: 6)

    var total: Int { byClass.reduce(0, +) }
  }

  private let write: (@Sendable (String) -> Void)?
  private let unanswered = Atomic(0)
  private let informed = Atomic(0)
  private let succeeded = Atomic(0)
  private let redirected = Atomic(0)
  private let refused = Atomic(0)
  private let failed = Atomic(0)

  /// `write` gets each line without its line end; nil counts only.
  init(write: (@Sendable (String) -> Void)? = nil) { self.write = write }

  /// Each number is exact; while requests run, they need not be of the same moment.
  var current: Counts {
    Counts(byClass: [
      unanswered.load(ordering: .relaxed), informed.load(ordering: .relaxed), succeeded.load(ordering: .relaxed),
      redirected.load(ordering: .relaxed), refused.load(ordering: .relaxed), failed.load(ordering: .relaxed),
    ])
  }

  /// `status` nil: no answer was made. `duration` is asked for only where a line is written.
  func record(_ request: HTTPRequest, status: HTTPStatus?, took duration: @autoclosure () -> Duration) {
    count(status)
    guard let write else { return }
    let duration = duration()
    // The path is decoded, so it may hold anything; it must not be able to forge a line.
    let path = String(
      decoding: request.path.utf8.map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
    let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
    write("\(request.method) \(path) \(status.map { String($0.rawValue) } ?? "-") \(microseconds) µs")
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
