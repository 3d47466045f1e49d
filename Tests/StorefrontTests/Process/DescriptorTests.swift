import Glibc
import Testing

@testable import Storefront

/// The service with few file descriptors, and more clients than there are.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct DescriptorTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  @Test func leavesDescriptorsForWhatIsNoConnection() throws {
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

  @Test(arguments: [5, 9, 20, 37]) func refusesToStartWithTooFew(descriptors: Int) throws {
    let end = try ServiceProcess(database: database.path, descriptors: descriptors).end(signal: false)
    #expect(end.status == ConfigurationFaults.exitCode && !end.isSignal)
    #expect(end.output.contains("\(descriptors) file descriptors"), "\(end.output)")
  }

  @Test(arguments: [2, 8], [38, 40, 64, 256])
  func servesWhatItHasAndAcceptsAgain(loops: Int, descriptors: Int) throws {
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
}
