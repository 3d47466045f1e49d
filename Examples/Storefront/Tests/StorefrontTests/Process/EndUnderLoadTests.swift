import Foundation
import Glibc
import Synchronization
import Testing

@testable import Storefront

/// The end of the service while clients are at work: in order by SIGTERM, and by SIGKILL without losing confirmed
/// orders.
///
/// `SOAK_ENDS` and `SOAK_KILLS` are the numbers of ends, `SOAK_SEED` seeds the random numbers.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct EndUnderLoadTests {
  private let database: TemporaryDatabase
  private var random: SplitMix64

  init() throws {
    database = try TemporaryDatabase()
    random = SplitMix64(seed: setting("SOAK_SEED") ?? 1)
  }

  /// The number of connections of the largest crowd; `SOAK_CONNECTIONS`, or as many of 2,000 as this process may open.
  private static func mostConnections() throws -> Int {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    try #require(getrlimit(kind, &limit) == 0)
    limit.rlim_cur = limit.rlim_max
    setrlimit(kind, &limit)
    let most = Int(clamping: limit.rlim_max) - 500
    guard let wanted: Int = setting("SOAK_CONNECTIONS") else { return max(64, min(2_000, most)) }
    try #require(wanted <= most, "the limit of descriptors allows \(most) connections")
    return wanted
  }

  /// A client with its request and the expected response.
  private struct Sender {
    let client: TestClient
    private let request: String
    private let status: Int

    /// Some have been served before, and some of these have something to buy.
    init(port: Int, using random: inout SplitMix64) throws {
      client = try TestClient(port: port)
      let before = Int.random(in: 0..<3, using: &random)
      if before == 1 {
        try client.get("/healthz")
        _ = try client.receive()
      }
      if before == 2 {
        try client.send(Self.fill)
        let cookie = try #require(try client.receive().fields["set-cookie"]?.prefix { $0 != ";" })
        request = "POST /api/checkout HTTP/1.1\r\nHost: t\r\nCookie: \(cookie)\r\nContent-Length: 0\r\n\r\n"
        status = 201
      } else {
        let gets = ["/healthz", "/api/products", "/", "/api/cart", "/api/orders"].map {
          "GET \($0) HTTP/1.1\r\nHost: t\r\n\r\n"
        }
        request = (gets + [Self.fill]).randomElement(using: &random)!
        status = 200
      }
    }

    /// Puts a product into a cart; needs no account.
    private static let fill =
      "POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      + "Content-Length: 9\r\n\r\nproduct=2"

    func send() throws { try client.send(request) }

    /// The fault of the response; nil if it is as expected.
    func fault(mayBeLost: Bool) -> String? {
      do {
        let response = try client.receive()
        return response.status == status ? nil : "\(response.status) for \(request.prefix { $0 != "\r\n" })"
      } catch { return mayBeLost ? nil : "\(error) for \(request.prefix { $0 != "\r\n" })" }
    }
  }

  /// SIGTERM comes after some of the requests. Those are answered, even if the whole process was stopped for longer
  /// than the grace of idle connections. The others are answered as well, or not at all.
  @Test mutating func noRequestThatWasSentBeforeTheEndIsLost() throws {
    let sizes = try [64, 200, Self.mostConnections()]
    let ends = setting("SOAK_ENDS") ?? 6
    var sent = (before: 0, after: 0)
    for end in 0..<ends {
      let count = sizes[end % sizes.count]
      let service = try ServiceProcess(database: database.path, environment: ["LOOPS": "\(1 + end % 3)"])
      let port = try service.port()
      let senders = try (0..<count).map { _ in try Sender(port: port, using: &random) }
      let isStalled = end / sizes.count % 2 == 1
      if isStalled { service.signal(SIGSTOP) }
      let before = end % 4 == 0 ? count : Int.random(in: 0...count, using: &random)
      for sender in senders[..<before] { try sender.send() }
      service.signal(SIGTERM)
      // Some of them find the connection closed.
      for sender in senders[before...] { try? sender.send() }
      if isStalled {
        // Longer than the grace of idle connections: time itself is under test.
        usleep(300_000)
        service.signal(SIGCONT)
      }
      let faults = senders.enumerated().compactMap { $1.fault(mayBeLost: $0 >= before) }
      let report = try service.end(signal: false)
      #expect(
        faults.isEmpty, "end \(end), \(before) of \(count) before, stalled: \(isStalled): \(faults)\n\(report.output)")
      #expect(report.isClean, "end \(end): \(report.output)")
      #expect(report.count("aborted") == 0)
      sent = (sent.before + before, sent.after + count - before)
    }
    print(
      "== \(ends) ends with \(sizes) connections: \(sent.before) requests before SIGTERM, \(sent.after) after it"
    )
  }

  /// Confirmed orders survive SIGKILL in the middle of others, and the stock fits them.
  @Test mutating func confirmedOrdersSurviveAKill() throws {
    let confirmed = Confirmed()
    for _ in 0..<(setting("SOAK_KILLS") ?? 4) {
      let service = try ServiceProcess(database: database.path)
      let (id, port) = (service.id, try service.port())
      let before = confirmed.count
      let wanted = Int.random(in: 1...60, using: &random)
      onThreads(5) { number in
        if number == 4 {
          while confirmed.count < before + wanted { sched_yield() }
          kill(id, SIGKILL)
          return
        }
        // Ends with the connection.
        try? confirmed.order(port: port)
      }
      let end = try service.end(signal: false)
      #expect(end.isSignal && end.status == SIGKILL)

      let connection = try database.connect()
      let kept = Set(try connection.query("SELECT id FROM orders") { row in row.text(0) })
      #expect(confirmed.ids.subtracting(kept).isEmpty)
      let sold = try connection.query("SELECT sum(quantity) FROM order_lines WHERE product_id = 8") { row in
        row.integer(0)
      }
      let left = try connection.query("SELECT stock FROM products WHERE id = 8") { row in row.integer(0) }
      #expect(sold[0] + left[0] == 250)
    }
    #expect(confirmed.count > 0)
    // The database of the killed service starts, and ends in order.
    let last = try ServiceProcess(database: database.path)
    _ = try last.port()
    #expect(try last.end().isClean)
  }
}

