@testable import Storefront

/// A visitor on a connection of its own, with one thing in the cart.
struct Shopper {
  let client: TestClient
  private(set) var cookie: String

  init(port: Int) throws {
    client = try TestClient(port: port)
    cookie = ""
    try add()
  }

  /// Puts one more of the product into the cart.
  @discardableResult
  mutating func add(_ product: Int = 2) throws -> TestClient.Response {
    let body = "product=\(product)"
    try send("POST", "/api/cart", body: body)
    return try receive()
  }

  func checkOut() throws { try send("POST", "/api/checkout") }

  /// Returns the next response, which may bring a new cookie.
  mutating func receive() throws -> TestClient.Response {
    let response = try client.receive()
    keepCookie(response)
    return response
  }

  /// Returns the cart as text; the response may bring a new cookie.
  mutating func readCart() throws -> String {
    try send("GET", "/api/cart")
    return try receive().text
  }

  private mutating func keepCookie(_ response: TestClient.Response) {
    if let field = response.fields["set-cookie"] { cookie = String(field.prefix { $0 != ";" }) }
  }

  private func send(_ method: String, _ path: String, body: String = "") throws {
    let field = cookie.isEmpty ? "" : "Cookie: \(cookie)\r\n"
    try client.send(
      "\(method) \(path) HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n\(field)"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }
}
