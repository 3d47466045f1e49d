import HTTPTypes
import OpenAPIRuntime

// The code that swift-openapi-generator writes for an API with one operation, reduced to the listings' needs.

protocol APIProtocol: Sendable {
  func addItem(_ input: Operations.AddItem.Input) async throws -> Operations.AddItem.Output
}

enum Components {
  struct Cart: Hashable, Sendable { var items: [String] }
}

enum Operations {
  enum AddItem {
    struct Input: Sendable { var item: String }

    enum Output: Hashable, Sendable { case created(Components.Cart) }
  }
}

extension APIProtocol {
  func registerHandlers(on transport: any ServerTransport, middlewares: [any ServerMiddleware] = []) throws {
    try register(on: transport, middlewares, "addItem", .post) { item in
      guard case .created(let cart) = try await addItem(.init(item: item)) else { return "" }
      return cart.items.joined(separator: " ")
    }
  }

  private func register(
    on transport: any ServerTransport, _ middlewares: [any ServerMiddleware], _ operation: String,
    _ method: HTTPRequest.Method, _ body: @escaping @Sendable (String) async throws -> String
  ) throws {
    var handler: @Sendable (HTTPRequest, HTTPBody?, ServerRequestMetadata) async throws -> (HTTPResponse, HTTPBody?)
    handler = { _, input, _ in (HTTPResponse(status: .ok), HTTPBody(try await body(input?.text ?? ""))) }
    for middleware in middlewares.reversed() {
      let next = handler
      handler = { request, body, metadata in
        try await middleware.intercept(request, body: body, metadata: metadata, operationID: operation, next: next)
      }
    }
    try transport.register(handler, method: method, path: "/cart")
  }
}
