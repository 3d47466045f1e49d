/// A request of a client, from any server.
public struct Request: Sendable {
  let method: String
  let path: String
  let session: String?
  let body: String

  /// Creates a request; `session` is the value of the session's cookie.
  public init(method: String, path: String, session: String? = nil, body: String = "") {
    (self.method, self.path, self.session, self.body) = (method, path, session, body)
  }
}

/// A response, for any server to send. A handler throws it to refuse its request.
public struct Response: Error, Equatable {
  /// The status code.
  public let status: Int
  /// The text.
  public let body: String
  /// The new value of the session's cookie; nil if the client keeps its cookie.
  public internal(set) var session: String?
}
