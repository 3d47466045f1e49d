public import Beans
public import BeansEventLoop

/// The scope of one session: it ends by itself when nobody has used it for a while, and releases on its loop's thread.
///
/// A lookup in the session's environment, a `touch()`, a live request and `SessionRegistry.withSession` all count as use; the
/// idle time begins when the last request has ended, or the last one has left. One object per child: do not share it.
public final class SessionScope: LoopScope, ScopeOfOneName, @unchecked Sendable {
  // Adds nothing to its superclass.
  package static let scopeName = "session"

  /// Creates the scope of one session.
  ///
  /// - Parameters:
  ///   - loop: where the beans are released, and whose timer ends the session.
  ///   - idleTimeout: how long nobody has to use it. Rounded up to the loop's milliseconds.
  public init(loop: EventLoop, idleTimeout: Duration) {
    super.init(name: Self.scopeName, loop: loop, idleTimeout: idleTimeout)
  }
}
