import Testing

@testable import Storefront

@Suite struct RouterTests {
  private let router: Router<String> = {
    var router = Router<String>()
    router.on(.get, "/api/cart", "get")
    router.on(.post, "/api/cart", "post")
    router.on(.delete, "/api/cart", "delete")
    router.on(.post, "/api/checkout", "checkout")
    return router
  }()

  private func found(_ method: HTTPMethod, _ path: String) -> String? {
    guard case .found(let handler) = router.match(method, path) else { return nil }
    return handler
  }

  @Test func theRouterFindsTheHandlerOfMethodAndPath() {
    #expect(found(.get, "/api/cart") == "get")
    #expect(found(.delete, "/api/cart") == "delete")
    #expect(found(.post, "/api/checkout") == "checkout")
  }

  @Test func theRouterUsesTheHandlerOfGetForHead() {
    #expect(found(.head, "/api/cart") == "get")
    #expect(found(.head, "/api/checkout") == nil)
  }

  @Test func aLaterHandlerReplacesAnEarlierOne() {
    var router = router
    router.on(.get, "/api/cart", "new")
    guard case .found("new") = router.match(.get, "/api/cart") else {
      Issue.record("not replaced")
      return
    }
  }

  @Test func aRefusalListsTheAllowedMethods() throws {
    guard case .methodNotAllowed(let allow) = router.match(.put, "/api/cart") else {
      Issue.record("not refused")
      return
    }
    #expect(allow == "DELETE, GET, HEAD, POST")
    let response = try #require(try Router<String>.refusal(router.match(.get, "/api/checkout")))
    #expect(response.status == .methodNotAllowed)
    let fields = String(decoding: response.fieldLines, as: UTF8.self)
    #expect(fields.contains("Allow: POST\r\n"))
  }

  @Test(arguments: ["/", "/api/cart/", "/api", "/API/CART", "*"]) func anUnknownPathIsNotFound(path: String) throws {
    #expect(try Router<String>.refusal(router.match(.get, path))?.status == .notFound)
  }
}
