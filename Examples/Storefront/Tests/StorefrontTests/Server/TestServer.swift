import Beans
import BeansEventLoop
import BeansOperations
import BeansServer
import Dispatch

@testable import Storefront

/// A server on loops of its own, for one test.
final class TestServer: Sendable {
  let server: HTTPServer
  let port: Int
  private let threads: [EventLoopThread]
  /// The environment of a whole service: shut down before the loops end.
  let shop: ShopEnvironment?
  private var application: Environment? { shop?.application }

  /// Responds to every request with `200` and its path, unless there is a `handler`.
  init(
    loops: Int = 1, _ settings: HTTPServerSettings = .forTests,
    handler: @escaping HTTPHandler = { $0.respond(.text(.ok, $0.request.path)) },
    onUnanswered: @escaping @Sendable (HTTPRequest) -> Void = { _ in }
  ) throws {
    server = HTTPServer(settings: settings)
    threads = try (0..<loops).map { try EventLoopThread(name: "test loop \($0)") }
    port = try Self.start(server, threads, handler, onUnanswered)
    shop = nil
  }

  /// The whole shop as a public server, or the operations endpoints, in an environment that `TestShop.served` has
  /// declared.
  ///
  /// - Parameters:
  ///   - application: ready; it is the server's to shut down.
  /// - isForAdministration: true for the operations endpoints.
  init(_ application: Environment, isForAdministration: Bool = false) throws {
    let shop = try application.getBean(ShopEnvironment.self)
    server = HTTPServer(settings: .forTests)
    threads = try application.getBean(TestLoops.self).threads
    let operations = Operations(environment: application, sessions: [shop.sessions], lag: shop.lag)
    try operations.start()
    let service = try application.getBean(ShopService.self)
    let handler = isForAdministration ? service.administration(operations) : try shop.handler(operations)
    port = try Self.start(server, threads, handler, service.noteUnanswered)
    self.shop = shop
  }

  private struct NotStarted: Error {}

  private static func start(
    _ server: HTTPServer, _ threads: [EventLoopThread], _ handler: @escaping HTTPHandler,
    _ onUnanswered: @escaping @Sendable (HTTPRequest) -> Void
  ) throws -> Int {
    guard
      let port = try server.start(
        host: "127.0.0.1", port: 0, on: threads, handler: handler, onUnanswered: onUnanswered)
    else { throw NotStarted() }
    return port
  }

  /// The number of sessions of the shop, including those of strangers for the time of a request.
  var sessions: Int {
    application?.statistics().first { $0.scope == "session" }.map { $0.opened - $0.finished } ?? 0
  }

  /// The sales of the shop.
  var sales: String? { (try? application?.getBean(Sales.self))?.text() }

  func client() throws -> TestClient { try TestClient(port: port) }

  /// Drains, and waits until that is done.
  @discardableResult
  func drain(within limit: Duration = .seconds(15)) -> HTTPCounts {
    let done = DispatchSemaphore(value: 0)
    server.drain(within: limit) { done.signal() }
    done.wait()
    return server.counts
  }

  /// Begins to drain, and returns when all loops refuse new connections' second requests.
  func beginDrain(within limit: Duration = .seconds(15)) -> DispatchSemaphore {
    let done = DispatchSemaphore(value: 0)
    server.drain(within: limit) { done.signal() }
    // Behind the drain in every loop's queue.
    for thread in threads {
      let passed = DispatchSemaphore(value: 0)
      thread.loop.execute { thread.loop.execute { passed.signal() } }
      passed.wait()
    }
    return done
  }

  /// Drains, shuts the shop down, then stops and closes the loops: throws where a handle is left open.
  @discardableResult
  func end() throws -> HTTPCounts {
    drain()
    return try close().requests
  }

  /// Ends the server after draining, and returns the closing report of the service.
  func close() throws -> ClosingReport {
    try application?.shutdown()
    for thread in threads { try thread.stopAndJoin() }
    let handles = threads.map(\.loop.openHandles).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    return ClosingReport(
      statistics: application?.statistics() ?? [], requests: server.counts, openHandles: handles)
  }
}

extension HTTPServerSettings {
  /// No patience with clients of a test that keep their side open, nor with connections that are merely idle in a drain.
  static var forTests: HTTPServerSettings {
    var settings = HTTPServerSettings()
    settings.lingerTimeout = .milliseconds(50)
    settings.drainGrace = .zero
    return settings
  }
}

/// Runs `body` so many times at once, each on a thread of its own that may block, and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    DispatchQueue(label: "test thread \(number)").async(group: group) { body(number) }
  }
  group.wait()
}

/// Keeps exchanges until the test responds.
final class ExchangeBox: Sendable {
  private let content = Guarded<[HTTPExchange]>([])
  private let arrival = DispatchSemaphore(value: 0)

  func add(_ exchange: HTTPExchange) {
    content.withLock { $0.append(exchange) }
    arrival.signal()
  }

  var count: Int { content.withLock { $0.count } }

  /// Drops the remaining exchanges: each keeps the server, whose handler may keep this.
  func empty() { content.withLock { $0 = [] } }

  /// Blocks until `count` more have come, and takes all out.
  func take(_ count: Int) -> [HTTPExchange] {
    for _ in 0..<count { arrival.wait() }
    return content.withLock { content in
      defer { content = [] }
      return content
    }
  }
}
