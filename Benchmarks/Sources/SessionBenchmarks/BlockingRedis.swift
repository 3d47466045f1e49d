import CSecureSocket
import Glibc

/// A connection to a Redis server that blocks the caller for each command.
final class BlockingRedis {
  private let descriptor: Int32
  /// The TLS of the connection; nil without.
  private let secured: OpaquePointer?
  private var input: [UInt8] = []
  private var start = 0

  /// - Parameters:
  ///   - port: the port of the server on this machine.
  ///   - roots: the file of the authorities that the server's certificate is verified against; nil without TLS.
  init(port: Int, roots: String? = nil) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failed(description: "no Redis server at port \(port)") }
    self.descriptor = descriptor
    secured = roots.flatMap { secure_socket_open(descriptor, $0, "127.0.0.1") }
    if roots != nil, secured == nil { throw Failed(description: "no TLS at port \(port)") }
  }

  deinit {
    if let secured { secure_socket_close(secured) }
    close(descriptor)
  }

  private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let secured else { return Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
    return secure_socket_send(secured, bytes.baseAddress, bytes.count)
  }

  private func receive(into bytes: UnsafeMutableRawBufferPointer) -> Int {
    guard let secured else { return recv(descriptor, bytes.baseAddress, bytes.count, 0) }
    return secure_socket_receive(secured, bytes.baseAddress, bytes.count)
  }

  func call(_ words: String...) throws -> [UInt8]? { try call(words.map { Array($0.utf8) }) }

  /// The reply as bytes; nil for none.
  func call(_ words: [[UInt8]]) throws -> [UInt8]? {
    var command = Array("*\(words.count)\r\n".utf8)
    for word in words { command += Array("$\(word.count)\r\n".utf8) + word + [13, 10] }
    var sent = 0
    while sent < command.count {
      let count = command[sent...].withUnsafeBytes(send)
      guard count > 0 else { throw Failed(description: "the server has gone") }
      sent += count
    }
    let line = try readLine()
    guard line.first == UInt8(ascii: "$") else {
      if line.first == UInt8(ascii: "-") {
        throw Failed(description: String(decoding: line, as: UTF8.self))
      }
      return Array(line.dropFirst())
    }
    guard let count = Int(String(decoding: line.dropFirst(), as: UTF8.self)), count >= 0 else { return nil }
    while input.count < start + count + 2 { try receive() }
    defer { start += count + 2 }
    return Array(input[start..<start + count])
  }

  private func readLine() throws -> ArraySlice<UInt8> {
    if start == input.count { (input, start) = ([], 0) }
    while true {
      if let end = input[start...].firstIndex(of: 10) {
        defer { start = end + 1 }
        return input[start..<end - 1]
      }
      try receive()
    }
  }

  private func receive() throws {
    var bytes = [UInt8](repeating: 0, count: 128 << 10)
    let count = bytes.withUnsafeMutableBytes(receive(into:))
    guard count > 0 else { throw Failed(description: "the server has gone") }
    input += bytes[..<count]
  }

  private func information(_ section: String, _ name: String) throws -> Double {
    let text = String(decoding: try call("INFO", section) ?? [], as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }
    guard let number = line.flatMap({ Double($0.dropFirst(name.count + 1)) }) else {
      throw Failed(description: "the server does not tell \(name)")
    }
    return number
  }

  /// Seconds of the server's processor so far.
  func processor() throws -> Double {
    try information("cpu", "used_cpu_sys") + information("cpu", "used_cpu_user")
  }

  func memory() throws -> Int { Int(try information("memory", "used_memory")) }

  func count() throws -> Int { Int(String(decoding: try call("DBSIZE") ?? [], as: UTF8.self)) ?? 0 }

  /// Returns the bytes of one key; nil if there is none.
  func bytesOfOneKey() throws -> Int? {
    guard let key = try call("RANDOMKEY") else { return nil }
    let bytes = try call(["MEMORY", "USAGE"].map { Array($0.utf8) } + [key] + ["SAMPLES", "0"].map { Array($0.utf8) })
    return Int(String(decoding: bytes ?? [], as: UTF8.self))
  }
}
