/// The status codes of this service's responses.
public enum HTTPStatus: Int, Sendable, CaseIterable {
  case `continue` = 100
  case ok = 200
  case created = 201
  case noContent = 204
  case seeOther = 303
  case notModified = 304
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case conflict = 409
  case contentTooLarge = 413
  case uriTooLong = 414
  case unsupportedMediaType = 415
  case expectationFailed = 417
  case misdirectedRequest = 421
  case unprocessableContent = 422
  case headerFieldsTooLarge = 431
  case internalServerError = 500
  case notImplemented = 501
  case serviceUnavailable = 503
  case versionNotSupported = 505

  /// The reason phrase of RFC 9110.
  var reason: StaticString {
    switch self {
    case .continue: "Continue"
    case .ok: "OK"
    case .created: "Created"
    case .noContent: "No Content"
    case .seeOther: "See Other"
    case .notModified: "Not Modified"
    case .badRequest: "Bad Request"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .conflict: "Conflict"
    case .contentTooLarge: "Content Too Large"
    case .uriTooLong: "URI Too Long"
    case .unsupportedMediaType: "Unsupported Media Type"
    case .expectationFailed: "Expectation Failed"
    case .misdirectedRequest: "Misdirected Request"
    case .unprocessableContent: "Unprocessable Content"
    case .headerFieldsTooLarge: "Request Header Fields Too Large"
    case .internalServerError: "Internal Server Error"
    case .notImplemented: "Not Implemented"
    case .serviceUnavailable: "Service Unavailable"
    case .versionNotSupported: "HTTP Version Not Supported"
    }
  }

  /// Whether a response may carry a body; independent of the request.
  var mayHaveBody: Bool {
    switch self {
    case .continue, .noContent, .notModified: false
    default: true
    }
  }
}
