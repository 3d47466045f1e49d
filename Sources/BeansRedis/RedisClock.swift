/// A client's estimate of the time of a server.
///
/// A reported time is assigned to the moment at which it arrives here. So the estimate is never ahead of the server's
/// clock, and a deadline is never later there than here.
struct RedisClock: Sendable {
  /// The time after which the server's time is requested anew, because two clocks drift apart.
  private static let validity = Duration.seconds(600)

  /// The server's time in milliseconds since 1970.
  let time: Int64
  let arrival = ContinuousClock.now

  init(time: Int64) { self.time = time }

  /// Reads the reply to `TIME`: seconds, and microseconds.
  init?(_ reply: RESPValue) {
    guard case .array(let parts) = reply, parts.count == 2, let seconds = parts[0].text.flatMap({ Int64($0) }),
      let microseconds = parts[1].text.flatMap({ Int64($0) }), (0..<1 << 40).contains(seconds)
    else { return nil }
    time = seconds * 1_000 + microseconds / 1_000
  }

  /// Reads the time from the error of a script that has arrived too late.
  init?(late text: String) {
    guard text.hasPrefix("LATE "), let time = text.split(separator: " ")[1...].first.flatMap({ Int64($0) }) else {
      return nil
    }
    self.time = time
  }

  /// Returns a deadline by the server's clock, in milliseconds since 1970; 0, which is late, where the estimate is too
  /// old.
  func text(of deadline: ContinuousClock.Instant) -> [UInt8] {
    guard arrival.duration(to: .now) < Self.validity else { return [UInt8(ascii: "0")] }
    return Array(String(time + Int64(arrival.duration(to: deadline) / .milliseconds(1))).utf8)
  }
}
