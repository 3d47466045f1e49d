/// A response of `Operations`, for any HTTP server to send.
public struct OperationsResponse: Sendable {
  /// The status code.
  public let status: Int
  /// The value of the `Content-Type` field.
  public let contentType: String
  /// The further header fields, with names in the usual spelling.
  public let headers: [(name: String, value: String)]
  /// The body, to be omitted in the response to a HEAD.
  public let body: [UInt8]

  init(_ status: Int, _ contentType: String, _ body: [UInt8], headers: [(name: String, value: String)] = []) {
    self.status = status
    self.contentType = contentType
    self.headers = headers + [("Cache-Control", "no-store")]
    self.body = body
  }

  static func json(_ status: Int = 200, _ json: JSON) -> OperationsResponse {
    OperationsResponse(status, "application/json", json.bytes)
  }

  static func text(_ text: String) -> OperationsResponse {
    OperationsResponse(200, "text/plain; charset=utf-8", Array(text.utf8))
  }

  static func refusal(_ status: Int, _ reason: String, headers: [(name: String, value: String)] = [])
    -> OperationsResponse
  {
    OperationsResponse(status, "application/json", JSON.object([("error", .string(reason))]).bytes, headers: headers)
  }
}
