// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import HTTPTypes

// Declarations for the listings of the article on OpenAPI handlers, with the signatures of swift-openapi-runtime.

public protocol ServerMiddleware: Sendable {
  func intercept(
    _ request: HTTPRequest, body: HTTPBody?, metadata: ServerRequestMetadata, operationID: String,
    next: @Sendable (HTTPRequest, HTTPBody?, ServerRequestMetadata) async throws -> (HTTPResponse, HTTPBody?)
  ) async throws -> (HTTPResponse, HTTPBody?)
}

public protocol ServerTransport {
  func register(
    _ handler:
      @Sendable @escaping (HTTPRequest, HTTPBody?, ServerRequestMetadata) async throws -> (
        HTTPResponse, HTTPBody?
      ), method: HTTPRequest.Method, path: String
  ) throws
}

public struct ServerRequestMetadata: Hashable, Sendable {
  public var pathParameters: [String: Substring]

  public init(pathParameters: [String: Substring] = [:]) { self.pathParameters = pathParameters }
}

/// A body that is one text.
public final class HTTPBody: Sendable {
  public let text: String

  public init(_ string: String) { text = string }
}
