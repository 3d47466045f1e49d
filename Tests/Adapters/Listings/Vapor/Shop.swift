import Synchronization

final class Journal: Sendable {
  let lines = Mutex<[String]>([])
}

/// One request's line in the journal.
final class Entry: Sendable {
  private let journal: Journal
  private let text = Mutex("")

  init(journal: Journal) { self.journal = journal }

  func note(_ text: String) { self.text.withLock { $0 = text } }
  func write() { journal.lines.withLock { $0.append(text.withLock { $0 }) } }
}
