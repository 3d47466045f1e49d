/// The time limits and size limits of a server.
public struct HTTPServerSettings: Sendable {
  var limits = HTTPLimits()
  /// The maximum number of connections at one time, over all loops; further ones get `503`.
  var maximumConnections = 10_000
  /// The number of connections beyond the maximum that get `503`; further ones are closed without a response.
  var maximumRefusals = 256
  /// The bytes of requests without a response that all connections together may send. Beyond that, a connection that
  /// has sent more than a head gets `503`.
  var maximumInput = 64 * 1024 * 1024
  /// The maximum number of requests of one connection in flight at one time; then the server stops reading from it.
  var maximumPipelined = 16
  /// The time from a request's first byte to the end of its head; then `408`.
  var headTimeout = Duration.seconds(10)
  /// The time from a request's first byte to the end of its body; then `408`.
  var requestTimeout = Duration.seconds(30)
  /// The time from one response to the first byte of the next request; then the connection is closed.
  var keepAliveTimeout = Duration.seconds(60)
  /// The time in which a client has to read `leastTaken` bytes of the output; then the connection is dropped.
  var writeTimeout = Duration.seconds(30)
  /// The number of bytes that a client has to read within `writeTimeout`, unless fewer are waiting: by reading a few at
  /// a time it could keep its connection open for ever.
  var leastTaken = 16 * 1024
  /// The time for which a connection that is closed for writing waits for the client to close its side.
  var lingerTimeout = Duration.seconds(1)
  /// The age of the last activity up to which a draining server still accepts one request, which is probably on its
  /// way. A connection that has been idle for longer is closed at once.
  var drainGrace = Duration.milliseconds(200)

  /// Creates settings with default limits.
  public init() {}

  /// Limits the connections at one time to `count`, including refused ones.
  mutating func limitConnections(to count: Int) {
    maximumRefusals = min(maximumRefusals, count / 8)
    maximumConnections = max(1, min(maximumConnections, count - maximumRefusals))
  }
}
