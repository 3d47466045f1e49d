import CLibuv
import Glibc

/// A numeric IPv4 or IPv6 address with a port. Names are not resolved.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// The numeric host, such as `"127.0.0.1"` or `"::1"`.
  package let host: String
  /// The port, 0 to 65,535.
  package let port: Int

  /// The address as text, such as `"127.0.0.1:80"` or `"[::1]:80"`.
  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Returns the address and its family in the form of the system. Throws `.invalidArgument` unless the host is numeric
  /// and the port valid.
  func native() throws(EventLoopError) -> sockaddr_storage {
    guard let port = UInt16(exactly: port) else {
      throw EventLoopError(.invalidArgument, "use address \(self)", detail: "ports are 0 to 65535")
    }
    var storage = sockaddr_storage()
    let status = unsafe withUnsafeMutablePointer(to: &storage) { storage -> Int32 in
      // libuv reads up to the first NUL.
      if host.utf8.contains(0) { return UV_EINVAL.rawValue }
      let raw = UnsafeMutableRawPointer(storage)
      let status = unsafe uv_ip4_addr(host, Int32(port), raw.assumingMemoryBound(to: sockaddr_in.self))
      return unsafe status == 0 ? 0 : uv_ip6_addr(host, Int32(port), raw.assumingMemoryBound(to: sockaddr_in6.self))
    }
    guard status == 0 else {
      throw EventLoopError(
        .invalidArgument, "use address \(self)", detail: "not a numeric IPv4 or IPv6 address")
    }
    return storage
  }

  /// Reads the address of one end of a socket; nil when the socket has none.
  init?(asking ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<Int32>) -> Int32) {
    var storage = sockaddr_storage()
    var length = Int32(MemoryLayout<sockaddr_storage>.size)
    var text = [CChar](repeating: 0, count: 64)
    let port = unsafe withUnsafeMutablePointer(to: &storage) { storage -> UInt16? in
      let address = unsafe UnsafeMutableRawPointer(storage).assumingMemoryBound(to: sockaddr.self)
      guard unsafe ask(address, &length) == 0, unsafe uv_ip_name(address, &text, text.count) == 0 else { return nil }
      // The port has the same offset in both families.
      return unsafe UnsafeRawPointer(storage).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port.bigEndian
    }
    guard let port else { return nil }
    host = unsafe text.withUnsafeBufferPointer { unsafe $0.baseAddress.map { unsafe String(cString: $0) } ?? "" }
    self.port = Int(port)
  }
}
