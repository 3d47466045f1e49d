import Foundation
import Testing

@testable import Storefront

/// Rounds in which the connections of one visitor add and check out at the same time, and a comparison after each round of
/// the confirmations with the database and the carts.
struct CheckoutRounds {
  let database: TemporaryDatabase
  /// The ports that the connections of a visitor are spread over.
  let ports: [Int]

  private static let connections = 8

  /// The responses to a visitor's connections in one round.
  private struct Told: Sendable {
    /// By product, those of each addition with status 200.
    var added: [Int: Int] = [:]
    /// The lines of each order with status 201, by its id.
    var orders: [String: [Int: Int]] = [:]
    var cookies: Set<String> = []
    var faults: [String] = []

    /// - Parameters:
    ///   - response: to one request.
    ///   - product: the product that the request adds; nil for a checkout.
    mutating func note(_ response: TestClient.Response, product: Int?) throws {
      if let field = response.fields["set-cookie"] { cookies.insert(String(field.prefix { $0 != ";" })) }
      switch (response.status, product) {
      case (200, let product?): added[product, default: 0] += 1
      case (201, nil):
        let order = try Order(response)
        let (id, lines) = (order.id ?? "", order.quantities)
        if let known = orders.updateValue(lines, forKey: id), known != lines {
          faults.append("order \(id) has two contents")
        }
      // Nothing has happened.
      case (409, _): break
      default: faults.append("\(response.status): \(response.text)")
      }
    }
  }

  private struct Order: Decodable {
    struct Line: Decodable {
      let product: Int
      let quantity: Int
    }
    let id: String?
    let lines: [Line]

    var quantities: [Int: Int] { Dictionary(lines.map { ($0.product, $0.quantity) }, uniquingKeysWith: +) }

    init(_ response: TestClient.Response) throws {
      self = try JSONDecoder().decode(Order.self, from: Data(response.body))
    }
  }

  func run(_ rounds: Int) throws {
    var (orders, pieces) = (0, 0)
    for round in 0..<rounds {
      let known = Set(try placed().keys)
      // The stock of product 8 is counted, and would not last for each round.
      let told = try play(products: round % 20 == 0 ? [2, 8] : [2, 3])
      let placed = try placed().filter { !known.contains($0.key) }
      #expect(told.faults.isEmpty, "round \(round): \(told.faults)")
      #expect(placed == told.orders, "round \(round): the orders on the left, the confirmations on the right")
      var found: [Int: Int] = [:]
      for order in placed.values { found.merge(order, uniquingKeysWith: +) }
      for cookie in told.cookies { found.merge(try cart(cookie), uniquingKeysWith: +) }
      #expect(
        found == told.added, "round \(round): what is bought or in carts on the left, what was added on the right")
      (orders, pieces) = (orders + placed.count, pieces + told.added.values.reduce(0, +))
    }
    let sold = try number("SELECT coalesce(sum(quantity), 0) FROM order_lines WHERE product_id = 8")
    #expect(try number("SELECT stock FROM products WHERE id = 8") + sold == 250)
    #expect(orders > 0)
    print("== \(rounds) rounds of \(Self.connections) connections: \(pieces) pieces, \(orders) orders")
  }

  /// One visitor: half of the connections add, the others check out.
  private func play(products: [Int]) throws -> Told {
    let first = try Shopper(port: ports[0])
    let (cookie, ports) = (first.cookie, ports)
    let told = Guarded(Told(added: [2: 1], cookies: [cookie]))
    onThreads(Self.connections) { number in
      do {
        let client = try TestClient(port: ports[number % ports.count])
        for step in 0..<3 {
          let product = products[(number / 2 + step) % 2]
          let adds = (number / 2) % 2 == 0
          let body = adds ? "product=\(product)" : ""
          try client.send(
            "POST /api/\(adds ? "cart" : "checkout") HTTP/1.1\r\nHost: t\r\nCookie: \(cookie)\r\n"
              + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
          let response = try client.receive()
          try told.withLock { try $0.note(response, product: adds ? product : nil) }
        }
      } catch {
        told.withLock { $0.faults.append("\(error)") }
      }
    }
    return told.withLock { $0 }
  }

  private func cart(_ cookie: String) throws -> [Int: Int] {
    let client = try TestClient(port: ports[0])
    try client.get("/api/cart", "Cookie: \(cookie)\r\n")
    return try Order(client.receive()).quantities
  }

  /// The lines of all orders, by id.
  private func placed() throws -> [String: [Int: Int]] {
    let lines = try database.connect().query("SELECT order_id, product_id, quantity FROM order_lines") { row in
      (row.text(0), Int(row.integer(1)), Int(row.integer(2)))
    }
    return lines.reduce(into: [:]) { $0[$1.0, default: [:]][$1.1, default: 0] += $1.2 }
  }

  private func number(_ query: String) throws -> Int64 {
    try #require(try database.connect().query(query) { row in row.integer(0) }.first)
  }
}
