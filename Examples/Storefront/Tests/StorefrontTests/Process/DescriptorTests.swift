import Dispatch
import Glibc
import Testing

@testable import Storefront

/// The service with few file descriptors, and more clients than there are.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct DescriptorTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  @Test func theLimitOfConnectionsLeavesDescriptorsForOtherFiles() throws {
    for limit in [40, 64, 256, 1024, 1_048_576] {
      for wanted in [1, 2, 8, 64, 256] {
        let loops = try FileDescriptors.loops(wanted, limit: limit)
        #expect((1...wanted).contains(loops))
        var settings = HTTPServerSettings()
        settings.limitConnections(to: FileDescriptors.connections(loops: loops, limit: limit))
        #expect(settings.maximumConnections + settings.maximumRefusals >= 2 * loops)
        #expect(settings.maximumConnections >= loops)
        #expect(settings.maximumConnections + settings.maximumRefusals + 8 * loops + 28 <= limit)
      }
    }
  }

  @Test(arguments: [5, 9, 20, 37]) func theServiceRefusesToStartWithTooFewDescriptors(descriptors: Int) throws {
    let end = try ServiceProcess(database: database.path, descriptors: descriptors).end(signal: false)
    #expect(end.status == ConfigurationFaults.exitCode && !end.isSignal)
    #expect(end.output.contains("\(descriptors) file descriptors"), "\(end.output)")
  }

  @Test(arguments: [2, 8], [38, 40, 64, 256])
  func theServiceServesItsConnectionsAndAcceptsAgain(loops: Int, descriptors: Int) throws {
    let service = try ServiceProcess(
      database: database.path, descriptors: descriptors, environment: ["LOOPS": "\(loops)"])
    let port = try service.port()
    let visitor = try TestClient(port: port)
    try visitor.get("/")
    #expect(try visitor.receive().status == 200)

    for _ in 0..<2 {
      var crowd: [TestClient] = []
      for _ in 0..<descriptors + 100 { crowd.append(try TestClient(port: port)) }
      for path in ["/healthz", "/api/products", "/", "/healthz"] {
        try visitor.get(path)
        #expect(try visitor.receive().status == 200, "\(path)")
      }
      crowd = []
      // Until the service has seen the others go, it may be full.
      var status = 503
      while status == 503 {
        let late = try TestClient(port: port)
        guard (try? late.get("/healthz")) != nil, let response = try? late.receive() else { continue }
        status = response.status
      }
      #expect(status == 200)
    }
    let crowd = try (0..<descriptors + 100).map { _ in try TestClient(port: port) }
    let end = try service.end()
    #expect(end.isClean, "\(end.status), \(end.isSignal): \(end.output)")
    withExtendedLifetime(crowd) {}
  }

  /// Each loop, and the thread that writes, opens a connection to the database as soon as all others are in use.
  @Test(arguments: [1, 2, 8]) func connectionsLeaveRoomForTheDatabase(loops: Int) throws {
    let descriptors = 128
    let service = try ServiceProcess(
      database: database.path, descriptors: descriptors, environment: ["LOOPS": "\(loops)"])
    let client = try TestClient(port: service.port())
    try client.get("/api/products")
    #expect(try client.receive().status == 200)
    let others = try service.openDescriptors() - 1
    // The start has opened one connection.
    let ofDatabase = FileDescriptors.ofDatabase * loops
    let connections = FileDescriptors.connections(loops: loops, limit: descriptors)
    #expect(connections + others + ofDatabase <= descriptors)
    #expect(try service.end().isClean)
  }

  /// Each loop has a connection to the database of its own as soon as two of them use it at the same time.
  @Test func aFullHouseReadsAndBuysOnAllLoops() throws {
    let descriptors = 128
    let service = try ServiceProcess(database: database.path, descriptors: descriptors, environment: ["LOOPS": "8"])
    let port = try service.port()
    let (hasCome, isFull) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let visitors = (0..<16).map { _ in
      BackgroundThread {
        let visitor = try TestClient(port: port)
        try visitor.get("/")
        let status = try visitor.receive().status
        hasCome.signal()
        isFull.wait()
        return try [status].filter { $0 != 200 } + Self.readAndBuy(visitor, times: 20)
      }
    }
    for _ in visitors { hasCome.wait() }
    var crowd = try (0..<descriptors + 100).map { _ in try TestClient(port: port) }
    for _ in visitors { isFull.signal() }
    let isOver = Flag()
    let end = BackgroundThread {
      defer { isOver.raise() }
      return try visitors.flatMap { try $0.value() }
    }
    // In the place of each that is refused and goes comes another.
    while !isOver.isRaised {
      crowd.removeFirst()
      crowd.append(try TestClient(port: port))
    }
    #expect(try end.value() == [])
    let report = try service.end()
    #expect(report.isClean, "\(report.output)")
    withExtendedLifetime(crowd) {}
  }

  /// Returns the statuses that should not have come.
  private static func readAndBuy(_ visitor: TestClient, times: Int) throws -> [Int] {
    var wrong: [Int] = []
    func expect(_ status: Int) throws -> TestClient.Response {
      let response = try visitor.receive()
      if response.status != status { wrong.append(response.status) }
      return response
    }
    for _ in 0..<times {
      try visitor.get("/api/products")
      _ = try expect(200)
      try visitor.send(
        "POST /api/cart HTTP/1.1\r\nHost: t\r\nContent-Type: application/x-www-form-urlencoded\r\n"
          + "Content-Length: 9\r\n\r\nproduct=2")
      let cookie = try expect(200).fields["set-cookie"]?.prefix { $0 != ";" } ?? ""
      try visitor.send("POST /api/checkout HTTP/1.1\r\nHost: t\r\nCookie: \(cookie)\r\nContent-Length: 0\r\n\r\n")
      _ = try expect(201)
    }
    return wrong
  }
}
