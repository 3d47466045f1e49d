/// An event of a session, which `Sessions` reports to its observer. Identifies the session by its id.
///
/// Each session has one `opened` event before all others, and one of `expired`, `evicted` and `ended` after all others.
/// The last one is reported on the opening thread if the session has ended while it was being opened. Ids are secrets
/// between the service and a browser: keep them out of logs.
public enum SessionEvent: Sendable, Hashable {
  /// A session has been opened. Reported on the opening thread, before the session can be found.
  case opened(String)
  /// The id of a session has been replaced. Reported on the thread that called `rotate(_:)`, before that returns.
  case rotated(from: String, to: String)
  /// A session has ended because its idle time or its deadline has passed. Reported after the release of its beans, on
  /// the thread that released them.
  case expired(String)
  /// A session has been evicted to make room for another one. Reported after the release of its beans, on the thread
  /// that released them.
  case evicted(String)
  /// A session has ended for another reason: by `end(_:)`, or by the end of its environment or of one above it.
  /// Reported after the release of its beans, on the thread that released them.
  case ended(String)
}
