import Beans
@_spi(BeansPackage) import BeansErrors
import Synchronization

/// A session that one thread opens, with the threads that wait for it.
final class SessionOpening: Sendable {
  /// Whether a thread may wait.
  private let isAwaited = Atomic(false)
  /// The thread that opens the session; 0 when the opening is over.
  private let opener = Atomic<UInt>(WaitForGraph.thread)
  private let outcome = Locked<Result<SessionTable.Found, any Error>?>(nil)
  private var key: WaitForGraph.Key { WaitForGraph.Key(self) }

  /// Announces a waiting thread. Called under the lock of `Sessions`, while the opening is listed there.
  func expectWaiting() { isAwaited.store(true, ordering: .relaxed) }

  /// Returns the session when it is open.
  ///
  /// - Throws: the error of opening it; `.cyclicDependency` if the calling thread would wait for itself.
  func wait(in scope: String) throws -> SessionTable.Found {
    if opener.load(ordering: .acquiring) == WaitForGraph.thread {
      throw EnvironmentError(
        cause: .circleOfSessions, "the opener of a session opens the same session again", path: ["'\(scope)'"])
    }
    while true {
      try WaitForGraph.wait(for: key, "a session", in: scope, origin: nil) {
        let opener = opener.load(ordering: .acquiring)
        return opener == 0 ? nil : opener
      }
      if let outcome = outcome.withLock({ $0 }) { return try outcome.get() }
    }
  }

  /// Publishes the outcome. Called after `Sessions` has removed the opening from its list.
  func end(_ outcome: Result<SessionTable.Found, any Error>) {
    self.outcome.withLock { $0 = outcome }
    opener.store(0, ordering: .releasing)
    if isAwaited.load(ordering: .relaxed) { WaitForGraph.end(key, nil) }
  }
}