/// Orders that clients have received a confirmation of. Safe from any thread.
private final class Confirmed: @unchecked Sendable {
  private let lock = NSLock()
  private var all: Set<String> = []  // guarded by the lock

  var ids: Set<String> { lock.withLock { all } }
  var count: Int { lock.withLock { all.count } }

  /// Orders one thing of the limited product, and one of another, again and again.
  func order(port: Int) throws {
    let client = try TestClient(port: port)
    var cookie = ""
    var products = [8, 2]
    while true {
      for product in products {
        let body = "product=\(product)"
        try client.send(
          "POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n\(cookie)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let response = try client.receive()
        if let new = response.fields["set-cookie"] { cookie = "Cookie: \(new.prefix { $0 != ";" })\r\n" }
      }
      try client.send("POST /api/checkout HTTP/1.1\r\nHost: t\r\n\(cookie)Content-Length: 0\r\n\r\n")
      let response = try client.receive()
      if let new = response.fields["set-cookie"] { cookie = "Cookie: \(new.prefix { $0 != ";" })\r\n" }
      if response.status == 201, let id = response.text.firstMatch(of: /"id":"([0-9a-f]+)"/)?.1 {
        lock.withLock { _ = all.insert(String(id)) }
      } else if response.status == 409 {
        // Sold out: on with the other product alone.
        products = [2]
        try client.send("DELETE /api/cart?product=8 HTTP/1.1\r\nHost: t\r\n\(cookie)\r\n")
        _ = try client.receive()
      }
    }
  }
}
