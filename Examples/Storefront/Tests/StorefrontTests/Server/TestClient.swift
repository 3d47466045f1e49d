import Glibc

@testable import Storefront

/// A client with a plain blocking socket, so that a test decides which bytes go out when.
final class TestClient {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// One response as it came in.
  struct Response: Equatable {
    var status: Int
    /// Names in lower case.
    var fields: [String: String]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var closes: Bool { fields["connection"] == "close" }
  }

  private let descriptor: Int32
  private var input: [UInt8] = []
  private(set) var hasEnded = false

  /// Connects. `receiveBuffer` limits the bytes that the system takes in for a client that does not read.
  init(port: Int, receiveBuffer: Int32? = nil) throws {
    // A process that another test starts must not keep the connection open.
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(description: "no socket") }
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    // A test whose event never comes fails instead of hanging.
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // The end of a client that is whole already closes the descriptor, here, too.
    guard status == 0 else { throw Failure(description: "connect: \(String(cString: strerror(errno)))") }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard sent > 0 else { throw Failure(description: "send: \(String(cString: strerror(errno)))") }
      rest = rest.dropFirst(sent)
    }
  }

  /// Closes this side only.
  func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// A simple request.
  func get(_ path: String, _ fields: String = "") throws {
    try send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
  }

  /// Asks until the service is ready: the check of the store ends by itself.
  func waitUntilReady() throws {
    repeat { try get("/readyz") } while try receive().status == 503
  }

  /// Returns the next response. `isHead`: it has no body although it has a length.
  func receive(isHead: Bool = false) throws -> Response {
    while true {
      if let end = headEnd {
        var response = try parse(Array(input[..<end]))
        let length = isHead ? 0 : Int(response.fields["content-length"] ?? "0") ?? 0
        if input.count >= end + length {
          response.body = Array(input[end..<end + length])
          input.removeFirst(end + length)
          return response
        }
      }
      guard try receiveMore() else { throw Failure(description: "the connection ended inside a response: \(text)") }
    }
  }

  /// Waits until the server has closed its side. Throws where bytes come before that.
  func receiveEnd() throws {
    while try receiveMore() {}
    guard input.isEmpty else { throw Failure(description: "unexpected bytes: \(text)") }
  }

  /// Takes at most so many bytes, and drops them. Returns how many; none where the server has ended the connection.
  func skip(_ most: Int) -> Int {
    var bytes = [UInt8](repeating: 0, count: most)
    return max(0, recv(descriptor, &bytes, most, 0))
  }

  /// Returns true if there are bytes to receive, or the end, within so many milliseconds.
  func hasInput(within milliseconds: Int32) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, milliseconds) > 0
  }

  private var text: String { String(decoding: input.prefix(500), as: UTF8.self) }

  private var headEnd: Int? {
    guard input.count >= 4 else { return nil }
    for index in 3..<input.count
    where input[index] == 10 && input[index - 1] == 13 && input[index - 2] == 10 && input[index - 3] == 13 {
      return index + 1
    }
    return nil
  }

  private func parse(_ head: [UInt8]) throws -> Response {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let parts = lines.first?.split(separator: " ") ?? []
    guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else {
      throw Failure(description: "no status line: \(lines)")
    }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let sides = line.split(separator: ": ", maxSplits: 1)
      fields[sides[0].lowercased()] = sides.count == 2 ? String(sides[1]) : ""
    }
    return Response(status: status, fields: fields, body: [])
  }

  /// False at the end.
  private func receiveMore() throws -> Bool {
    if hasEnded { return false }
    var bytes = [UInt8](repeating: 0, count: 64 * 1024)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw Failure(description: "receive: \(String(cString: strerror(errno)))") }
    input.append(contentsOf: bytes[..<count])
    hasEnded = count == 0
    return count > 0
  }
}
