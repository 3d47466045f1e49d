import Synchronization

/// Entries in order, written from any thread.
final class Journal: Sendable {
  private let lines = Guarded<[String]>([])

  func note(_ line: String) {
    lines.withLock { $0.append(line) }
  }

  /// Notes the line, then makes the value: `factory: { journal.noting("built", Store()) }`.
  func noting<Value>(_ line: String, _ make: @autoclosure () throws -> Value) rethrows -> Value {
    note(line)
    return try make()
  }

  /// Notes the line after a suspension, as a slow release does: `onDestroy { _ in await journal.noteLater("released") }`.
  func noteLater(_ line: String) async {
    await Task.yield()
    note(line)
  }

  var entries: [String] { lines.withLock { $0 } }

  func count(of line: String) -> Int {
    entries.filter { $0 == line }.count
  }
}

/// A number that several threads may increment.
final class Counter: Sendable {
  private let number = Guarded(0)

  @discardableResult
  func increment() -> Int {
    number.withLock {
      $0 += 1
      return $0
    }
  }

  /// Increments the number, then makes the value: `factory: { built.counting(Store()) }`.
  func counting<Value>(_ make: @autoclosure () throws -> Value) rethrows -> Value {
    increment()
    return try make()
  }

  var value: Int { number.withLock { $0 } }
}

/// Stores one value that the container passes to a closure.
final class Captured<Value: Sendable>: Sendable {
  private let content = Guarded<Value?>(nil)

  var value: Value? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }
}
