import BeansEventLoop

/// The servers of a `RedisSessionStore`: one server, or the primary that Sentinels name.
public struct RedisServers: Sendable {
  enum Kind: Sendable {
    case server(SocketAddress)
    case sentinels([SocketAddress], primary: String)
  }

  let kind: Kind

  /// Returns one server, or a primary whose name or address always leads to the current one.
  ///
  /// - Parameters:
  ///   - host: a name, which the system resolves for every new connection; a numeric IPv4 or IPv6 address; or `unix:`
  ///     and the path of a Unix socket, such as `"unix:/run/redis.sock"`.
  ///   - port: the server's port. 6379 unless given.
  public static func server(host: String, port: Int = 6379) -> RedisServers {
    RedisServers(kind: .server(SocketAddress(host: host, port: port)))
  }

  /// Returns the primary that Sentinels name. Every new connection asks one of them, and each switch that they announce
  /// leads to a new connection.
  ///
  /// A server that is not a primary by its own account (`ROLE`) is not used.
  ///
  /// - Parameters:
  ///   - addresses: the Sentinels: names or numeric addresses, each with a port after a colon unless it is 26379. An
  ///     IPv6 address with a port is in brackets.
  ///   - primary: the name of the primary in the configuration of the Sentinels.
  public static func sentinels(_ addresses: [String], primary: String) -> RedisServers {
    RedisServers(kind: .sentinels(addresses.map { address(of: $0) }, primary: primary))
  }

  /// Reads a host, and a port where there is one. A malformed port is refused when the connection is made.
  private static func address(of text: String) -> SocketAddress {
    let (host, port) = split(text)
    return SocketAddress(host: host, port: port.map { Int($0) ?? -1 } ?? 26379)
  }

  /// Splits a host from the port after it, and removes the brackets around an IPv6 address.
  static func split(_ text: some StringProtocol) -> (host: String, port: String?) {
    if text.first == "[", let end = text.lastIndex(of: "]") {
      let rest = text[text.index(after: end)...]
      let host = String(text[text.index(after: text.startIndex)..<end])
      return (host, rest.isEmpty ? nil : String(rest.dropFirst(rest.first == ":" ? 1 : 0)))
    }
    guard let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon else { return (String(text), nil) }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }
}

extension RedisServers: CustomStringConvertible {
  /// The address of the server, or the name of the primary.
  public var description: String {
    switch kind {
    case .server(let address): address.description
    case .sentinels(_, let primary): "primary \(primary)"
    }
  }
}
