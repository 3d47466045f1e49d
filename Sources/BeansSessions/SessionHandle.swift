public import Beans
@_spi(BeansPackage) import BeansErrors

/// The session in which a request runs.
public final class SessionHandle: Sendable {
  /// The environment that holds the beans of the session. It ends when the last request has left the session.
  public let environment: Environment
  /// Whether the store does not have the session: the client sent no id, or an unknown one.
  public let isNew: Bool
  private let wish = Locked(Wish())

  private struct Wish {
    var rotates = false
    var ends = false
  }

  init(_ environment: Environment, isNew: Bool) {
    self.environment = environment
    self.isNew = isNew
  }

  /// Replaces the id of the session when the request has ended, such as at a login. An attacker who has learnt or
  /// planted the old id then holds a worthless one. Has no effect on a new session, whose id has not been sent to any
  /// client. From any thread.
  public func rotate() { wish.withLock { $0.rotates = true } }

  /// Ends the session when the request has ended, such as at a logout. The changes of the request are not saved. From
  /// any thread.
  public func end() { wish.withLock { $0.ends = true } }

  var wantsRotation: Bool { wish.withLock { $0.rotates } }
  var wantsEnd: Bool { wish.withLock { $0.ends } }
}

/// The change of a client's cookie after a request.
public enum SessionCookie: Sendable, Hashable {
  /// The cookie stays as it is, or there is still none.
  case unchanged
  /// The cookie becomes this id.
  case set(String)
  /// The session has ended; the client removes its cookie.
  case removed
}
