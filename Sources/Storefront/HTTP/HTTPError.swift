/// A request that is answered with an error status instead of a handler's response.
///
/// Thrown by the parser (the connection closes after the answer, because the next message boundary is not known) and by
/// handlers (the connection goes on).
struct HTTPError: Error, Equatable, Sendable, CustomStringConvertible {
  let status: HTTPStatus
  /// One plain sentence that is shown to the client; must not quote anything the client sent.
  let message: String
  /// After how many seconds the client may try again; nil where that is of no use.
  let retryAfter: Int?

  init(_ status: HTTPStatus, _ message: String, retryAfter: Int? = nil) {
    self.status = status
    self.message = message
    self.retryAfter = retryAfter
  }

  var description: String { "\(status.rawValue) \(status.reason): \(message)" }
}
