import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import Storefront

/// Two nodes with one Redis and one database, under load, while nodes are killed and Redis is restarted.
///
/// `SOAK_CLUSTER` says for how many seconds, `SOAK_ADDS` for how many rounds of adding, `SOAK_SEED` with which random numbers.
@Suite(
  .serialized, .timeLimit(.minutes(20)),
  .enabled(if: RedisProcess.executable != nil, "redis-server is not installed, so nothing is said of two nodes"))
struct ClusterTests {
  @Test("a cart survives the end of the node that held it, and is in the other node's hands at once")
  func aCartOutlivesItsNode() throws {
    let cluster = try Cluster()
    defer { cluster.redis.end() }
    var visitor = Visitor(cluster, seed: 1)
    try visitor.add(2, at: 0)
    try #require(visitor.cookie != nil)
    cluster.kill(0)
    #expect(try visitor.cart(at: 1) == [2: 1])
    try visitor.add(3, at: 1)
    try cluster.start(0)
    #expect(try visitor.cart(at: 0) == [2: 1, 3: 1])
    for end in try cluster.end() { #expect(end.isClean, "\(end.output)") }
  }

  @Test("a purchase changes the id on all nodes, and the one before is worth nothing on any")
  func aCheckoutRotatesEverywhere() throws {
    let cluster = try Cluster()
    defer { cluster.redis.end() }
    var visitor = Visitor(cluster, seed: 1)
    try visitor.add(2, at: 0)
    let before = try #require(visitor.cookie)
    #expect(try visitor.buy(at: 1))
    let after = try #require(visitor.cookie)
    #expect(after != before)
    try visitor.add(3, at: 0)
    #expect(try visitor.cart(at: 1) == [3: 1])
    visitor.cookie = before
    #expect(try visitor.cart(at: 0) == [:])
    #expect(try visitor.cart(at: 1) == [:])
    for end in try cluster.end() { #expect(end.isClean, "\(end.output)") }
  }

  @Test("a cart that is bought at both nodes at once becomes one order")
  func aCartIsBoughtOnce() throws {
    let cluster = try Cluster()
    defer { cluster.redis.end() }
    for seed in 1...20 {
      var visitor = Visitor(cluster, seed: UInt64(seed))
      try visitor.add(2, at: 0)
      let statuses = try visitor.buyAtBothNodes().sorted()
      #expect(statuses == [201, 409] || statuses == [201, 201] || statuses == [201, 422], "\(statuses)")
      #expect(try visitor.orders(at: 1) == 1)
    }
    for end in try cluster.end() { #expect(end.isClean, "\(end.output)") }
  }

  @Test("a piece added at one node while the other one buys is bought or kept, once")
  func aPieceAddedDuringACheckoutIsKept() throws {
    let cluster = try Cluster()
    defer { cluster.redis.end() }
    for round in 0..<60 {
      var visitor = Visitor(cluster, seed: UInt64(round))
      try visitor.add(2, at: 0)
      let (order, added, cookie) = try visitor.buy(at: round % 2, whileAdding: 3)
      guard let order else {
        Issue.record("round \(round): the checkout was refused")
        continue
      }
      let bought = order[3] ?? 0
      #expect(order[2] == 1)
      #expect(try visitor.orders(at: 0) == 1)
      let kept = try #require(try visitor.cart(at: 1))
      #expect(kept[2] == nil, "round \(round): what is bought is in the cart")
      switch added {
      case 200 where cookie == nil: #expect(bought + (kept[3] ?? 0) == 1, "round \(round): \(order), then \(kept)")
      // The id was worthless before, and the product is in the cart of another session.
      case 200: #expect(bought == 0 && kept.isEmpty, "round \(round): \(order), then \(kept)")
      // The id became worthless while the product was being added.
      default: #expect(added == 409)
      }
    }
    for end in try cluster.end() { #expect(end.isClean, "\(end.output)") }
  }

  @Test("A cart that eight connections fill at two nodes holds exactly the acknowledged adds")
  func acknowledgedAddsAreKeptOnce() throws {
    let cluster = try Cluster()
    defer { cluster.redis.end() }
    let (rounds, seed): (Int, UInt64) = (setting("SOAK_ADDS") ?? 2, setting("SOAK_SEED") ?? 1)
    var sum = Additions()
    for round in 0..<rounds {
      var visitor = Visitor(cluster, seed: seed &* 1_000 &+ UInt64(round))
      try visitor.add(2, at: 0)
      let additions = try visitor.add(2, times: 10, onEachOf: 8)
      let found = try #require(try visitor.cart(at: round % 2))[2] ?? 0
      let least = 1 + additions.acknowledged
      #expect((least...least + additions.unknown).contains(found), "round \(round): \(found) pieces, \(additions)")
      #expect(additions.acknowledged > 0)
      sum += additions
    }
    print("== \(rounds) rounds of adding: \(sum)")
    for end in try cluster.end() { #expect(end.isClean, "\(end.output)") }
  }

  @Test("a visitor keeps the cookie without Redis and is asked to come back; others are served; one log entry")
  func withoutRedisTheCookieIsKept() throws {
    // Each loop has a connection of its own to Redis.
    let cluster = try Cluster(loops: 1)
    defer { cluster.redis.end() }
    var visitor = Visitor(cluster, seed: 1)
    try visitor.add(2, at: 0)
    cluster.redis.kill()
    let answer = try visitor.ask("GET /api/cart", at: 0)
    #expect(answer.status == 503)
    #expect(answer.fields["retry-after"] != nil)
    #expect(answer.fields["set-cookie"] == nil)
    #expect(try visitor.ask("GET /api/cart", at: 0).status == 503)
    #expect(try visitor.ask("GET /api/products", at: 0).status == 200)
    try cluster.redis.restart()
    for node in 0..<2 {
      // Commands fail at once until the pause after the last attempt to connect is over.
      while try visitor.ask("GET /api/cart", at: node).status == 503 {}
      #expect(try visitor.cart(at: node) == [2: 1])
    }
    let ends = try cluster.end()
    for end in ends { #expect(end.isClean, "\(end.output)") }
    let lines = ends[0].output.split(separator: "\n").filter { $0.contains("Redis at 127.0.0.1") }
    #expect(lines.count == 2, "\(ends[0].output)")
    #expect(lines.first?.contains("cannot be used: ") == true)
    #expect(lines.last?.contains("can be used again") == true)
  }

  @Test("no acknowledged change is lost, and no abandoned session returns, if either node is killed")
  func nothingAcknowledgedIsLost() throws {
    let cluster = try Cluster()
    defer { cluster.redis.end() }
    let seconds = setting("SOAK_CLUSTER") ?? 5
    let seed: UInt64 = setting("SOAK_SEED") ?? 1
    let isOver = Atomic(false)
    let totals = Totals()
    let threads = (0..<8).map { number in
      let thread = Joined {
        var visitor = Visitor(cluster, seed: seed &* 1_000 &+ UInt64(number))
        do {
          while !isOver.load(ordering: .relaxed) { try visitor.visit(totals) }
        } catch {
          totals.note("visitor \(number): \(error)")
        }
        isOver.store(true, ordering: .relaxed)
      }
      return thread
    }
    var random = SplitMix64(seed: seed)
    let start = ContinuousClock.now
    var kills = 0
    // Two kills at least, however slow the machine is: Redis is restarted between them.
    while start.duration(to: .now) < .seconds(seconds) || kills < 2, !isOver.load(ordering: .relaxed) {
      // A few seconds pass between two kills on a machine that is not busy.
      let next = totals.changes + Int.random(in: 500..<2_000, using: &random)
      totals.wait(forChanges: next, atMost: .seconds(5))
      if kills == 1 {
        cluster.redis.kill()
        try cluster.redis.restart()
      }
      let node = Int.random(in: 0..<2, using: &random)
      cluster.kill(node)
      try cluster.start(node)
      kills += 1
    }
    isOver.store(true, ordering: .relaxed)
    for thread in threads { thread.join() }
    let faults = totals.faults
    #expect(faults.isEmpty, "seed \(seed): \(faults.joined(separator: "\n"))")
    #expect(totals.changes > 0 && totals.checkouts > 0 && kills > 1)
    for end in try cluster.end() { #expect(end.isClean, "\(end.output)") }
    print("== \(seconds) seconds of two nodes, \(kills) of them killed: \(totals.text)")
  }
}

/// The sums over all visitors.
private final class Totals: Sendable {
  private struct State {
    var changes = 0
    var checkouts = 0
    var unknown = 0
    var checks = 0
    var faults: [String] = []
    /// The waiting thread's semaphore, and its number of changes.
    var waiting: (changes: Int, semaphore: DispatchSemaphore)?
  }

  private let state = Guarded(State())

  var changes: Int { state.withLock { $0.changes } }
  var checkouts: Int { state.withLock { $0.checkouts } }
  var faults: [String] { state.withLock { $0.faults } }
  var text: String {
    state.withLock {
      "\($0.changes) changes acknowledged, \($0.unknown) without an answer, \($0.checks) carts compared, "
        + "\($0.checkouts) checkouts"
    }
  }

  func change(isAcknowledged: Bool) {
    state.withLock { state in
      if isAcknowledged { state.changes += 1 } else { state.unknown += 1 }
      if let waiting = state.waiting, state.changes >= waiting.changes { waiting.semaphore.signal() }
    }
  }

  /// Returns when so many changes have been acknowledged, when a visitor has found a fault, or after that time.
  func wait(forChanges changes: Int, atMost limit: DispatchTimeInterval) {
    let semaphore = DispatchSemaphore(value: 0)
    state.withLock { $0.waiting = (changes, semaphore) }
    _ = semaphore.wait(timeout: .now() + limit)
    state.withLock { $0.waiting = nil }
  }

  func checkout() { state.withLock { $0.checkouts += 1 } }
  func check() { state.withLock { $0.checks += 1 } }
  func note(_ fault: String) {
    state.withLock { state in
      state.faults.append(fault)
      state.waiting?.semaphore.signal()
    }
  }
}

/// The outcomes of requests that add one piece each.
private struct Additions: Sendable, CustomStringConvertible {
  var acknowledged = 0
  /// Without a response, or with one that leaves the outcome open.
  var unknown = 0
  /// Refused, so that nothing has been added, and sent again.
  var refused = 0

  var description: String { "\(acknowledged) acknowledged, \(unknown) unknown, \(refused) refused and sent again" }

  static func += (sum: inout Additions, more: Additions) {
    sum.acknowledged += more.acknowledged
    sum.unknown += more.unknown
    sum.refused += more.refused
  }
}

/// Changes one cart at both nodes at once, and keeps the expected content.
private struct Visitor {
  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  private static let products = [2, 3]

  private let cluster: Cluster
  private var random: SplitMix64
  var cookie: String?
  /// By product: the acknowledged pieces, and those of requests without a response.
  private var acknowledged: [Int: Int] = [:]
  private var unknown: [Int: Int] = [:]

  init(_ cluster: Cluster, seed: UInt64) {
    self.cluster = cluster
    random = SplitMix64(seed: seed)
  }

  private func send(_ request: String, body: String = "", to client: TestClient) throws {
    let cookie = cookie.map { "Cookie: \($0)\r\n" } ?? ""
    try client.send(
      "\(request) HTTP/1.1\r\nHost: t\r\n\(cookie)Content-Type: application/x-www-form-urlencoded\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  }

  private mutating func keepCookie(_ response: TestClient.Response) {
    if let text = response.fields["set-cookie"] { cookie = String(text.prefix { $0 != ";" }) }
  }

  /// One request on a connection of its own.
  mutating func ask(_ request: String, body: String = "", at node: Int) throws -> TestClient.Response {
    let client = try TestClient(port: cluster.ports[node])
    try send(request, body: body, to: client)
    let response = try client.receive()
    keepCookie(response)
    return response
  }

  mutating func add(_ product: Int, at node: Int) throws {
    let response = try ask("POST /api/cart", body: "product=\(product)", at: node)
    guard response.status == 200 else { throw Wrong(description: "\(response.status): \(response.text)") }
  }

  /// Adds a product on several connections at once, each at one of the two nodes by turns.
  func add(_ product: Int, times: Int, onEachOf connections: Int) throws -> Additions {
    let clients = try (0..<connections).map { try Sent(TestClient(port: cluster.ports[$0 % 2])) }
    let sum = Guarded(Additions())
    let visitor = self
    let threads = clients.map { client in
      Joined {
        let additions = visitor.add(product, times: times, to: client.client)
        sum.withLock { $0 += additions }
      }
    }
    for thread in threads { thread.join() }
    return sum.withLock { $0 }
  }

  private func add(_ product: Int, times: Int, to client: TestClient) -> Additions {
    var additions = Additions()
    for _ in 0..<times {
      var status: Int?
      repeat {
        do {
          try send("POST /api/cart", body: "product=\(product)", to: client)
          status = try client.receive().status
        } catch {
          status = nil
        }
        if status == 409 { additions.refused += 1 }
      } while status == 409
      if status == 200 { additions.acknowledged += 1 } else { additions.unknown += 1 }
      if status == nil { break }
    }
    return additions
  }

  /// Quantities by product; nil where the node could not say.
  mutating func cart(at node: Int) throws -> [Int: Int]? {
    let response = try ask("GET /api/cart", at: node)
    return response.status == 200 ? try Self.quantities(response) : nil
  }

  /// Returns the quantity of each product in a cart or an order.
  private static func quantities(_ response: TestClient.Response) throws -> [Int: Int] {
    struct Lines: Decodable {
      struct Line: Decodable {
        let product: Int
        let quantity: Int
      }
      let lines: [Line]
    }
    let lines = try JSONDecoder().decode(Lines.self, from: Data(response.body)).lines
    return Dictionary(uniqueKeysWithValues: lines.map { ($0.product, $0.quantity) })
  }

  /// The statuses of two requests that are under way at the same time.
  mutating func buyAtBothNodes() throws -> [Int] {
    let clients = try cluster.ports.map { try TestClient(port: $0) }
    for client in clients { try send("POST /api/checkout", to: client) }
    let responses = try clients.map { try $0.receive() }
    for response in responses { keepCookie(response) }
    return responses.map(\.status)
  }

  /// Buys at one node while the other one adds a product. Returns the ordered pieces, by product, and for the other one
  /// the status and the cookie, if there was one: the visitor keeps that of the checkout.
  mutating func buy(
    at node: Int, whileAdding product: Int
  ) throws -> (order: [Int: Int]?, added: Int, cookie: String?) {
    let (buyer, other) = (try TestClient(port: cluster.ports[node]), try TestClient(port: cluster.ports[1 - node]))
    try send("POST /api/checkout", to: buyer)
    try send("POST /api/cart", body: "product=\(product)", to: other)
    let (bought, added) = (try buyer.receive(), try other.receive())
    keepCookie(bought)
    let order = bought.status == 201 ? try Self.quantities(bought) : nil
    return (order, added.status, added.fields["set-cookie"])
  }

  /// Returns the number of orders that the visitor has placed.
  mutating func orders(at node: Int) throws -> Int {
    let response = try ask("GET /api/orders", at: node)
    guard response.status == 200 else { throw Wrong(description: "\(response.status): \(response.text)") }
    return response.text.matches(of: /"id":/).count
  }

  mutating func buy(at node: Int) throws -> Bool { try ask("POST /api/checkout", at: node).status == 201 }

  /// A cart from its first product on, until it is bought or may have been.
  mutating func visit(_ totals: Totals) throws {
    cookie = nil
    (acknowledged, unknown) = ([:], [:])
    while cookie == nil {
      // A client without a response has no cart.
      do {
        try add(2, at: Int.random(in: 0..<2, using: &random))
        acknowledged[2] = 1
      } catch is Wrong {
        totals.change(isAcknowledged: false)
      } catch is TestClient.Failure {
        totals.change(isAcknowledged: false)
      }
    }
    for _ in 0..<Int.random(in: 1..<20, using: &random) {
      changeAtBothNodes(totals)
      try compare(totals)
    }
    try leave(totals)
  }

  /// Two requests that are under way at the same time.
  private mutating func changeAtBothNodes(_ totals: Totals) {
    let clients = cluster.ports.map { try? TestClient(port: $0) }
    for (client, product) in zip(clients, Self.products) {
      guard let client else { continue }
      unknown[product, default: 0] += 1
      try? send("POST /api/cart", body: "product=\(product)", to: client)
    }
    for (client, product) in zip(clients, Self.products) {
      guard let client else { continue }
      let response = try? client.receive()
      let isAcknowledged = response?.status == 200
      if isAcknowledged {
        unknown[product, default: 0] -= 1
        acknowledged[product, default: 0] += 1
      }
      totals.change(isAcknowledged: isAcknowledged)
    }
  }

  private mutating func compare(_ totals: Totals) throws {
    guard let found = try? cart(at: Int.random(in: 0..<2, using: &random)) else { return }
    for product in Self.products {
      let least = acknowledged[product] ?? 0
      let most = least + (unknown[product] ?? 0)
      guard (least...most).contains(found[product] ?? 0) else {
        throw Wrong(
          description: "of product \(product) there are \(found[product] ?? 0), and should be \(least) to \(most)")
      }
    }
    totals.check()
  }

  /// Buys the content of the cart, and tries again if no response comes. The id before is worth nothing then.
  private mutating func leave(_ totals: Totals) throws {
    let before = cookie
    var status: Int?
    for _ in 0..<100 where status == nil || status == 503 {
      status = (try? ask("POST /api/checkout", at: Int.random(in: 0..<2, using: &random)))?.status
    }
    guard status == 201 else { return }
    totals.checkout()
    if let count = try? orders(at: Int.random(in: 0..<2, using: &random)), count != 1 {
      throw Wrong(description: "what was bought once has become \(count) orders")
    }
    if let found = try? cart(at: Int.random(in: 0..<2, using: &random)), !found.isEmpty {
      throw Wrong(description: "after a checkout there is \(found) in the cart")
    }
    // The id stays where the session could not be saved after the commit.
    guard cookie != before else { return }
    cookie = before
    if let found = try? cart(at: Int.random(in: 0..<2, using: &random)), !found.isEmpty {
      throw Wrong(description: "a session that has got another id returns with \(found)")
    }
  }
}

/// A client that one thread hands to another and does not use again.
private final class Sent: @unchecked Sendable {
  // Safe to send: the client is used by the thread that it is handed to alone.
  let client: TestClient

  init(_ client: TestClient) { self.client = client }
}

/// A thread that can be waited for.
private final class Joined: Sendable {
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [done] in
      body()
      done.signal()
    }
  }

  func join() { done.wait() }
}
