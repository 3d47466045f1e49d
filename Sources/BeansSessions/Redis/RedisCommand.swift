/// A script to run, with the callback for its reply.
struct RedisCommand: Sendable {
  let script: RedisScript
  let keys: [[UInt8]]
  let arguments: [[UInt8]]
  let deadline: ContinuousClock.Instant
  /// Called once, on the loop's thread.
  let reply: @Sendable (Result<RESPValue, RedisFailure>) -> Void
  /// Whether the server does not recognise the digest of the script, so that the text has to be sent.
  var needsText = false
  /// Whether the server has rejected the command as late.
  var wasLate = false
  /// Whether an earlier attempt has an unknown outcome. Only a second attempt waits for a server that refuses
  /// connections.
  var isSecond = false
}

/// The reason why a command has no reply.
enum RedisFailure: Error, Sendable, Equatable {
  /// The command has not been sent to the server, and never will be.
  case notSent(String)
  /// The other side has ended the connection. The server has executed the command, or a proxy may still deliver it
  /// before its deadline.
  case lost(String)
  /// This side has closed the connection. The server may execute the command before its deadline.
  case late(String)
}
