/// A table from method and path to handler. Paths are compared exactly; the handler of `GET` also handles `HEAD`.
///
/// Filled before the server starts and read-only after that. A look-up hashes the path once.
struct Router<Handler: Sendable>: Sendable {
  enum Match {
    case found(Handler)
    /// The path exists, but not for the method. `allow` is the value of the `Allow` field.
    case methodNotAllowed(allow: String)
    /// The request is `OPTIONS *`, which concerns the whole server and needs an empty response.
    case wholeServer
    case notFound
  }

  private var routes: [String: [(method: HTTPMethod, handler: Handler)]] = [:]

  /// Adds a handler. A later one for the same method and path replaces an earlier one.
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

  /// Returns the response if `match` found no handler; nil if it found one.
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
