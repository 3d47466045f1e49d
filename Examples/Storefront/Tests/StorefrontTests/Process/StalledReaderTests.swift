import Foundation
import Glibc
import Testing

@testable import Storefront

/// The service while the reader of its standard streams has stopped reading.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct StalledReaderTests {
  private let database: TemporaryDatabase

  init() throws { database = try TemporaryDatabase() }

  @Test(arguments: [[STDERR_FILENO], [STDOUT_FILENO], [STDOUT_FILENO, STDERR_FILENO]])
  func aStalledReaderDelaysNoVisitorAndNotTheEnd(_ stalled: [Int32]) throws {
    let pipe = try FullPipe()
    let port = try SignalTests.freePort()
    let service = try ServiceProcess(
      database: database.path, streams: Dictionary(uniqueKeysWithValues: stalled.map { ($0, pipe.writeEnd) }),
      environment: ["PORT": "\(port)", "LOOPS": "2"])
    let visitors = try (0..<4).map { _ in try Self.client(port, of: service) }
    // From here on a request for products is an unexpected error, which has a line in the log.
    let other = try database.connect()
    for table in ["order_lines", "orders", "products"] { try other.execute("DROP TABLE \(table)") }
    for _ in 0..<(setting("STALLED_REQUESTS") ?? 50) {
      for visitor in visitors { try visitor.get("/api/products") }
      for visitor in visitors { #expect(try visitor.receive().status == 500) }
    }
    for visitor in visitors {
      try visitor.get("/nowhere")
      #expect(try visitor.receive().status == 404)
    }
    let end = try service.end()
    #expect(end.status == EXIT_SUCCESS && !end.isSignal, "\(end.status), \(end.isSignal): \(end.output)")
    if !stalled.contains(STDOUT_FILENO) { #expect(end.isClean, "\(end.output)") }
  }

  /// A client of a service that may be unable to print its address.
  private static func client(_ port: Int, of service: ServiceProcess) throws -> TestClient {
    while true {
      if let client = try? TestClient(port: port) { return client }
      try #require(service.isRunning, "the service has ended")
    }
  }
}

/// A pipe that takes nothing more.
final class FullPipe {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw ServiceProcess.Failure(description: "no pipe") }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
    let block = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
    while write(writeEnd, block, block.count) > 0 {}
    while write(writeEnd, block, 1) > 0 {}
    _ = fcntl(writeEnd, F_SETFL, 0)
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }
}
