// Marked listings stand in the article to the letter, but for their indentation: see ListingTests.swift.

// listing
import Beans
import BeansEventLoop
import BeansOperations
import BeansServer
import BeansSessions

// end

struct OperationsGuide: Sendable {
  struct Request {
    var method = "GET"
    var path: String
    var accept: String?
    var body: [UInt8] = []
  }

  struct Response {
    let status: Int
    let fields: [(String, String)]
    let body: [UInt8]
  }

  actor Store {
    func ping() throws {}
  }

  func stopAccepting(within limit: Duration, _ done: @escaping @Sendable () -> Void) { done() }

  // continued
  func makeOperations(_ shop: Environment, _ sessions: Sessions<Void>, on loop: EventLoop) -> Operations {
    let lifecycle = ServerLifecycle(environment: shop, loop: loop, announcement: .seconds(5)) { limit, done in
      stopAccepting(within: limit, done)
    }
    let lag = LoopLag()
    lag.watch([loop])
    return Operations(environment: shop, lifecycle: lifecycle, sessions: [sessions], lag: lag)
  }

  func start(_ shop: Environment, _ operations: Operations) async throws {
    try await shop.ready(options: [.recordTimes])
    try operations.start()
  }
  // end

  // listing
  func answerStrangers(_ request: Request, _ operations: Operations) -> Response? {
    operations.probe(method: request.method, path: request.path).map(makeResponse)
  }

  func answerOperators(_ request: Request, _ operations: Operations) -> Response? {
    operations.respond(
      method: request.method, path: request.path, accept: request.accept, body: request.body
    ).map(makeResponse)
  }

  func makeResponse(_ answer: OperationsResponse) -> Response {
    let fields = [("Content-Type", answer.contentType)] + answer.headers.map { ($0.name, $0.value) }
    return Response(status: answer.status, fields: fields, body: answer.body)
  }
  // end

  // listing
  final class StoreCheck: HealthCheck {
    let name = "store"
    let interval = Duration.seconds(2)
    private let store: Store

    init(store: Store) { self.store = store }

    func check() async throws { try await store.ping() }
  }
  // end
}
