/// The options of the connections of a `RedisSessionStore` to its server.
public struct RedisOptions: Sendable {
  /// The user name of the login; nil where the server requires no login, or only a password.
  public var username: String?
  /// The password of `username`, or the server's only password; nil where the server requires none.
  public var password: String?
  /// The number of the server's database. 0 unless set.
  public var database = 0
  /// The time limit until a connection is established, logged in and ready. A second unless set.
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

  /// Creates the usual options.
  public init() {}
}
