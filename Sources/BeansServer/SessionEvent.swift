/// What a `SessionRegistry` tells its observer about a session, which it names by its id.
///
/// A session is told of as opened once, before everything else, and once by one of `expired`, `evicted` and `ended`, after
/// everything else; that is told on the thread that opens it where the session has ended while it was being opened. Ids are
/// secrets between the service and a browser: keep them out of logs.
public enum SessionEvent: Sendable, Hashable {
  /// A session has been opened. Told on the thread that opens it, before the session can be found.
  case opened(String)
  /// A session has got another id. Told on the thread that called `rotate(_:)`, before that returns.
  case rotated(from: String, to: String)
  /// A session has ended because nobody used it for as long as its scope says, or because its deadline has passed. Told
  /// after the release of its beans, on the thread that released them.
  case expired(String)
  /// A session has ended to make room for another one. Told after the release of its beans, on the thread that released
  /// them.
  case evicted(String)
  /// A session has ended for another reason: the registry, the session's environment or one above it was told to end.
  /// Told after the release of its beans, on the thread that released them.
  case ended(String)
}
