import BeansSessions
import Testing

@testable import Storefront

extension Catalogue {
  /// Three products for tests.
  static func sample() throws -> Catalogue {
    try Catalogue(products: [
      Product(
        id: 1, sku: "a", name: "Apple <b>", description: "\"A\" & 'a'", symbol: "🍎", price: Money(cents: 150),
        isLimited: false),
      Product(id: 2, sku: "b", name: "Bean", description: "B", symbol: "🫘", price: Money(cents: 1005), isLimited: true),
      Product(id: 3, sku: "c", name: "Corn", description: "C", symbol: "🌽", price: Money(cents: 99), isLimited: false),
    ])
  }
}

@Suite struct CartTests {
  private let cart: Cart

  init() throws { cart = try Cart(catalogue: .sample(), ids: IdGenerator(), state: SessionState()) }

  private var contents: [[Int64]] { cart.lines.map { [$0.product.id, Int64($0.quantity)] } }

  @Test func aCartAddsInTheOrderOfTheFirstAddition() throws {
    try cart.add(2)
    try cart.add(1, quantity: 3)
    try cart.add(2, quantity: 2)
    #expect(contents == [[2, 3], [1, 3]])
    #expect(cart.lines.total == Money(cents: 3 * 1005 + 3 * 150))
    #expect(cart.lines.pieces == 6)
  }

  @Test func aCartSetsRemovesAndClears() throws {
    try cart.add(1)
    try cart.set(1, quantity: 7)
    try cart.set(3, quantity: 1)
    #expect(contents == [[1, 7], [3, 1]])
    try cart.set(3, quantity: 0)
    cart.remove(2)
    #expect(contents == [[1, 7]])
    cart.clear()
    #expect(contents == [])
    #expect(cart.lines.total == .zero)
  }

  @Test func aCartRefusesUnknownProducts() {
    #expect(throws: ShopError.unknownProduct) { try cart.add(9) }
    #expect(throws: ShopError.unknownProduct) { try cart.set(9, quantity: 1) }
    #expect(contents == [])
  }

  @Test(arguments: [0, -1, 98, Int.max, Int.min]) func aCartRefusesToAddImpossibleQuantities(quantity: Int) throws {
    try cart.add(1, quantity: 2)
    #expect(throws: ShopError.quantityOutOfRange) { try cart.add(1, quantity: quantity) }
    #expect(contents == [[1, 2]])
  }

  @Test func aCartRefusesToSetImpossibleQuantities() {
    #expect(throws: ShopError.quantityOutOfRange) { try cart.set(1, quantity: 100) }
    #expect(throws: ShopError.quantityOutOfRange) { try cart.set(1, quantity: -1) }
  }

  private func order(_ id: String, _ lines: (product: Int64, quantity: Int)...) -> Order {
    Order(
      id: id, placedAt: 0, total: .zero,
      lines: lines.map { Order.Line(product: $0.product, name: "", quantity: $0.quantity, price: .zero) })
  }

  @Test("An empty cart becomes no order") func anEmptyCart() throws {
    #expect(cart.prepareOrder() == nil && cart.order == nil)
    try cart.add(1)
    #expect(cart.order == nil)
  }

  @Test("A cart keeps the id of its order until it is empty") func keepsItsOrder() throws {
    try cart.add(1)
    let first = try #require(cart.prepareOrder())
    #expect(first.lines == cart.lines)
    try cart.add(2)
    cart.remove(1)
    #expect(cart.prepareOrder() == Cart.Purchase(lines: cart.lines, order: first.order))
    #expect(cart.order == first.order)
    cart.remove(2)
    #expect(cart.order == nil)
    try cart.add(1)
    #expect(cart.prepareOrder()?.order != first.order)
    cart.clear()
    #expect(cart.order == nil)
  }

  @Test("A cart keeps the goods that its order does not have") func settles() throws {
    try cart.add(1, quantity: 3)
    try cart.add(2)
    try cart.add(3)
    let id = try #require(cart.prepareOrder()).order
    #expect(cart.settle(order(id, (1, 1), (3, 2), (4, 1))))
    #expect(contents == [[1, 2], [2, 1]])
    #expect(cart.order == nil)
  }

  @Test("A cart settles its order once, and no other") func settlesOnce() throws {
    try cart.add(1, quantity: 3)
    let id = try #require(cart.prepareOrder()).order
    #expect(!cart.settle(order("another", (1, 1))))
    #expect(cart.settle(order(id, (1, 1))))
    #expect(!cart.settle(order(id, (1, 1))))
    #expect(contents == [[1, 2]])
  }

