// listing
import BeansLogging
import HTTPTypes
import Hummingbird

/// Hands Hummingbird's id of a request on in a header: the seed of its environment then has it.
struct RequestIds<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var head = request.head
    head.headerFields[.requestId] = context.id  // replaces one that the client has sent
    return try await next(Request(head: head, body: request.body), context)
  }
}

extension Request {
  var id: String { headers[.requestId] ?? "" }
}

extension HTTPField.Name {
  fileprivate static let requestId = Self("X-Request-Id")!
}

/// Writes every line as JSON. Call it first in `main`, before a logger is made.
func installLogs(to destination: BeansLogging.Log = ConsoleLog(name: "console", formatter: .json())) {
  receive(in: [destination])
}
// end
