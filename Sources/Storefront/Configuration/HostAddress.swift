import Glibc

/// Numeric internet addresses. Names are not taken: to listen on what a name server answers is a mistake more often than not.
enum HostAddress {
  static func isValid(_ text: String) -> Bool {
    var address = in6_addr()
    return unsafe inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1
  }

  /// As it stands in a URL: IPv6 in brackets, and the loopback for an address that means all of them.
  static func forURL(_ text: String) -> String {
    switch text {
    case "0.0.0.0": "127.0.0.1"
    case "::": "[::1]"
    default: text.contains(":") ? "[\(text)]" : text
    }
  }
}
