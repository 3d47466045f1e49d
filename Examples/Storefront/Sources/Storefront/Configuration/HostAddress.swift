import Glibc

/// A numeric internet address. Names are refused: to listen on the address that a name server returns is a mistake more
/// often than not.
struct HostAddress: Decodable, Equatable, Sendable {
  let text: String

  /// Creates an address; nil for a text that is none.
  init?(_ text: String) {
    // C would read the text up to the NUL.
    if text.utf8.contains(0) { return nil }
    var address = in6_addr()
    guard unsafe inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    self.text = text
  }

  init(from decoder: any Decoder) throws {
    self = try decoder.value(Self.init, "it must be an IPv4 or IPv6 address")
  }

  /// The address for a URL: IPv6 in brackets, and the loopback for an address that means all of them.
  var forURL: String {
    switch text {
    case "0.0.0.0": "127.0.0.1"
    case "::": "[::1]"
    default: text.contains(":") ? "[\(text)]" : text
    }
  }
}

/// The address and port of a server: `127.0.0.1:6379` or `[::1]:6379`, with a numeric address.
struct ServerAddress: Decodable, Equatable, Sendable {
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
    guard let address = HostAddress(String(host)) else { return nil }
    (self.host, self.port) = (address.text, port)
  }

  init(from decoder: any Decoder) throws {
    self = try decoder.value(
      Self.init, "it must be an IPv4 or IPv6 address and a port, such as 127.0.0.1:6379 or [::1]:6379")
  }
}

extension Decoder {
  /// Decodes a value that is one text.
  ///
  /// - Throws: `DecodingError` with the rule for a text of which `make` makes nothing.
  fileprivate func value<Value>(_ make: (String) -> Value?, _ rule: String) throws -> Value {
    let container = try singleValueContainer()
    if let value = make(try container.decode(String.self)) { return value }
    throw DecodingError.dataCorruptedError(in: container, debugDescription: rule)
  }
}
