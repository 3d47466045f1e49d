import BeansLogging

/// A log destination that keeps its lines.
final class Lines: Log, @unchecked Sendable {  // the journal is locked
  private let journal = Journal()
  var all: [String] { journal.entries }

  override func log(_ entry: LogEntry) { journal.note(format(entry)) }
}
