@_spi(BeansPackage) import BeansErrors

/// The events of a test in order, written from any thread.
final class Journal: Sendable {
  private let lines = Locked<[String]>([])

  func note(_ line: String) { lines.withLock { $0.append(line) } }

  var entries: [String] { lines.withLock { $0 } }
}

/// Counts by name, from any thread.
final class Tally: Sendable {
  private let counts = Locked<[String: Int]>([:])

  func count(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }

  subscript(name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
}

/// A place for one value that another thread hands over.
final class Handed<Value: Sendable>: Sendable {
  private let content = Locked<Value?>(nil)

  var value: Value? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }
}
