/// A request that is answered with an error status instead of a handler's response.
///
/// Thrown by the parser (the connection closes after the answer, because the next message boundary is not known) and by
/// handlers (the connection goes on).
struct HTTPError: Error, Equatable, Sendable, CustomStringConvertible {
  let status: HTTPStatus
  /// One plain sentence that is shown to the client; must not quote anything the client sent.
  let message: String

  init(_ status: HTTPStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  var description: String { "\(status.rawValue) \(status.reason): \(message)" }
}
