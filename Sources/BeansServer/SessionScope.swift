public import Beans
public import BeansEventLoop

/// The scope of one session: ends after a time without use, and releases its beans on its loop's thread.
///
/// A lookup in the session's environment, a `touch()`, a live request and `Sessions.withSession` are uses; the
/// idle time begins at the end of the last request, or of the last `withSession`. One object per child: do not share
/// it.
public final class SessionScope: LoopScope, ScopeOfOneName, @unchecked Sendable {
  // Adds nothing to its superclass.
  package static let scopeName = "session"

  /// Creates the scope of one session.
  ///
  /// - Parameters:
  ///   - loop: the loop on which the beans are released, and whose timer ends the session.
  ///   - idleTimeout: the time without use after which the session ends. Rounded up to the loop's milliseconds.
  public init(loop: EventLoop, idleTimeout: Duration) {
    super.init(name: Self.scopeName, loop: loop, idleTimeout: idleTimeout)
  }
}
