import Glibc

/// A host and perhaps a port, as in a `Host` field and in a URL (RFC 3986 §3.2).
enum HTTPAuthority {
  /// Whether the bytes are a registered name, an IPv4 address or an IPv6 address in brackets, with or without a port up
  /// to 65535, and without a user (RFC 9110 §4.2.4). True also for no bytes: a `Host` field is empty if the client's
  /// URL has no host.
  static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if unsafe bytes.isEmpty { return true }
    let host = unsafe bytes[0] == UInt8(ascii: "[") ? literalLength(bytes) : nameLength(bytes)
    if host == 0 { return false }
    if host == bytes.count { return true }
    return unsafe bytes[host] == UInt8(ascii: ":")
      && isPort(UnsafeRawBufferPointer(rebasing: bytes[(host + 1)...]))
  }

  /// Returns the number of bytes at the beginning that form a registered name. Its characters include those of an IPv4
  /// address.
  private static func nameLength(_ bytes: UnsafeRawBufferPointer) -> Int {
    var index = 0
    while index < bytes.count {
      switch unsafe bytes[index] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","),
        UInt8(ascii: ";"), UInt8(ascii: "="):
        index += 1
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.count, unsafe ASCII.hexValue(bytes[index + 1]) != nil,
          unsafe ASCII.hexValue(bytes[index + 2]) != nil
        else { return index }
        index += 3
      default:
        return index
      }
    }
    return index
  }

  /// Returns the number of bytes at the beginning that form an IPv6 address with its brackets.
  private static func literalLength(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard let end = unsafe bytes.firstIndex(of: UInt8(ascii: "]")), unsafe !bytes[..<end].contains(0) else { return 0 }
    var address = in6_addr()
    let text = unsafe String(decoding: bytes[1..<end], as: UTF8.self)
    return unsafe inet_pton(AF_INET6, text, &address) == 1 ? end + 1 : 0
  }

  /// Whether the bytes are a port up to 65535, or empty.
  private static func isPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var port = 0
    for index in bytes.indices {
      let digit = unsafe bytes[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return false }
      port = min(port * 10 + Int(digit), 65536)
    }
    return port < 65536
  }
}
