import Beans
@_spi(BeansPackage) import BeansSupport
import BeansServer
import Dispatch
import Glibc
import Synchronization

/// Thrown instead of waiting for ever, so that a deadlock fails one test and not the run.
struct Stuck: Error, CustomStringConvertible {
  let description: String
}

/// How long a test waits for an event that must come: long enough for a loaded machine under a sanitizer.
private let patience = DispatchTimeInterval.seconds(120)

/// Closed until somebody opens it; then it stays open for everyone.
final class Gate: Sendable {
  private let name: String
  private let semaphore = DispatchSemaphore(value: 0)

  init(_ name: String) { self.name = name }

  func open() { semaphore.signal() }

  func wait() throws {
    guard semaphore.wait(timeout: .now() + patience) == .success else {
      throw Stuck(description: "nobody opened '\(name)'")
    }
    semaphore.signal()
  }
}

/// Gives the processor away until `condition` holds; for changes that nobody announces.
func waitUntil(_ what: String, _ condition: () -> Bool) throws {
  let deadline = DispatchTime.now() + patience
  while !condition() {
    guard DispatchTime.now() < deadline else { throw Stuck(description: "never seen: \(what)") }
    sched_yield()
  }
}

extension Environment {
  /// Waits until something else has ended this environment and everything is released.
  func waitForEnd() throws {
    let end = Gate("end of '\(name)'")
    whenFinished { end.open() }
    try end.wait()
  }
}

/// A thread of its own: what blocks in it cannot starve the pool that runs the tests.
final class BackgroundThread: Sendable {
  private let outcome = Locked<Result<Void, any Error>>(.success(()))
  private let ended = Gate("end of a thread")

  init(_ body: @escaping @Sendable () throws -> Void) {
    let entry = Unmanaged.passRetained(
      Entry { [self] in
        let result = Result { try body() }
        outcome.withLock { $0 = result }
        ended.open()
      })
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Entry>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, entry.toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    pthread_detach(thread)
  }

  /// Waits for the end of the thread; throws what its body threw, or `Stuck`.
  func join() throws {
    try ended.wait()
    try outcome.withLock { $0 }.get()
  }

  private final class Entry {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }
}
