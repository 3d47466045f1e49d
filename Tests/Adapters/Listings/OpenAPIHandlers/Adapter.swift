// listing
import Beans
import HTTPTypes
import OpenAPIRuntime

/// The seed of a request's environment.
struct Operation: Sendable {
  let id: String
  let request: HTTPRequest
}

/// Runs each operation in an environment of its own, which ends when the operation has returned.
struct RequestEnvironments: ServerMiddleware {
  let requests: EnvironmentFactory<Operation>

  func intercept(
    _ request: HTTPRequest, body: HTTPBody?, metadata: ServerRequestMetadata, operationID: String,
    next: @Sendable (HTTPRequest, HTTPBody?, ServerRequestMetadata) async throws -> (HTTPResponse, HTTPBody?)
  ) async throws -> (HTTPResponse, HTTPBody?) {
    try await requests.withChild(Operation(id: operationID, request: request)) { _ in
      try await next(request, body, metadata)
    }
  }
}
// end
