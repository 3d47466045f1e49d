import Dispatch
import Glibc
import Synchronization

/// Thrown instead of waiting for ever, so that a deadlock in the container fails one test and not the run.
struct Stuck: Error, CustomStringConvertible {
  let description: String
}

/// The time that a test waits for an event: long enough for a loaded machine under a sanitizer.
let patience = DispatchTimeInterval.seconds(600)

/// A gate that is closed until it is opened; then it stays open.
final class Gate: Sendable {
  private let name: String
  private let semaphore = DispatchSemaphore(value: 0)

  init(_ name: String = "gate") { self.name = name }

  func open() { semaphore.signal() }

  func wait() throws {
    guard semaphore.wait(timeout: .now() + patience) == .success else {
      throw Stuck(description: "not opened: '\(name)'")
    }
    semaphore.signal()
  }
}

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
}

/// Yields the processor until `condition` holds, for events that the container does not report.
func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
  let deadline = DispatchTime.now() + patience
  while try !condition() {
    guard DispatchTime.now() < deadline else { throw Stuck(description: "never seen: \(what)") }
    sched_yield()
  }
}

/// A gate that is closed until it is opened, for one task.
final class Latch: Sendable {
  private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

  func open() { continuation.finish() }

  func wait() async { for await _ in stream {} }
}
