import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The failures of one destination: reported on standard error, the first of several in a row, and the number of lost
/// entries when the destination works again, or is deallocated.
final class LogFailures: Sendable {
  /// The name of the destination in reports.
  private let label: String
  private let isFailing = Atomic(false)
  private let lost = Atomic(0)
  /// The part of `lost` that has been reported.
  private let reported = Atomic(0)

  init(label: String) { self.label = label }

  deinit { reportLost() }

  /// The number of entries lost so far.
  var lostEntries: Int { lost.load(ordering: .relaxed) }

  /// Reports a failure, unless an earlier one has been reported and the destination has not worked since.
  ///
  /// - Parameters:
  ///   - problem: the failure, such as "cannot be written".
  ///   - number: the error number of the system.
  ///   - descriptor: the descriptor that failed: a failure of standard error is not written there.
  func note(_ problem: String, number: Int32, of descriptor: Int32 = -1) {
    if isFailing.exchange(true, ordering: .relaxed) || descriptor == STDERR_FILENO { return }
    Self.write("log \(label) \(problem): \(LogError.text(of: number))\n")
  }

  /// Counts a lost entry.
  func lose() { lost.add(1, ordering: .relaxed) }

  /// Ends a row of failures.
  func recover() {
    if isFailing.load(ordering: .relaxed), isFailing.exchange(false, ordering: .relaxed) { reportLost() }
  }

  private func reportLost() {
    let total = lostEntries
    let count = total - reported.exchange(total, ordering: .relaxed)
    if count > 0 { Self.write("log \(label): \(count) \(count == 1 ? "entry was" : "entries were") lost\n") }
  }

  private static func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = unsafe writeBytes(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
