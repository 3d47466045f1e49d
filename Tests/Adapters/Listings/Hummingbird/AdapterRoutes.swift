// listing
import Beans
import Hummingbird

extension RouterMethods {
  /// Adds a route whose handler takes beans of the scope. Startup of the environment checks that they are declared.
  @discardableResult
  func on<each Bean>(
    _ path: RouterPath, _ method: HTTPRequest.Method, in environment: Beans.Environment, scope: String = "request",
    _ beans: repeat (each Bean).Type, file: StaticString = #fileID, line: UInt = #line,
    use handler: @escaping @Sendable (Request, Context, repeat each Bean) async throws -> some ResponseGenerator
  ) throws -> Self {
    // Declares the needs of the route; never built.
    let route = environment.bean(RouterPath.self, lazy: true, file: file, line: line, factory: { path }).scope(scope)
    repeat _ = route.requires((each Bean).self)
    try environment.define(route)
    return on(path, method: method) { request, context in
      guard let child = Beans.Environment.current else { throw HTTPError(.internalServerError) }
      return try await handler(request, context, repeat child.getBean((each Bean).self))
    }
  }
}
// end
