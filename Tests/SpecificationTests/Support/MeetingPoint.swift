import TestSupport

/// Releases its threads when the last of them has arrived.
final class MeetingPoint: Sendable {
  private let missing: Guarded<Int>
  private let gate: Gate

  init(of threads: Int, _ name: String = "meeting") {
    missing = Guarded(threads)
    gate = Gate(name)
  }

  func arriveAndWait() throws {
    let isLast = missing.withLock {
      $0 -= 1
      return $0 == 0
    }
    if isLast { gate.open() }
    try gate.wait()
  }

  /// Waits for the other threads, then makes the value: `factory: { try meeting.before(Store()) }`.
  func before<Value>(_ make: @autoclosure () throws -> Value) throws -> Value {
    try arriveAndWait()
    return try make()
  }
}
