/// How long and how much a server bears.
struct HTTPServerSettings: Sendable {
  var limits = HTTPLimits()
  /// Connections at one time, over all loops; the next ones get `503`.
  var maximumConnections = 10_000
  /// Connections beyond the maximum that are told so; still more are dropped without a word.
  var maximumRefusals = 256
  /// Bytes that all connections together may have sent of requests which are not yet answered. Beyond that, those who have sent
  /// more than a head get `503`.
  var maximumInput = 64 * 1024 * 1024
  /// Requests of one connection that are in work at one time; then the server stops reading from it.
  var maximumPipelined = 16
  /// From a request's first byte to the end of its head; then `408`.
  var headTimeout = Duration.seconds(10)
  /// From a request's first byte to the end of its body; then `408`.
  var requestTimeout = Duration.seconds(30)
  /// From one response to the first byte of the next request; then the connection is closed.
  var keepAliveTimeout = Duration.seconds(60)
  /// How long a client may take less than `leastTaken` of what is written to it before the connection is dropped.
  var writeTimeout = Duration.seconds(30)
  /// Bytes that a client has to take within `writeTimeout`, unless fewer wait for it: with a few at a time it could hold its
  /// connection for ever.
  var leastTaken = 16 * 1024
  /// How long a connection that has been closed for writing waits for the client to close its side.
  var lingerTimeout = Duration.seconds(1)
  /// While draining: a connection that was active within this time may still send one request, which is probably on its way.
  /// One that has idled for longer is closed at once.
  var drainGrace = Duration.milliseconds(200)

  /// Makes do with `count` connections at one time, those that are refused included.
  mutating func limitConnections(to count: Int) {
    maximumRefusals = min(maximumRefusals, count / 8)
    maximumConnections = max(1, min(maximumConnections, count - maximumRefusals))
  }
}
