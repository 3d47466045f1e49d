public import Beans
package import BeansEventLoop

/// The options of the connections of a `RedisSessionStore` to its server.
public struct RedisOptions: Sendable {
  /// The server, or the Sentinels that name it. Port 6379 of 127.0.0.1 unless set.
  public var servers = RedisServers.server(host: "127.0.0.1")
  /// The user name of the login; nil where the server requires no login, or only a password.
  public var username: String?
  /// The password of `username`, or the server's only password; nil where the server requires none.
  public var password: String?
  /// The number of the server's database. 0 unless set.
  public var database = 0
  /// The number of replicas that must have a change before a call returns (`WAIT`). 0 unless set.
  ///
  /// A change that fewer replicas confirm within three quarters of the call's time is `SessionError.outcomeUnknown`: the
  /// primary has it. The calls behind it on its connection wait meanwhile.
  public var minimumReplicas = 0
  /// The time limit until a connection is established, logged in and ready. A second unless set. All addresses of a name
  /// are tried within it, and so are all Sentinels.
  public var connectTimeout = Duration.seconds(1)
  /// The time limit of a call, including the wait for a connection and a second attempt. A second unless set.
  public var commandTimeout = Duration.seconds(1)
  /// The pause after a first attempt to connect has failed. 10 ms unless set.
  ///
  /// Each failure in a row doubles the pause, up to `longestPause`. An actual pause is a random part of it, at least
  /// half, so that nodes do not reconnect all at once.
  public var firstPause = Duration.milliseconds(10)
  /// The longest pause between two attempts to connect. A quarter of a second unless set, so that a call outlasts
  /// several attempts. While the server refuses connections, calls fail at once during a pause.
  public var longestPause = Duration.milliseconds(250)
  /// The number of calls that may wait on one loop, for a connection or for a reply. 10,000 unless set.
  public var maximumWaiting = 10_000
  /// Makes the layer of a connection, such as TLS; nil for a connection without one.
  package var layer: StreamLayerFactory?
  /// Returns the addresses of a server or a Sentinel, for tests; nil to ask the system.
  package var resolve: (@Sendable (SocketAddress) -> [SocketAddress])?

  /// Creates the usual options.
  public init() {}

  /// Creates options from the URL of a server, such as `redis://user:secret@sessions.example.org:6379/2`.
  ///
  /// User, password and number of the database may be absent, and so may the port, which is then 6379. In `user` and
  /// `secret`, `%` and two digits encode a character. `unix:///run/redis.sock?db=2` and `redis+unix://…` name a Unix
  /// socket. A URL with `rediss://` needs TLS.
  ///
  /// - Parameters:
  ///   - url: the URL. Usually a secret of the configuration.
  ///   - file: the source file of the call, for errors.
  ///   - line: the line of the call.
  /// - Throws: `.invalidDeclaration`, which names the malformed part. The text contains no part of the URL.
  public init(url: String, file: StaticString = #fileID, line: UInt = #line) throws(EnvironmentError) {
    try self.init(url: url, layer: nil, file: file, line: line)
  }

  /// Creates options from a URL, with a layer for `rediss`. A URL without TLS uses no layer.
  package init(
    url: String, layer: StreamLayerFactory?, file: StaticString = #fileID, line: UInt = #line
  ) throws(EnvironmentError) {
    do throws(RedisURLFault) {
      let url = try RedisURL(url)
      if url.needsTLS, layer == nil { throw .noTLS }
      servers = .server(host: url.host, port: url.port)
      (username, password, database) = (url.username, url.password, url.database)
      self.layer = url.needsTLS ? layer : nil
    } catch {
      throw EnvironmentError(
        .invalidDeclaration, "the URL of a Redis server is unusable: \(error.rawValue)",
        origin: .init(file: "\(file)", line: Int(line)))
    }
  }

  /// The options of connections to servers and Sentinels.
  var connect: ConnectOptions {
    var options = ConnectOptions()
    options.timeout = connectTimeout
    options.layer = layer
    options.resolve = resolve
    return options
  }
}
