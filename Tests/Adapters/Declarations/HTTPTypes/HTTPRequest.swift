// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the articles on servers, with the signatures of swift-http-types.

public struct HTTPRequest: Sendable, Hashable {
  public struct Method: Sendable, Hashable {
    public let rawValue: String

    public static let get = Method(rawValue: "GET")
    public static let post = Method(rawValue: "POST")
    public static let put = Method(rawValue: "PUT")
  }

  public var method: Method
  public var path: String?
  public var headerFields: HTTPFields

  public init(
    method: Method, scheme: String?, authority: String?, path: String?, headerFields: HTTPFields = [:]
  ) { (self.method, self.path, self.headerFields) = (method, path, headerFields) }
}

public struct HTTPResponse: Sendable, Hashable {
  public struct Status: Sendable, Hashable {
    public let code: Int

    public init(code: Int) { self.code = code }

    public static let ok = Status(code: 200)
    public static let badRequest = Status(code: 400)
    public static let unauthorized = Status(code: 401)
    public static let notFound = Status(code: 404)
    public static let contentTooLarge = Status(code: 413)
    public static let internalServerError = Status(code: 500)
  }

  public var status: Status

  public init(status: Status) { self.status = status }
}
