import BeansEventLoop
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import Storefront

/// The end of a server: every request that has arrived gets its whole response.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct HTTPDrainTests {
  @Test func aDrainClosesIdleConnectionsAtOnce() throws {
    let server = try TestServer(loops: 2)
    let clients = try (0..<6).map { _ in try server.client() }
    for client in clients.dropFirst() {
      try client.get("/")
      _ = try client.receive()
    }
    let counts = try server.end()
    for client in clients { try client.receiveEnd() }
    #expect(counts == HTTPCounts(acceptedConnections: 6, requests: 5, answered: 5))
  }

  @Test func aDrainRefusesNewConnections() throws {
    let server = try TestServer(loops: 2)
    server.drain()
    #expect(throws: TestClient.Failure.self) { try server.client() }
    try server.end()
  }

  @Test func aDrainLetsRequestsInFlightFinish() throws {
    let box = ExchangeBox()
    let server = try TestServer { box.add($0) }
    let client = try server.client()
    try client.get("/a")
    try client.get("/b")
    let exchanges = box.take(2)
    let done = server.beginDrain()
    for exchange in exchanges { exchange.respond(.text(.ok, exchange.request.path)) }
    let first = try client.receive()
    let second = try client.receive()
    #expect(first.text == "/a")
    #expect(!first.closes)
    #expect(second.text == "/b")
    #expect(second.closes)
    try client.receiveEnd()
    done.wait()
    #expect(server.server.counts == HTTPCounts(acceptedConnections: 1, requests: 2, answered: 2))
    try server.end()
  }

  @Test(arguments: [10, 30, 60]) func aDrainServesARequestThatHasArrivedInPart(sent: Int) throws {
    let server = try TestServer()
    let client = try server.client()
    let request = Array("POST /part HTTP/1.1\r\nHost: t\r\nContent-Length: 20\r\n\r\n01234567890123456789".utf8)
    try client.get("/before")
    _ = try client.receive()
    try client.send(Array(request[..<sent]))
    let done = server.beginDrain()
    try client.send(Array(request[sent...]))
    let response = try client.receive()
    #expect(response.text == "/part")
    #expect(response.closes)
    try client.receiveEnd()
    done.wait()
    #expect(try server.end().answered == 2)
  }

  @Test func theLastRequestOfAnActiveConnectionIsServed() throws {
    var settings = HTTPServerSettings.forTests
    settings.drainGrace = .seconds(10)
    let server = try TestServer(settings)
    let client = try server.client()
    try client.get("/first")
    #expect(try !client.receive().closes)
    let done = server.beginDrain()
    try client.get("/last")
    let response = try client.receive()
    #expect(response.text == "/last")
    #expect(response.closes)
    try client.receiveEnd()
    done.wait()
    try server.end()
  }

  @Test func aLargeResponseIsWrittenToItsEnd() throws {
    let body = [UInt8](repeating: 7, count: 8 * 1024 * 1024)
    let server = try TestServer { $0.respond(HTTPResponse(.ok, body: body)) }
    let client = try TestClient(port: server.port, receiveBuffer: 8 * 1024)
    try client.get("/")
    while server.server.counts.requests == 0 { sched_yield() }
    let done = server.beginDrain()
    #expect(try client.receive().body == body)
    try client.receiveEnd()
    done.wait()
    #expect(try server.end().answered == 1)
  }

  @Test func aDrainCutsOffRequestsThatDoNotEnd() throws {
    let box = ExchangeBox()
    let server = try TestServer { box.add($0) }
    let client = try server.client()
    try client.get("/")
    let exchanges = box.take(1)
    let counts = server.drain(within: .milliseconds(20))
    #expect(counts.aborted == 1)
    #expect(counts.openConnections == 0)
    // Too late, and without effect.
    for exchange in exchanges { exchange.respond(HTTPResponse(.ok)) }
    try server.end()
  }

  @Test func aSecondDrainCanShortenTheFirst() throws {
    let box = ExchangeBox()
    let server = try TestServer { box.add($0) }
    let client = try server.client()
    try client.get("/")
    let exchanges = box.take(1)
    let first = server.beginDrain(within: .seconds(1000))
    server.drain(within: .zero)
    first.wait()
    #expect(server.server.counts.aborted == 1)
    // A dropped exchange is answered.
    withExtendedLifetime(exchanges) {}
    try server.end()
  }

  /// Clients that send as fast as they can, and a drain in the middle: every request gets a whole response until the server
  /// has said on its connection that it closes.
  @Test func aDrainLosesNoRequestUnderLoad() throws {
    var settings = HTTPServerSettings.forTests
    settings.drainGrace = .seconds(10)
    let server = try TestServer(loops: 2, settings)
    let tally = Tally()
    onThreads(9) { number in
      if number == 8 {
        while server.server.counts.requests < 2_000 { sched_yield() }
        server.drain()
        return
      }
      do {
        let client = try server.client()
        var isOpen = true
        while isOpen {
          try client.get("/")
          isOpen = try !client.receive().closes
          tally.answered.add(1, ordering: .relaxed)
        }
        try client.receiveEnd()
      } catch {
        Issue.record("\(error)")
      }
    }
    let counts = try server.end()
    #expect(counts.requests >= 2_000)
    #expect(counts.answered == counts.requests)
    #expect(counts.answered == tally.answered.load(ordering: .relaxed))
    #expect(counts.aborted == 0)
    #expect(counts.openConnections == 0)
  }

  private final class Tally: Sendable {
    let answered = Atomic(0)
  }

  /// While the loop is kept busy the grace of an idle connection passes, and its next request arrives.
  @Test func aRequestThatArrivesWhileTheLoopIsBusyIsServed() throws {
    var settings = HTTPServerSettings.forTests
    settings.drainGrace = .milliseconds(300)
    let isBusy = DispatchSemaphore(value: 0)
    let mayGoOn = DispatchSemaphore(value: 0)
    let server = try TestServer(settings) { exchange in
      if exchange.request.path == "/busy" {
        isBusy.signal()
        mayGoOn.wait()
      }
      exchange.respond(.text(.ok, exchange.request.path))
    }
    let (busy, idle) = (try server.client(), try server.client())
    for client in [idle, busy] {
      try client.get("/first")
      _ = try client.receive()
    }
    let done = server.beginDrain()
    let drained = MonotonicTime.now
    try busy.get("/busy")
    isBusy.wait()
    try idle.get("/second")
    // Only time makes a deadline pass.
    while MonotonicTime.now.since(drained) < settings.drainGrace { sched_yield() }
    mayGoOn.signal()
    #expect(try busy.receive().text == "/busy")
    let response = try idle.receive()
    #expect(response.text == "/second")
    #expect(response.closes)
    done.wait()
    #expect(try server.end().answered == 4)
  }

  @Test func aSecondServerOnTheSamePortIsRefused() throws {
    let first = try TestServer(loops: 2)
    let second = HTTPServer()
    let threads = try (0..<2).map { _ in try EventLoopThread() }
    let error = #expect(throws: EventLoopError.self) {
      try second.start(host: "127.0.0.1", port: first.port, on: threads) { _ in }
    }
    #expect(error?.code == .addressInUse)
    for thread in threads { try thread.stopAndJoin() }
    let client = try first.client()
    try client.get("/")
    #expect(try client.receive().status == 200)
    try first.end()
  }

  @Test func aServerThatDrainsDoesNotBeginToListen() throws {
    let server = HTTPServer()
    let thread = try EventLoopThread()
    let isDrained = DispatchSemaphore(value: 0)
    server.drain(within: .seconds(15)) { isDrained.signal() }
    isDrained.wait()
    #expect(try server.start(host: "127.0.0.1", port: 0, on: [thread]) { _ in } == nil)
    #expect(thread.loop.openHandles == [:])
    try thread.stopAndJoin()
  }

  @Test func aTakenPortIsReported() throws {
    let server = try TestServer()
    let loop = try EventLoop()
    let listener = try TCPListener(on: loop) { $0.close() }
    let second = HTTPServer()
    let thread = try EventLoopThread()
    let error = #expect(throws: EventLoopError.self) {
      try second.start(host: "127.0.0.1", port: listener.port, on: [thread]) { _ in }
    }
    #expect(error?.code == .addressInUse)
    try thread.stopAndJoin()
    listener.close()
    try loop.close()
    try server.end()
  }
}
