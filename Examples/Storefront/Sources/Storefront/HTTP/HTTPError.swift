/// An error status that replaces a handler's response.
///
/// The parser throws it (the connection closes after the response, because the next message boundary is not known), and
/// so do handlers (the connection stays open).
public struct HTTPError: Error, Equatable, Sendable, CustomStringConvertible {
  let status: HTTPStatus
  /// One plain sentence for the client; must not quote any text that the client sent.
  let message: String
  /// The number of seconds after which the client may try again; nil if a retry is useless.
  let retryAfter: Int?

  init(_ status: HTTPStatus, _ message: String, retryAfter: Int? = nil) {
    self.status = status
    self.message = message
    self.retryAfter = retryAfter
  }

  /// The status and the message.
  public var description: String { "\(status.rawValue) \(status.reason): \(message)" }
}
