// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
public import HTTPTypes

public protocol MiddlewareProtocol<Input, Output, Context>: Sendable {
  associatedtype Input
  associatedtype Output
  associatedtype Context

  func handle(_ input: Input, context: Context, next: (Input, Context) async throws -> Output) async throws -> Output
}

public protocol RouterMiddleware<Context>: MiddlewareProtocol where Input == Request, Output == Response {}

public struct RouterPath: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
  public let description: String

  public init(stringLiteral value: String) { description = value }

  /// Returns the parameters of the path, nil where it is another one.
  func parameters(of path: String) -> [String: String]? {
    let (own, other) = (description.split(separator: "/"), path.split(separator: "/"))
    guard own.count == other.count else { return nil }
    var found: [String: String] = [:]
    for (own, other) in zip(own, other) {
      if own.hasPrefix(":") { found[String(own.dropFirst())] = String(other) } else if own != other { return nil }
    }
    return found
  }
}

public protocol RouterMethods<Context>: SendableMetatype {
  associatedtype Context: RequestContext

  /// Takes the place of `on(_:method:responder:)`.
  func add(
    _ path: RouterPath, _ method: HTTPRequest.Method,
    _ responder: @escaping @Sendable (Request, Context) async throws -> Response
  ) -> Self
}

extension RouterMethods {
  @discardableResult public func on(
    _ path: RouterPath, method: HTTPRequest.Method,
    use closure: @Sendable @escaping (Request, Context) async throws -> some ResponseGenerator
  ) -> Self {
    add(path, method) { request, context in
      try await closure(request, context).response(from: request, context: context)
    }
  }
}

public final class Router<Context: RequestContext>: RouterMethods {
  typealias Responder = @Sendable (Request, Context) async throws -> Response
  private var routes: [(path: RouterPath, method: HTTPRequest.Method, responder: Responder)] = []
  private var middlewares: [any MiddlewareProtocol<Request, Response, Context>] = []

  public init(context: Context.Type = BasicRequestContext.self) {}

  @discardableResult public func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self {
    middlewares.append(middleware)
    return self
  }

  public func add(
    _ path: RouterPath, _ method: HTTPRequest.Method,
    _ responder: @escaping @Sendable (Request, Context) async throws -> Response
  ) -> Self {
    var next = responder
    for middleware in middlewares.reversed() {
      let inner = next
      next = { request, context in try await Self.pass(request, context, through: middleware, to: inner) }
    }
    routes.append((path, method, next))
    return self
  }

  private static func pass(
    _ request: Request, _ context: Context, through middleware: some MiddlewareProtocol<Request, Response, Context>,
    to next: @escaping Responder
  ) async throws -> Response {
    try await middleware.handle(request, context: context) { request, context in try await next(request, context) }
  }

  public func buildResponder() -> RouterResponder<Context> { RouterResponder(routes) }
}

public protocol HTTPResponder<Context>: Sendable {
  associatedtype Context

  @Sendable func respond(to request: Request, context: Context) async throws -> Response
}

public struct CallbackResponder<Context>: HTTPResponder {
  private let callback: @Sendable (Request, Context) async throws -> Response

  public init(callback: @escaping @Sendable (Request, Context) async throws -> Response) { self.callback = callback }

  public func respond(to request: Request, context: Context) async throws -> Response {
    try await callback(request, context)
  }
}

public struct RouterResponder<Context: RequestContext>: HTTPResponder {
  private let routes: [(path: RouterPath, method: HTTPRequest.Method, responder: Router<Context>.Responder)]

  init(_ routes: [(path: RouterPath, method: HTTPRequest.Method, responder: Router<Context>.Responder)]) {
    self.routes = routes
  }

  public func respond(to request: Request, context: Context) async throws -> Response {
    for route in routes where route.method == request.method {
      guard let parameters = route.path.parameters(of: request.uri.path) else { continue }
      var context = context
      context.coreContext.parameters = Parameters(parameters)
      return try await route.responder(request, context)
    }
    throw HTTPError(.notFound)
  }
}
