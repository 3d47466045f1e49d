// listing
import Beans
import Vapor

/// Opens an environment for each request, which ends when the handler has returned or failed.
struct RequestEnvironments: AsyncMiddleware {
  let requests: EnvironmentFactory<Request>

  func respond(to request: Request, chainingTo next: any AsyncResponder) async throws -> Response {
    try await requests.withChild(request) { child in
      request.storage[EnvironmentKey.self] = child
      return try await next.respond(to: request)
    }
  }
}

private enum EnvironmentKey: StorageKey { typealias Value = Beans.Environment }

extension Request {
  /// Returns a bean of the request; also in handlers with futures, in which no environment is current.
  func bean<T>(_ type: T.Type, file: StaticString = #fileID, line: UInt = #line) throws -> T {
    guard let child = storage[EnvironmentKey.self] else { throw Abort(.internalServerError) }
    return try child.getBean(type, file: file, line: line)
  }
}
// end
