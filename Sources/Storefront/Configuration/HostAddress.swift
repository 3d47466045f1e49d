import Glibc

/// Numeric internet addresses. Names are refused: to listen on the address that a name server returns is a mistake more
/// often than not.
enum HostAddress {
  static func isValid(_ text: String) -> Bool {
    // C would read the text up to the NUL.
    if text.utf8.contains(0) { return false }
    var address = in6_addr()
    return unsafe inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
  }

  /// Returns the address for a URL: IPv6 in brackets, and the loopback for an address that means all of them.
  static func forURL(_ text: String) -> String {
    switch text {
    case "0.0.0.0": "127.0.0.1"
    case "::": "[::1]"
    default: text.contains(":") ? "[\(text)]" : text
    }
  }
}

/// The address and port of a server: `127.0.0.1:6379` or `[::1]:6379`, with a numeric address.
struct ServerAddress: Equatable, Sendable {
  let host: String
  let port: UInt16

  /// Parses an address and a port; returns nil for any other text.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard digits.first?.isNumber == true, let port = UInt16(digits), port > 0 else { return nil }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { return nil }
    } else if host.contains(":") {
      return nil
    }
    guard HostAddress.isValid(String(host)) else { return nil }
    (self.host, self.port) = (String(host), port)
  }
}
