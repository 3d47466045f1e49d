import Beans
import BeansLogging
import BeansSessions
import BeansTesting
import Testing

@testable import Storefront

@Suite struct RequestIdTests {
  /// Keeps the metadata of entries.
  private final class Kept: Log, @unchecked Sendable {  // locked
    let metadata = Guarded<[LogMetadata]>([])
    override func log(_ entry: LogEntry) { metadata.withLock { $0.append(entry.metadata) } }
  }

  private let kept = Kept(name: "kept")
  private let logger: Logger

  init() {
    logger = LogManager(installing: false).registerLogger("", level: .info, logs: [kept]).getLogger(forName: "shop")
  }

  @Test func requestsHaveDifferentIds() {
    let ids = (0..<3).map { _ in HTTPRequest(method: .get, path: "/").id.description }
    #expect(Set(ids).count == 3)
    #expect(ids.allSatisfy { $0.contains(/^[0-9a-f]{8}-\d+$/) })
  }

  @Test(.beans(TestShop.declare)) func eachLineOfARequestCarriesItsId() throws {
    let shop = try Test.environment.getBean(ShopEnvironment.self)
    let session = try shop.visits.build(SessionState())
    defer { session.finish() }
    let (first, second) = (HTTPRequest(method: .get, path: "/"), HTTPRequest(method: .get, path: "/"))
    try shop.visitorRequests.withChild(first, in: session) { _ in logger.info("in a session") }
    try shop.requests.withChild(second) { _ in logger.info("without one") }
    #expect(kept.metadata.withLock { $0 } == [first.logMetadata, second.logMetadata])
  }

  @Test func errorsAndResponsesCarryTheId() {
    let request = HTTPRequest(method: .get, path: "/")
    let logger = logger
    ErrorLog { logger.error($0) }.record(HTTPExchange.unanswered, request)
    AccessLog(logger).record(request, status: .ok, took: .zero)
    #expect(kept.metadata.withLock { $0 } == [request.logMetadata, request.logMetadata])
  }

  @Test func responsesAreOnlyCountedIfTheLoggerIsOff() {
    let log = AccessLog(LogManager(installing: false).getLogger(forName: "off"))
    var isTimed = false
    func time() -> Duration {
      isTimed = true
      return .zero
    }
    log.record(HTTPRequest(method: .get, path: "/"), status: .ok, took: time())
    #expect(!isTimed && log.current.total == 1)
  }
}
