/// The response of a handler. The server sets the fields that frame the message, see `serialise`.
public struct HTTPResponse: Sendable {
  var status: HTTPStatus
  var body: [UInt8]
  /// The field lines, each with its CR LF.
  private(set) var fieldLines: [UInt8] = []

  /// Whether the request has succeeded.
  var isSuccess: Bool { status.rawValue < 400 }

  init(_ status: HTTPStatus, body: [UInt8] = []) {
    self.status = status
    self.body = body
  }

  /// Creates a response of plain text.
  public static func text(_ status: HTTPStatus, _ text: String) -> HTTPResponse {
    typed(status, "text/plain; charset=utf-8", Array(text.utf8))
  }

  static func html(_ status: HTTPStatus, _ body: [UInt8]) -> HTTPResponse {
    typed(status, "text/html; charset=utf-8", body)
  }

  /// Creates a response of JSON.
  public static func json(_ status: HTTPStatus, _ body: [UInt8]) -> HTTPResponse {
    typed(status, "application/json", body)
  }

  /// Returns a `303`: the browser shows `location` with GET. `location` is a literal, so no text of a client can get
  /// into the field.
  static func seeOther(_ location: StaticString) -> HTTPResponse {
    var response = HTTPResponse(.seeOther)
    response.append("Location", location)
    return response
  }

  /// Creates the response to a refused request, as JSON with one field `error`.
  init(_ error: HTTPError) {
    self = .json(error.status, JSONWriter.object { $0.field("error", error.message) })
    if let seconds = error.retryAfter { fieldLines.append(contentsOf: "Retry-After: \(seconds)\r\n".utf8) }
  }

  /// Adds a field. Throws `500` if the name is no token, if the value has a line end or another control character, or
  /// if the field is one that frames the message (`Content-Length`, `Transfer-Encoding`, `Connection`, `Date`).
  mutating func addField(_ name: String, _ value: String) throws(HTTPError) {
    guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken), !Self.ownedByServer.contains(name.lowercased()) else {
      throw HTTPError(.internalServerError, "The response field's name is not allowed.")
    }
    guard value.utf8.allSatisfy(ASCII.isFieldText) else {
      throw HTTPError(.internalServerError, "The response field's value is not allowed.")
    }
    fieldLines.append(contentsOf: name.utf8)
    fieldLines.append(contentsOf: ": ".utf8)
    fieldLines.append(contentsOf: value.utf8)
    fieldLines.append(contentsOf: "\r\n".utf8)
  }

  /// Adds a `Set-Cookie` field.
  public mutating func addCookie(_ cookie: HTTPCookie) {
    fieldLines.append(contentsOf: "Set-Cookie: \(cookie.fieldValue)\r\n".utf8)
  }

  /// Appends the whole message to `output`.
  ///
  /// - Parameters:
  ///   - output: receives the message.
  ///   - isHead: whether the request was HEAD; the response then has the length but no body.
  ///   - keepAlive: false adds `Connection: close`; true adds `Connection: keep-alive` if `isOld` is true.
  ///   - isOld: whether the request was of HTTP/1.0, whose clients expect a close by default.
  ///   - date: a value of `HTTPDate`.
  func serialise(into output: inout [UInt8], isHead: Bool, keepAlive: Bool, isOld: Bool = false, date: [UInt8]) {
    output.reserveCapacity(output.count + 160 + fieldLines.count + body.count)
    if status == .ok {
      // The usual case, so in one piece.
      output.append(literal: "HTTP/1.1 200 OK\r\nDate: ")
    } else {
      output.append(literal: "HTTP/1.1 ")
      output.appendDecimal(status.rawValue)
      output.append(ASCII.space)
      output.append(literal: status.reason)
      output.append(literal: "\r\nDate: ")
    }
    output.append(contentsOf: date)
    if status.mayHaveBody {
      output.append(literal: "\r\nContent-Length: ")
      output.appendDecimal(body.count)
    }
    if !keepAlive {
      output.append(literal: "\r\nConnection: close\r\n")
    } else if isOld {
      output.append(literal: "\r\nConnection: keep-alive\r\n")
    } else {
      output.append(literal: "\r\n")
    }
    output.append(contentsOf: fieldLines)
    output.append(literal: "\r\n")
    if status.mayHaveBody, !isHead { output.append(contentsOf: body) }
  }

  private static let ownedByServer: Set<String> = ["content-length", "transfer-encoding", "connection", "date"]

  private static func typed(_ status: HTTPStatus, _ type: StaticString, _ body: [UInt8]) -> HTTPResponse {
    var response = HTTPResponse(status, body: body)
    response.append("Content-Type", type)
    return response
  }

  private mutating func append(_ name: StaticString, _ value: StaticString) {
    fieldLines.append(literal: name)
    fieldLines.append(literal: ": ")
    fieldLines.append(literal: value)
    fieldLines.append(literal: "\r\n")
  }
}
