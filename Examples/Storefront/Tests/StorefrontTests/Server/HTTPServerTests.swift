import BeansEventLoop
import Dispatch
import Synchronization
import Testing

@testable import Storefront

/// Real sockets, one loop thread each; the suite runs one test at a time to keep the threads few.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct HTTPServerTests {
  // MARK: answering

  @Test func aServerServesOneRequestAfterTheOther() throws {
    let server = try TestServer()
    let client = try server.client()
    for number in 0..<5 {
      try client.get("/\(number)")
      let response = try client.receive()
      #expect(response.status == 200)
      #expect(response.text == "/\(number)")
      #expect(!response.closes)
      #expect(response.fields["date"]?.hasSuffix(" GMT") == true)
    }
    let counts = try server.end()
    #expect(counts == HTTPCounts(acceptedConnections: 1, requests: 5, answered: 5))
    try client.receiveEnd()
  }

  @Test func aServerServesAPipelineInOneGo() throws {
    let server = try TestServer()
    let client = try server.client()
    try client.send((0..<200).map { "GET /\($0) HTTP/1.1\r\nHost: t\r\n\r\n" }.joined())
    for number in 0..<200 { #expect(try client.receive().text == "/\(number)") }
    #expect(try server.end().answered == 200)
  }

  @Test func aServerServesARequestThatArrivesByteByByte() throws {
    let server = try TestServer { $0.respond(HTTPResponse(.ok, body: $0.request.body)) }
    let client = try server.client()
    let request = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    for byte in request.utf8 { try client.send([byte]) }
    #expect(try client.receive().text == "hello")
    try server.end()
  }

  @Test func aServerClosesWhenTheClientAsksForIt() throws {
    let server = try TestServer()
    let client = try server.client()
    try client.get("/a", "Connection: close\r\n")
    let response = try client.receive()
    #expect(response.closes)
    try client.receiveEnd()
    #expect(try server.end().answered == 1)
  }

  @Test func aServerRespondsToAClientThatHasClosedItsSide() throws {
    let box = ExchangeBox()
    let server = try TestServer { box.add($0) }
    let client = try server.client()
    try client.get("/a")
    try client.get("/b")
    client.endOutput()
    for exchange in box.take(2) { exchange.respond(.text(.ok, exchange.request.path)) }
    #expect(try client.receive().text == "/a")
    #expect(try client.receive().text == "/b")
    try client.receiveEnd()
    #expect(try server.end().answered == 2)
  }

  @Test func aResponseToHeadHasNoBody() throws {
    let server = try TestServer()
    let client = try server.client()
    try client.send("HEAD /abc HTTP/1.1\r\nHost: t\r\n\r\n")
    let response = try client.receive(isHead: true)
    #expect(response.fields["content-length"] == "4")
    try client.get("/next")
    #expect(try client.receive().text == "/next")
    try server.end()
  }

  @Test func aServerAsksForABodyThatWaits() throws {
    let server = try TestServer { $0.respond(HTTPResponse(.ok, body: $0.request.body)) }
    let client = try server.client()
    try client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
    #expect(try client.receive().status == 100)
    try client.send("hi")
    #expect(try client.receive().text == "hi")
    try server.end()
  }

  @Test func aServerTakesLargeBodiesBothWays() throws {
    let server = try TestServer { $0.respond(HTTPResponse(.ok, body: $0.request.body + $0.request.body)) }
    let client = try server.client()
    let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }
    try client.send(Array("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body)
    #expect(try client.receive().body == body + body)
    #expect(try server.end().answered == 1)
  }

  // MARK: responses from elsewhere

  @Test func responsesLeaveInTheOrderOfTheRequests() throws {
    let box = ExchangeBox()
    let server = try TestServer { box.add($0) }
    let client = try server.client()
    for number in 0..<4 { try client.get("/\(number)") }
    // From this thread, the last one first.
    for exchange in box.take(4).reversed() { exchange.respond(.text(.ok, exchange.request.path)) }
    for number in 0..<4 { #expect(try client.receive().text == "/\(number)") }
    try server.end()
  }

  @Test func aRequestGetsOneResponseOnly() throws {
    let server = try TestServer { exchange in
      #expect(exchange.respond(.text(.ok, "first")))
      #expect(!exchange.respond(.text(.ok, "second")))
    }
    let client = try server.client()
    try client.get("/")
    #expect(try client.receive().text == "first")
    #expect(try server.end().answered == 1)
    try client.receiveEnd()
  }

  @Test func aServerRespondsForAHandlerThatForgets() throws {
    let forgotten = Guarded<[String]>([])
    let server = try TestServer(
      handler: { _ in }, onUnanswered: { request in forgotten.withLock { $0.append(request.path) } })
    let client = try server.client()
    try client.get("/a")
    #expect(try client.receive().status == 500)
    try client.get("/b")
    #expect(try client.receive().status == 500)
    #expect(try server.end().answered == 2)
    #expect(forgotten.withLock { $0 } == ["/a", "/b"])
  }

  @Test func aServerLimitsTheRequestsInFlight() throws {
    let box = ExchangeBox()
    var settings = HTTPServerSettings.forTests
    settings.maximumPipelined = 3
    let server = try TestServer(settings) { box.add($0) }
    let client = try server.client()
    for number in 0..<10 { try client.get("/\(number)") }
    var answered = 0
    var waiting: [HTTPExchange] = []
    while answered < 10 {
      waiting += box.take(min(3, 10 - answered) - waiting.count)
      #expect(waiting.count <= 3)
      #expect(box.count == 0)
      waiting.removeFirst().respond(.text(.ok, ""))
      _ = try client.receive()
      answered += 1
    }
    #expect(try server.end().requests == 10)
  }

  @Test func anExchangeReportsThatItsClientHasGone() throws {
    let box = ExchangeBox()
    let gone = DispatchSemaphore(value: 0)
    let server = try TestServer { exchange in
      #expect(exchange.whenAbandoned { gone.signal() })
      box.add(exchange)
    }
    var client: TestClient? = try server.client()
    try client?.get("/")
    let exchanges = box.take(1)
    client = nil
    // The server notices when it writes or, here, at the latest when the drain cuts the connection off.
    let counts = server.drain(within: .zero)
    gone.wait()
    #expect(counts.aborted == 1)
    #expect(counts.answered == 0)
    for exchange in exchanges { exchange.respond(.text(.ok, "too late")) }
    try server.end()
  }

  // MARK: back-pressure

  @Test func aServerStopsReadingFromAClientThatDoesNotRead() throws {
    final class Counter: Sendable {
      let count = Atomic(0)
    }
    let counter = Counter()
    let body = [UInt8](repeating: 120, count: 256 * 1024)
    let server = try TestServer { exchange in
      counter.count.add(1, ordering: .relaxed)
      exchange.respond(HTTPResponse(.ok, body: body))
    }
    let client = try TestClient(port: server.port, receiveBuffer: 8 * 1024)
    // 64 MiB of responses, which no socket buffer takes.
    try client.send((0..<256).map { "GET /\($0) HTTP/1.1\r\nHost: t\r\n\r\n" }.joined())
    let first = try client.receive()
    #expect(first.body.count == body.count)
    #expect(counter.count.load(ordering: .relaxed) < 200)
    for _ in 1..<256 { #expect(try client.receive().body.count == body.count) }
    #expect(counter.count.load(ordering: .relaxed) == 256)
    #expect(try server.end().answered == 256)
  }

  // MARK: refusals

  @Test func aRefusalClosesTheConnection() throws {
    let server = try TestServer()
    for (request, status) in [
      ("BAD\r\n\r\n", 400), ("GET / HTTP/2.0\r\nHost: t\r\n\r\n", 505),
      ("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999\r\n\r\n", 413),
      ("GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: t\r\n\r\n", 414),
      ("GET / HTTP/1.1\r\nHost: t\r\nX: \(String(repeating: "a", count: 17_000))\r\n\r\n", 431),
    ] {
      let client = try server.client()
      try client.send(request)
      let response = try client.receive()
      #expect(response.status == status)
      #expect(response.closes)
      try client.receiveEnd()
    }
    let counts = try server.end()
    #expect(counts.refusedRequests == 5)
    #expect(counts.requests == 0)
    #expect(counts.aborted == 0)
  }

  @Test func aServerRespondsToTheRequestsBeforeARefusedOne() throws {
    let box = ExchangeBox()
    let server = try TestServer { box.add($0) }
    let client = try server.client()
    try client.send("GET /good HTTP/1.1\r\nHost: t\r\n\r\nBAD\r\n\r\nGET /after HTTP/1.1\r\nHost: t\r\n\r\n")
    for exchange in box.take(1) { exchange.respond(.text(.ok, "good")) }
    #expect(try client.receive().text == "good")
    #expect(try client.receive().status == 400)
    try client.receiveEnd()
    #expect(try server.end().requests == 1)
  }

  @Test func theClientGetsTheRefusalEvenIfItGoesOnSending() throws {
    let server = try TestServer()
    let client = try server.client()
    try client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 9000000\r\n\r\n")
    for _ in 0..<8 { try client.send([UInt8](repeating: 1, count: 100_000)) }
    #expect(try client.receive().status == 413)
    try server.end()
  }

  @Test func aServerRefusesTooManyConnections() throws {
    var settings = HTTPServerSettings.forTests
    settings.maximumConnections = 2
    let server = try TestServer(settings)
    let first = try server.client()
    let second = try server.client()
    try first.get("/1")
    try second.get("/2")
    #expect(try first.receive().status == 200)
    #expect(try second.receive().status == 200)
    let third = try server.client()
    let refusal = try third.receive()
    #expect(refusal.status == 503)
    #expect(refusal.closes)
    try third.receiveEnd()
    try first.get("/again")
    #expect(try first.receive().status == 200)
    #expect(try server.end().refusedConnections == 1)
  }

  // MARK: deadlines

  @Test(arguments: ["GET / HTTP/1.1\r\nHos", "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nab"])
  func aServerRefusesARequestThatTakesTooLong(start: String) throws {
    var settings = HTTPServerSettings.forTests
    settings.headTimeout = .milliseconds(30)
    settings.requestTimeout = .milliseconds(60)
    let server = try TestServer(settings)
    let client = try server.client()
    try client.get("/fine")
    #expect(try client.receive().status == 200)
    try client.send(start)
    let response = try client.receive()
    #expect(response.status == 408)
    #expect(response.closes)
    try client.receiveEnd()
    #expect(try server.end().refusedRequests == 1)
  }

  @Test func aTrickleDoesNotExtendTheDeadline() throws {
    var settings = HTTPServerSettings.forTests
    settings.headTimeout = .milliseconds(100)
    let server = try TestServer(settings)
    let client = try server.client()
    let clock = ContinuousClock()
    let begin = clock.now
    // Sends until the server has had enough; every send comes long before the deadline of the one before.
    while clock.now - begin < .seconds(15) {
      do { try client.send("X") } catch { break }
      if client.hasInput(within: 5) { break }
    }
    #expect(clock.now - begin < .seconds(15))
    #expect(try client.receive().status == 408)
    try server.end()
  }

  @Test func aServerClosesAnIdleConnection() throws {
    var settings = HTTPServerSettings.forTests
    settings.keepAliveTimeout = .milliseconds(30)
    let server = try TestServer(settings)
    let silent = try server.client()
    let client = try server.client()
    try client.get("/")
    #expect(try client.receive().status == 200)
    try client.receiveEnd()
    try silent.receiveEnd()
    #expect(try server.end().refusedRequests == 0)
  }

  @Test func aServerDropsAClientThatReadsNothing() throws {
    var settings = HTTPServerSettings.forTests
    settings.writeTimeout = .milliseconds(100)
    let gone = DispatchSemaphore(value: 0)
    let box = ExchangeBox()
    defer { box.empty() }
    let server = try TestServer(settings) { exchange in
      if exchange.request.path == "/wait" {
        exchange.whenAbandoned { gone.signal() }
        box.add(exchange)
      } else {
        exchange.respond(HTTPResponse(.ok, body: [UInt8](repeating: 0, count: 32 * 1024 * 1024)))
      }
    }
    let client = try TestClient(port: server.port, receiveBuffer: 8 * 1024)
    try client.send("GET /wait HTTP/1.1\r\nHost: t\r\n\r\n")
    let first = box.take(1)
    try client.get("/large")
    // The second waits behind the first; a response to that lets the large one out, and no client takes it.
    first[0].respond(.text(.ok, ""))
    try client.get("/wait")
    while server.server.counts.openConnections > 0 { gone.wait(for: 10) }
    #expect(try server.end().aborted >= 1)
  }
}

extension DispatchSemaphore {
  /// Waits at most so many milliseconds.
  fileprivate func wait(for milliseconds: Int) { _ = wait(timeout: .now() + .milliseconds(milliseconds)) }
}
