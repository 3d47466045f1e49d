import Beans
import BeansRunning
import BeansTesting
import Foundation
import Glibc
import Testing

@testable import AppointmentsServer

@Suite("The server") struct WebServerTests {
  struct ConnectionRefused: Error {}

  @Test("A client books over HTTP with a cookie, until the service is stopped")
  func books() async throws {
    let (ports, announced) = AsyncStream.makeStream(of: Int.self)
    try await TestService.run(
      declareServer, overriding: { $0.override(Announcement.self) { Announcement { announced.yield($0) } } }
    ) { service in
      let running = Task { try await service.environment.run() }
      var iterator = ports.makeAsyncIterator()
      let port = try #require(await iterator.next())

      let welcome = try send("PUT /name", "Ada", to: port)
      #expect(welcome.hasPrefix("HTTP/1.1 200 OK\r\n"))
      let cookie = try #require(welcome.firstMatch(of: /Set-Cookie: (session=[^;]+)/)?.1)
      let booked = try send("POST /appointments", "2027-01-01T10:00:00Z", cookie: String(cookie), to: port)
      #expect(booked.hasPrefix("HTTP/1.1 201 Created\r\n") && booked.hasSuffix("\r\n\r\n1 booked for Ada."))

      service.environment.stop()
      try await running.value
      #expect(throws: ConnectionRefused.self) { try send("GET /appointments", to: port) }
    }
  }

  /// Returns the response to a request, as text.
  private func send(_ request: String, _ body: String = "", cookie: String = "", to port: Int) throws -> String {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let connection = FileHandle(fileDescriptor: socket, closeOnDealloc: true)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        connect(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if status != 0 { throw ConnectionRefused() }
    let fields = ["Host: localhost", "Connection: close", "Content-Length: \(body.utf8.count)", "Cookie: \(cookie)"]
    let head = (["\(request) HTTP/1.1"] + fields).joined(separator: "\r\n")
    try connection.write(contentsOf: Data("\(head)\r\n\r\n\(body)".utf8))
    return String(decoding: try connection.readToEnd() ?? Data(), as: UTF8.self)
  }
}
