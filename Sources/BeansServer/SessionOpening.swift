import Beans
@_spi(BeansPackage) import BeansSupport
import Synchronization

/// A session that one thread opens, and others wait for.
final class SessionOpening: Sendable {
  /// Whether somebody may wait.
  private let isAwaited = Atomic(false)
  /// The thread that opens; 0 when that is over.
  private let opener = Atomic<UInt>(WaitForGraph.thread)
  private let outcome = Locked<Result<Environment, any Error>?>(nil)
  private var key: UInt { UInt(bitPattern: ObjectIdentifier(self)) }

  /// Says that somebody will wait. Under the registry's lock, while the opening is listed there.
  func expectWaiting() { isAwaited.store(true, ordering: .relaxed) }

  /// The session, once it is there.
  ///
  /// - Throws: what opening it has thrown; `.cyclicDependency` where the calling thread would wait for itself.
  func wait(in scope: String) throws -> Environment {
    if opener.load(ordering: .acquiring) == WaitForGraph.thread {
      throw EnvironmentError(
        cause: .circleOfSessions, "what opens a session opens that session again", path: ["'\(scope)'"])
    }
    while true {
      try WaitForGraph.wait(for: key, "a session", in: scope, origin: nil) {
        let opener = opener.load(ordering: .acquiring)
        return opener == 0 ? nil : opener
      }
      if let outcome = outcome.withLock({ $0 }) { return try outcome.get() }
    }
  }

  /// Called when the registry lists the opening no longer.
  func end(_ outcome: Result<Environment, any Error>) {
    self.outcome.withLock { $0 = outcome }
    opener.store(0, ordering: .releasing)
    if isAwaited.load(ordering: .relaxed) { WaitForGraph.end(key, nil) }
  }
}
