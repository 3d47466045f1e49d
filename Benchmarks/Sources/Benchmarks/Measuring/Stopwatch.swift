/// The measured processor time of the calling thread so far: for scenarios whose operation needs preparations that are
/// not part of it. Belongs to one thread.
final class Stopwatch {
  private(set) var total = 0.0

  func time<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = ThreadClock.nanoseconds
    defer { total += ThreadClock.nanoseconds - start }
    return try body()
  }
}

/// Times `body` by the clock on the wall.
final class WallStopwatch {
  private(set) var total = 0.0

  func time<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = WallClock.nanoseconds
    defer { total += WallClock.nanoseconds - start }
    return try body()
  }
}
