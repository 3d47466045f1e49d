/// The reason why a session could not be opened, saved or ended.
public enum SessionError: Error, Sendable, Equatable {
  /// The store cannot be reached, or has not replied in time. Nothing of the request has been written. This differs
  /// from a missing session: the client keeps its cookie and should retry later.
  case unavailable(String)
  /// The changes of the request have been written as a whole, in part or not at all. Either the connection to the store
  /// was lost after a change had been sent, or an earlier call has written a part and a later call has failed.
  case outcomeUnknown(String)
  /// The session has ended, has expired or has received another id since the request began. Nothing of the request has
  /// been written.
  case ended
  /// Other requests have changed the named values, which are declared with ``SessionConflictRule/refuse``. Nothing of
  /// the request has been written, so the request may run again.
  case conflict([String])
  /// The values of the session would take more bytes than the store's limit. Nothing of the request has been written.
  case tooLarge(bytes: Int, limit: Int)
  /// The named value cannot be encoded. Nothing of the request has been written.
  case notEncodable(String, reason: String)
}

extension SessionError: CustomStringConvertible {
  /// The message of the error. It contains no id, because ids are secret.
  public var description: String {
    switch self {
    case .unavailable(let reason): "the session store is not available: \(reason)"
    case .outcomeUnknown(let reason): "the session store may or may not have saved a change: \(reason)"
    case .ended: "the session has ended, or has got another id, since the request began"
    case .conflict(let names):
      "others have changed \(names.map { "'\($0)'" }.joined(separator: ", ")) since the request began"
    case .tooLarge(let bytes, let limit): "the session would take \(bytes) bytes, and may take \(limit)"
    case .notEncodable(let name, let reason): "the value '\(name)' cannot be encoded: \(reason)"
    }
  }
}

extension SessionError {
  /// Whether the cause is the store and not the request. The client keeps its cookie and should retry later: in HTTP,
  /// reply with the status 503 and a `Retry-After`.
  public var isTemporary: Bool {
    switch self {
    case .unavailable, .outcomeUnknown: true
    case .ended, .conflict, .tooLarge, .notEncodable: false
    }
  }
}
