import CLibuv
import Glibc

/// The address of a socket: a host with a port, or the path of a Unix socket.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// A numeric IPv4 or IPv6 address, a name, or `unix:` and the path of a Unix socket.
  package let host: String
  /// The port, 0 to 65,535. Without a meaning for a Unix socket.
  package let port: Int

  /// The path of the Unix socket; nil for a host.
  package var unixPath: String? { host.hasPrefix("unix:") ? String(host.dropFirst("unix:".count)) : nil }

  /// The address as text, such as `"127.0.0.1:80"`, `"[::1]:80"` or `"unix:/run/redis.sock"`.
  package var description: String {
    if unixPath != nil { return host }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Checks the port. Throws `.invalidArgument`.
  func checkPort() throws(EventLoopError) {
    if UInt16(exactly: port) == nil {
      throw EventLoopError(.invalidArgument, "use address \(self)", detail: "ports are 0 to 65535")
    }
  }

  /// The address in the form of the system; nil for a name or a Unix socket.
  var numeric: sockaddr_storage? {
    // libuv reads up to the first NUL.
    if host.utf8.contains(0) { return nil }
    var storage = sockaddr_storage()
    let status = unsafe withUnsafeMutablePointer(to: &storage) { storage -> Int32 in
      let raw = UnsafeMutableRawPointer(storage)
      let status = unsafe uv_ip4_addr(host, Int32(port), raw.assumingMemoryBound(to: sockaddr_in.self))
      return unsafe status == 0 ? 0 : uv_ip6_addr(host, Int32(port), raw.assumingMemoryBound(to: sockaddr_in6.self))
    }
    return status == 0 ? storage : nil
  }

  /// Returns the address and its family in the form of the system. Throws `.invalidArgument` unless the host is numeric
  /// and the port valid.
  func native() throws(EventLoopError) -> sockaddr_storage {
    try checkPort()
    guard let numeric else {
      throw EventLoopError(
        .invalidArgument, "use address \(self)", detail: "not a numeric IPv4 or IPv6 address")
    }
    return numeric
  }

  /// Reads an address that the system has resolved; nil for a family that is neither IPv4 nor IPv6.
  init?(_ native: UnsafePointer<sockaddr>?, port: Int) {
    guard let native = unsafe native, let host = unsafe Self.text(of: native) else { return nil }
    self.init(host: host, port: port)
  }

  /// Reads the address of one end of a socket; nil when the socket has none.
  init?(asking ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32) {
    var storage = sockaddr_storage()
    var length = Int32(MemoryLayout<sockaddr_storage>.size)
    let found = unsafe withUnsafeMutablePointer(to: &storage) { storage -> (host: String, port: UInt16)? in
      let address = unsafe UnsafeMutableRawPointer(storage).assumingMemoryBound(to: sockaddr.self)
      guard unsafe ask(address, &length) == 0, let host = unsafe Self.text(of: address) else { return nil }
      // The port has the same offset in both families.
      let port = unsafe UnsafeRawPointer(storage).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port
      return (host, port.bigEndian)
    }
    guard let found else { return nil }
    self.init(host: found.host, port: Int(found.port))
  }

  /// Returns the numeric host of an address.
  private static func text(of address: UnsafePointer<sockaddr>) -> String? {
    var text = [CChar](repeating: 0, count: 64)
    guard unsafe uv_ip_name(address, &text, text.count) == 0 else { return nil }
    return unsafe text.withUnsafeBufferPointer { unsafe $0.baseAddress.map { unsafe String(cString: $0) } }
  }
}
