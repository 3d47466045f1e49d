extension RedisCommand {
  /// Returns the bytes to send.
  ///
  /// - Parameters:
  ///   - digests: the digests of the scripts on the server.
  ///   - clock: the estimate of the server's time.
  func encode(scripts digests: [RedisScript: [UInt8]], _ clock: RedisClock) -> [UInt8] {
    switch action {
    case .read(let words): return Self.time + RESPCommand.encode(words)
    case .run(let script, let keys, let arguments):
      var words: [[UInt8]]
      if !needsText, let digest = digests[script] {
        words = [Array("EVALSHA".utf8), digest]
      } else {
        words = [Array("EVAL".utf8), Array(script.text.utf8)]
      }
      words.append(Array(String(keys.count).utf8))
      let call = RESPCommand.encode(words + keys + [clock.text(of: deadline)] + arguments)
      return replicas == 0 ? call : call + wait
    }
  }

  private static let time = RESPCommand.encode([Array("TIME".utf8)])

  /// The command that waits for replicas, for three quarters of the time that is left, so that its reply is in time.
  private var wait: [UInt8] {
    let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
    let words = ["WAIT", String(replicas), String(max(1, Int(left * 3 / 4)))]
    return RESPCommand.encode(words.map { Array($0.utf8) })
  }

  /// Returns both replies to a read, or the reply to a script, unless it has written and too few replicas have that.
  func result(of replies: [RESPValue]) -> Result<RESPValue, RedisFailure> {
    if case .read = action { return .success(.array(replies)) }
    guard replicas > 0, case .integer(let change) = replies[0], change > 0 else { return .success(replies[0]) }
    guard case .integer(let count) = replies[1] else { return .failure(.unconfirmed("it does not wait for replicas")) }
    guard count >= replicas else {
      return .failure(.unconfirmed("\(count) of \(replicas) replicas have confirmed the change"))
    }
    return .success(replies[0])
  }

  /// Returns the error with which a server has refused the command because it is no primary any more, or not ready yet;
  /// nil for other replies. The command has had no effect: a script writes nothing before its first refused write.
  func refusalByRole(_ replies: [RESPValue]) -> String? {
    let own =
      switch action {
      case .read: replies[...]
      // The reply to `WAIT` says nothing about the script.
      case .run: replies.prefix(1)
      }
    for case .error(let text) in own where Self.isByRole(text) { return text }
    return nil
  }

  /// Redis 6 puts the error of a command into that of the script.
  private static func isByRole(_ text: String) -> Bool {
    ["READONLY", "MASTERDOWN", "LOADING"].contains { text.hasPrefix($0 + " ") || text.contains(": -\($0) ") }
  }
}
