import Beans
import HTTPTypes
import OpenAPIRuntime
import Synchronization
import Testing

@testable import OpenAPIHandlersListings

@Suite("OpenAPI handlers") struct OpenAPIHandlersTests {
  /// A transport that calls the registered handlers.
  final class Transport: ServerTransport {
    typealias Handler =
      @Sendable (HTTPRequest, HTTPBody?, ServerRequestMetadata) async throws -> (
        HTTPResponse, HTTPBody?
      )

    private let handlers = Mutex<[HTTPRequest.Method: Handler]>([:])

    func register(_ handler: @escaping Handler, method: HTTPRequest.Method, path: String) throws {
      handlers.withLock { $0[method] = handler }
    }

    func call(_ method: HTTPRequest.Method, _ body: String = "") async throws -> String? {
      let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/cart")
      let handler = try #require(handlers.withLock { $0[method] })
      return try await handler(request, HTTPBody(body), ServerRequestMetadata()).1?.text
    }
  }

  @Test("A singleton reaches the beans of each request")
  func singleton() async throws {
    let shop = try Environment()
    try declareShop(in: shop)
    let transport = Transport()
    try serve(shop, on: transport)
    #expect(try await transport.call(.post, "apple") == "apple@addItem")
    #expect(try await transport.call(.post, "pear") == "apple@addItem pear@addItem")
    await #expect(throws: EnvironmentError(.scopeNotActive, "")) {
      _ = try await shop.getBean(ShopHandlers.self).addItem(.init(item: "fig"))
    }
    try await shop.shutdown()
  }

  @Test("Handlers are beans of each request")
  func perRequest() async throws {
    let shop = try Environment()
    try declareShop(in: shop)
    try declareRequestHandlers(in: shop)
    let transport = Transport()
    try shop.getBean(CurrentHandlers.self)
      .registerHandlers(on: transport, middlewares: [shop.getBean(RequestEnvironments.self)])
    #expect(try await transport.call(.post, "pear") == "pear@addItem")
    #expect(try await transport.call(.post, "plum") == "pear@addItem plum@addItem")
    try await shop.shutdown()
  }

  @Test("The environment of a request ends when its operation has returned")
  func end() async throws {
    let shop = try Environment()
    try declareShop(in: shop)
    let environments = try shop.getBean(RequestEnvironments.self)
    let current = Mutex<Cart?>(nil)
    let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/cart")
    _ = try await environments.intercept(request, body: nil, metadata: .init(), operationID: "addItem") { _, _, _ in
      let cart = try #require(Environment.current).getBean(Cart.self)
      #expect(cart.isOpen.withLock { $0 })
      current.withLock { $0 = cart }
      return (HTTPResponse(status: .ok), nil)
    }
    #expect(current.withLock { $0?.isOpen.withLock { $0 } } == false)
    try await shop.shutdown()
  }
}
