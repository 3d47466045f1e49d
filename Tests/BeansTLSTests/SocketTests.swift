@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import Foundation
import Testing

@testable import BeansTLS

/// TLS over the sockets of an event loop.
@Suite(.timeLimit(.minutes(5))) struct SocketTests {
  private func trusting(_ authority: Authority) -> TLSOptions {
    var options = TLSOptions()
    options.roots = .bytes(authority.pem)
    return options
  }

  @Test(arguments: ["127.0.0.1", "localhost"])
  func manyBytesArriveInBothDirections(host: String) throws {
    let authority = Authority()
    let text = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let received = Locked<[UInt8]>([])
    let visit = try SocketVisit(.echo(authority.issue()), host: host, trusting(authority)) { connection in
      connection.onRead = { bytes in
        let isComplete = received.withLock {
          $0 += bytes
          return $0.count == text.count
        }
        if isComplete { connection.close() }
      }
      connection.resumeReading()
      connection.write(text)
    }
    #expect(received.withLock { $0 } == text)
    #expect(visit.endedInOrder)
  }

  @Test func writesBeforeTheHandshakeAreSentAfterIt() throws {
    let authority = Authority()
    let received = Locked<[UInt8]>([])
    let visit = try SocketVisit(.echo(authority.issue()), trusting(authority)) { connection in
      connection.onRead = { bytes in
        received.withLock { $0 += bytes }
        connection.closeAfterWrites()
      }
      connection.write([1, 2, 3])
      connection.resumeReading()
    }
    #expect(received.withLock { $0 } == [1, 2, 3])
    #expect(visit.endedInOrder)
  }

  /// The fault names the operation, the host and the port.
  @Test func aRefusedCertificateFailsTheConnection() throws {
    let authority = Authority()
    let expired = authority.issue(until: -3_700)
    let visit = try SocketVisit(.echo(expired), host: "localhost", trusting(authority)) { _ in
      Issue.record("it is established")
    }
    let error = try #require(visit.failure)
    #expect(error.code == .layerFailed)
    #expect("\(error)".hasPrefix("connect to localhost:"), "\(error)")
    #expect("\(error)".contains("the server's certificate expired 1 h ago: renew it there"), "\(error)")
  }

  @Test func aServerWithoutTLSFailsTheConnection() throws {
    let visit = try SocketVisit(.plain(Array("-ERR unknown command\r\n".utf8)), TLSOptions()) { _ in
      Issue.record("it is established")
    }
    #expect("\(try #require(visit.failure))".contains("does not use TLS on this port"))
  }

  @Test func aServerThatClosesInTheHandshakeFailsTheConnection() throws {
    let visit = try SocketVisit(.close, TLSOptions()) { _ in Issue.record("it is established") }
    let error = try #require(visit.failure)
    #expect(error.code == .endOfFile || error.code == .connectionReset, "\(error)")
  }

  /// With TLS 1.3, the server refuses a client after the client's handshake.
  @Test func aMissingCertificateOfTheClientFailsTheConnection() throws {
    let authority = Authority()
    let server = ServerBehaviour.echo(authority.issue(), clients: authority.pem)
    let visit = try SocketVisit(server, trusting(authority)) { connection in connection.resumeReading() }
    let error = try #require(visit.closeFailure)
    #expect("\(error)".contains("requires a certificate: set TLSOptions.certificate and key"), "\(error)")
  }

  enum Flood: Sendable, CaseIterable {
    case alerts
    case recordTooLong
    case recordsWithoutAMessage
    case changesOfCiphers

    var bytes: [UInt8] {
      switch self {
      case .alerts: Array(repeatElement([21, 3, 3, 0, 2, 1, 90], count: 10_000).joined())
      case .recordTooLong: [22, 3, 3, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 65_535)
      case .recordsWithoutAMessage: Array(repeatElement([22, 3, 3, 0, 0], count: 10_000).joined())
      case .changesOfCiphers: Array(repeatElement([20, 3, 3, 0, 1, 1], count: 10_000).joined())
      }
    }
  }

  /// The server sends as long as the client reads.
  @Test(arguments: Flood.allCases)
  func aFloodFailsTheConnection(flood: Flood) throws {
    let bytes = flood.bytes
    let before = try residentBytes()
    for _ in 0..<20 {
      let visit = try SocketVisit(.flood(bytes), TLSOptions()) { _ in Issue.record("it is established") }
      #expect(visit.failure?.code == .layerFailed, "\(visit.failure as Any)")
    }
    try expectGrowth(below: 32 << 20, since: before)
  }
}

/// Expects that the resident memory has grown by less than `limit` bytes, where `TLS_MEMORY` is set. Elsewhere, other tests
/// run in the same process, and their memory would count.
func expectGrowth(below limit: Int, since before: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
  guard getenv("TLS_MEMORY") != nil else { return }
  #expect(try residentBytes() - before < limit, sourceLocation: sourceLocation)
}

/// Returns the resident memory of this process, from the second number (pages) of Linux's `statm`.
func residentBytes() throws -> Int {
  let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
  return try #require(fields.count > 1 ? Int(fields[1]) : nil) * Int(getpagesize())
}
