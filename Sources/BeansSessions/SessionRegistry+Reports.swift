@_spi(BeansPackage) import BeansSupport

extension SessionRegistry {
  /// The number of sessions. Excludes sessions that `end(_:)` or the capacity has ended. A session that ended otherwise
  /// is included until its beans are released, or until another one takes its id or its place.
  public var count: Int { state.withLock { $0.table.count } }

  /// The number of sessions, and of the ended ones by reason. The cost is independent of their number.
  public var counts: SessionCounts {
    state.withLock { state in
      var counts = state.counts
      counts.open = state.table.count
      return counts
    }
  }

  /// Returns the counts, and the figures that only the sessions themselves have: ages, idle times, and use.
  ///
  /// Reads each session, a thousand at a time: other users of the registry meanwhile wait for one thousand at most.
  public func statistics() -> SessionStatistics { statistics(lookingAt: .max).statistics }

  package func statistics(lookingAt maximum: Int) -> (statistics: SessionStatistics, isComplete: Bool) {
    let now = timer?.now ?? MonotonicClock.now
    var statistics = SessionStatistics(counts: counts, capacity: capacity)
    var (next, rest) = (Optional(0), maximum)
    while let first = next {
      next = state.withLock { $0.table.survey(&statistics, from: first, upTo: rest, at: now) }
      guard let next, next - first < rest else { break }
      rest -= next - first
    }
    return (statistics, next == nil)
  }

  /// Returns `statistics()` as a line of text for people.
  public func report() -> String { report(statistics()) }

  package func report(_ statistics: SessionStatistics) -> String {
    let counts = statistics.counts
    var text = "sessions: \(counts.open) open" + (capacity.map { " of at most \($0)" } ?? "")
    text += ", \(statistics.inUse) in use; opened \(counts.opened), expired \(counts.expired)"
    text += ", evicted \(counts.evicted), ended \(counts.ended), rotated \(counts.rotated)"
    if let age = statistics.oldestAge { text += "; the oldest is \(age.inSeconds) old" }
    if let idle = statistics.longestIdle { text += "; the longest idle time is \(idle.inSeconds)" }
    return text + "\n"
  }
}

extension Duration {
  /// The duration in seconds, with one decimal.
  fileprivate var inSeconds: String {
    let tenths = self / .milliseconds(100)
    return "\(Int64(tenths) / 10).\(Int64(tenths) % 10) s"
  }
}
