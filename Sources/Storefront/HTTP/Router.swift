/// Which handler answers which method and path. Paths are compared exactly; `HEAD` is answered by the handler of `GET`.
///
/// Filled before the server starts and read-only from then on. A look-up hashes the path once.
struct Router<Handler: Sendable>: Sendable {
  enum Match {
    case found(Handler)
    /// The path is known, the method is not. `allow` is the value of the `Allow` field.
    case methodNotAllowed(allow: String)
    /// `OPTIONS *`, which asks about the whole server and wants no more than an answer.
    case wholeServer
    case notFound
  }

  private var routes: [String: [(method: HTTPMethod, handler: Handler)]] = [:]

  /// A later handler for the same method and path replaces an earlier one.
  mutating func on(_ method: HTTPMethod, _ path: String, _ handler: Handler) {
    routes[path, default: []].removeAll { $0.method == method }
    routes[path, default: []].append((method, handler))
  }

  func match(_ method: HTTPMethod, _ path: String) -> Match {
    guard let handlers = routes[path] else { return method == .options && path == "*" ? .wholeServer : .notFound }
    let wanted = method == .head && !handlers.contains { $0.method == .head } ? HTTPMethod.get : method
    if let found = handlers.first(where: { $0.method == wanted }) { return .found(found.handler) }
    var names = handlers.map(\.method.name)
    if names.contains("GET"), !names.contains("HEAD") { names.append("HEAD") }
    return .methodNotAllowed(allow: names.sorted().joined(separator: ", "))
  }

  /// The answer where `match` found no handler.
  static func refusal(_ match: Match) throws(HTTPError) -> HTTPResponse? {
    switch match {
    case .found:
      return nil
    case .wholeServer:
      return HTTPResponse(.noContent)
    case .notFound:
      return HTTPResponse(HTTPError(.notFound, "There is nothing here."))
    case .methodNotAllowed(let allow):
      var response = HTTPResponse(HTTPError(.methodNotAllowed, "The method is not allowed here."))
      try response.addField("Allow", allow)
      return response
    }
  }
}
