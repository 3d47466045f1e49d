/// A fault of the URL of a Redis server. The texts contain no part of the URL, which may be or contain a secret.
enum RedisURLFault: String, Error {
  case scheme = "it does not begin with redis://, rediss://, unix:// or redis+unix://"
  case username = "its user name is malformed: % and two hexadecimal digits encode a byte of UTF-8"
  case password = "its password is malformed: % and two hexadecimal digits encode a byte of UTF-8"
  case noPassword = "it has a user name, and no password after a colon"
  case noHost = "it has no host"
  case host = "its host is malformed: a name, an IPv4 address, or an IPv6 address in brackets is needed"
  case port = "its port is no number from 1 to 65535; encode a / or ? of a password as %2F or %3F"
  case database = "its database is no number from 0"
  case path = "its path of a Unix socket is malformed: it begins with /, and % and two hexadecimal digits encode a byte"
  case query = "its query has another parameter than db"
  case fragment = "it has a #; encode one of a password as %23"
  case noTLS = "it asks for TLS (rediss), and no TLS is configured; pass the options of TLS, or use redis://"
}

/// The parts of the URL of a Redis server, as other clients read it.
struct RedisURL {
  /// The host; `unix:` and the path for a Unix socket.
  private(set) var host = ""
  private(set) var port = 6379
  private(set) var username: String?
  private(set) var password: String?
  private(set) var database = 0
  private(set) var needsTLS = false

  init(_ text: String) throws(RedisURLFault) {
    guard let (scheme, rest) = Self.split(text[...], at: "://") else { throw .scheme }
    if rest.contains("#") { throw .fragment }
    let (hierarchy, query) = Self.split(rest, at: "?") ?? (rest, nil)
    let pathStart = hierarchy.firstIndex(of: "/") ?? hierarchy.endIndex
    let (authority, path) = (hierarchy[..<pathStart], hierarchy[pathStart...])
    let server = try readLogin(authority)
    switch scheme.lowercased() {
    case "redis": try readServer(server, path)
    case "rediss":
      try readServer(server, path)
      needsTLS = true
    case "unix", "redis+unix": try readSocket(server, path)
    default: throw .scheme
    }
    if let query { try readQuery(query) }
  }

  /// Reads the login before the last `@`. Returns the rest, which is the server.
  private mutating func readLogin(_ authority: Substring) throws(RedisURLFault) -> Substring {
    guard let end = authority.lastIndex(of: "@") else { return authority }
    let login = authority[..<end]
    let (name, secret) = Self.split(login, at: ":") ?? (login, nil)
    guard let name = Self.decode(name) else { throw .username }
    guard let secret = Self.decode(secret ?? "") else { throw .password }
    if secret.isEmpty, !name.isEmpty { throw .noPassword }
    username = name.isEmpty ? nil : name
    password = secret.isEmpty ? nil : secret
    return authority[authority.index(after: end)...]
  }

  private mutating func readServer(_ server: Substring, _ path: Substring) throws(RedisURLFault) {
    let (host, port) = RedisServers.split(server)
    if host.isEmpty { throw .noHost }
    let isBracketed = server.first == "["
    guard Self.isHost(host), isBracketed || !host.contains(":") else { throw .host }
    self.host = host
    if let port {
      guard let number = Int(port), (1...65_535).contains(number) else { throw .port }
      self.port = number
    }
    let number = path.dropFirst()
    if !number.isEmpty { try readDatabase(number) }
  }

  private mutating func readSocket(_ server: Substring, _ path: Substring) throws(RedisURLFault) {
    if !server.isEmpty { throw .host }
    guard path.count > 1, let decoded = Self.decode(path) else { throw .path }
    host = "unix:\(decoded)"
  }

  private mutating func readQuery(_ query: Substring) throws(RedisURLFault) {
    for parameter in query.split(separator: "&") {
      guard let (name, value) = Self.split(parameter, at: "="), name == "db" else { throw .query }
      try readDatabase(value)
    }
  }

  private mutating func readDatabase(_ text: Substring) throws(RedisURLFault) {
    guard let number = Int(text), number >= 0 else { throw .database }
    database = number
  }

  /// Whether a text has only characters of a name or of a numeric address.
  private static func isHost(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || ".-_:%".unicodeScalars.contains(scalar)
    }
  }

  private static func split(_ text: Substring, at separator: String) -> (Substring, Substring)? {
    guard let range = text.firstRange(of: separator) else { return nil }
    return (text[..<range.lowerBound], text[range.upperBound...])
  }

  /// Replaces each `%` and its two digits by the byte they encode. Returns nil for a malformed text.
  private static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
        let value = UInt8(String(Substring(digits)), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
