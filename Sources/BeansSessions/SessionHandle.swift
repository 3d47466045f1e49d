public import Beans
@_spi(BeansPackage) import BeansSupport

/// The session that a request is inside of.
public final class SessionHandle: Sendable {
  /// Where the beans of the session live. Ends when the last request has left.
  public let environment: Environment
  /// Whether the store does not have the session: there was no id, or none that is known.
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

  /// Gives the session a new id when the request has ended, such as at a login: whoever has learnt or planted the old one is
  /// left with nothing. Has no effect on a new session, whose id nobody knows. From any thread.
  public func rotate() { wish.withLock { $0.rotates = true } }

  /// Ends the session when the request has ended, such as at a logout. What the request has changed is not saved. From any
  /// thread.
  public func end() { wish.withLock { $0.ends = true } }

  var wantsRotation: Bool { wish.withLock { $0.rotates } }
  var wantsEnd: Bool { wish.withLock { $0.ends } }
}

/// What a request inside of a session has come to.
public struct SessionAnswer<Value> {
  /// What the request's closure returned.
  public var value: Value
  /// What the client has to be told.
  public var cookie: SessionCookie
}

extension SessionAnswer: Sendable where Value: Sendable {}

/// What becomes of the client's cookie.
public enum SessionCookie: Sendable, Hashable {
  /// It stays as it is, or there is still none.
  case unchanged
  /// It becomes this id.
  case set(String)
  /// The session has been ended.
  case removed
}
