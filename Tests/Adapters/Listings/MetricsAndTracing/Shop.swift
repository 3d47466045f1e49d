import Tracing

/// The requests of the article.
struct Request: Sendable {
  let path: String
}

struct NotFound: Error {}

final class Handler: Sendable {
  private let request: Request

  init(request: Request) { self.request = request }

  func respond() async throws -> String {
    let span = startSpan("query")
    defer { span.end() }
    if request.path == "/" { return "welcome" }
    throw NotFound()
  }
}
