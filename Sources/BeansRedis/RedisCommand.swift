/// A command to send, with the callback for its reply.
struct RedisCommand: Sendable {
  /// The work of the server.
  enum Action: Sendable {
    case run(RedisScript, keys: [[UInt8]], arguments: [[UInt8]])
    /// A command that writes nothing, by its words. `TIME` precedes it in the same write. The reply is an array of the
    /// replies to both; each may be an error.
    case read([[UInt8]])
  }

  let action: Action
  let deadline: ContinuousClock.Instant
  /// The number of replicas that have to confirm a change; 0 for a command that does not wait for any.
  var replicas = 0
  /// Called once, on the loop's thread.
  let reply: @Sendable (Result<RESPValue, RedisFailure>) -> Void
  /// Whether the server does not recognise the digest of the script, so that the text has to be sent.
  var needsText = false
  /// Whether the server has rejected the command as late.
  var wasLate = false
  /// Whether an earlier attempt has an unknown outcome. Only a second attempt waits for a server that refuses
  /// connections.
  var isSecond = false

  /// The number of replies that the server owes: `TIME` precedes a read, `WAIT` follows a change that replicas confirm.
  var replyCount: Int {
    switch action {
    case .read: 2
    case .run: replicas > 0 ? 2 : 1
    }
  }
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
  /// The server has made the change, and too few replicas have confirmed it.
  case unconfirmed(String)
}