  @Test("Many threads prepare one order", .timeLimit(.minutes(20))) func preparesOnce() async throws {
    try cart.add(1)
    let cart = cart
    let orders = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<16 { group.addTask { cart.prepareOrder()?.order } }
      return await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(orders == [cart.order])
  }
}

@Suite struct CartChangeTests {
  private func change(_ type: String?, _ body: String) throws -> CartChange {
    try CartChange(
      HTTPRequest(
        method: .post, path: "/api/cart", headers: HTTPHeaders(type.map { [("Content-Type", $0)] } ?? []),
        body: Array(body.utf8)))
  }

  private func status(_ type: String?, _ body: String) -> HTTPStatus? {
    do {
      _ = try change(type, body)
      return nil
    } catch {
      return (error as? HTTPError)?.status
    }
  }

  @Test func aBodyIsReadAsJSON() throws {
    #expect(try change("application/json", #"{"product": 3}"#) == CartChange(product: 3))
    #expect(
      try change("application/json; charset=utf-8", #"{"product":3,"quantity":2,"action":"set","more":[]}"#)
        == CartChange(action: .set, product: 3, quantity: 2))
    #expect(try change("application/json", #"{"product":3,"quantity":null}"#).quantity == 1)
  }

  @Test func aBodyIsReadAsAForm() throws {
    let type = "application/x-www-form-urlencoded"
    #expect(try change(type, "product=3") == CartChange(product: 3))
    #expect(try change(type, "action=remove&product=3&quantity=") == CartChange(action: .remove, product: 3))
  }

  @Test func bodiesOfOtherMediaTypesAreRefused() {
    #expect(status(nil, "product=3") == .unsupportedMediaType)
    #expect(status("text/plain", "product=3") == .unsupportedMediaType)
  }

  @Test func escapesAndNumbersAreReadInEveryNotation() throws {
    #expect(try change("application/json", #"{"pro\u0064uct":3.0,"action":"\u0073et"}"#).action == .set)
    #expect(try change("application/json", #"{"product":1e2}"#).product == 100)
    #expect(try change("application/json", #"{"product":9223372036854775807}"#).product == .max)
  }

  @Test(arguments: [
    "", " ", "{", "[1]", "3", "null", #"{"product"}"#, #"{"product":}"#, "{product:3}", #"{"product":3 "quantity":1}"#,
    #"{"product":3} x"#, "{'product':3}", #"{"product":03}"#, #"{"product":+3}"#, #"{"product":3.}"#,
    #"{"product":NaN}"#, #"{"product":1.5}"#, #"{"product":9223372036854775808}"#, #"{"product":1e999}"#,
    #"{"product":3,"action":"\ud800"}"#, "{\"product\":3,\"action\":\"a\nb\"}", #"{/**/"product":3}"#,
  ])
  func jsonThatIsNoObjectIsRefused(body: String) {
    #expect(status("application/json", body) == .badRequest)
  }

  @Test func badUTF8IsRefused() {
    let request = HTTPRequest(
      method: .post, path: "/api/cart", headers: HTTPHeaders([("Content-Type", "application/json")]),
      body: Array(#"{"product":3,"action":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
    #expect(throws: HTTPError.self) { try CartChange(request) }
  }

  /// A hostile text must not exhaust the stack.
  @Test(arguments: ["[", #"{"a":"#]) func deepNestingIsRefused(opening: String) {
    #expect(status("application/json", String(repeating: opening, count: 100_000)) == .badRequest)
  }

  @Test(arguments: [
    "{}", #"{"product":"3"}"#, #"{"product":[3]}"#, #"{"product":3,"quantity":"2"}"#, #"{"product":3,"action":"eat"}"#,
    #"{"product":3,"action":1}"#, #"{"product":null}"#,
  ])
  func wrongFieldsAreRefused(body: String) {
    #expect(status("application/json", body) == .unprocessableContent)
  }

  @Test func wrongFormsAreRefused() {
    let type = "application/x-www-form-urlencoded"
    #expect(status(type, "") == .unprocessableContent)
    #expect(status(type, "product=x") == .unprocessableContent)
    #expect(status(type, "product=99999999999999999999") == .unprocessableContent)
    #expect(status(type, "product=%") == .badRequest)
  }
}
