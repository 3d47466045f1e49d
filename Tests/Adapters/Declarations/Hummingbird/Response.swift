// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import HTTPTypes

public struct ByteBuffer: Sendable {
  public let string: String

  public init(string: String) { self.string = string }
}

extension String {
  public init(buffer: ByteBuffer) { self = buffer.string }
}

public protocol ResponseBodyWriter {
  mutating func write(_ buffer: ByteBuffer) async throws
  consuming func finish(_ trailingHeaders: [String: String]?) async throws
}

public struct ResponseBody: Sendable {
  public let contentLength: Int?
  private let body: @Sendable (inout any ResponseBodyWriter) async throws -> Void

  public init(
    contentLength: Int? = nil, _ write: @Sendable @escaping (inout any ResponseBodyWriter) async throws -> Void
  ) { (self.contentLength, body) = (contentLength, write) }

  public init() { self.init(byteBuffer: ByteBuffer(string: "")) }

  public init(byteBuffer: ByteBuffer) {
    self.init(contentLength: byteBuffer.string.utf8.count) { writer in
      try await writer.write(byteBuffer)
      try await writer.finish(nil)
    }
  }

  public consuming func write(_ writer: consuming any ResponseBodyWriter) async throws { try await body(&writer) }
}

public struct Response: Sendable {
  public var status: HTTPResponse.Status
  public var body: ResponseBody
  /// The cookies that the response sets.
  public private(set) var cookies: [String: String] = [:]
  public var headers = HTTPFields()

  public init(status: HTTPResponse.Status, body: ResponseBody = ResponseBody()) {
    (self.status, self.body) = (status, body)
  }

  public mutating func setCookie(_ cookie: Cookie) {
    cookies[cookie.name] = cookie.value
    headers[.setCookie] = "\(cookie.name)=\(cookie.value); Path=/"
  }
}

public protocol ResponseGenerator: SendableMetatype {
  func response(from request: Request, context: some RequestContext) throws -> Response
}

extension Response: ResponseGenerator {
  public func response(from request: Request, context: some RequestContext) throws -> Response { self }
}

extension String: ResponseGenerator {
  public func response(from request: Request, context: some RequestContext) throws -> Response {
    Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: self)))
  }
}
