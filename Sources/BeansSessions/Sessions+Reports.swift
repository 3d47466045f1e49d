public import Beans
@_spi(BeansPackage) import BeansErrors

extension Sessions: SurveyedScope {
  /// The number of sessions, as in `counts`.
  package var count: Int { state.withLock { $0.table.count } }

  /// The statistics without the figures that only the sessions themselves have. The cost is independent of their
  /// number.
  ///
  /// The open sessions exclude those that `end(_:)` or the capacity has ended. A session that ended otherwise is
  /// included until its beans are released, or until another one takes its id or its place. An ended session is counted
  /// by its reason once its beans are released. With a store, a session is open on this node while requests are inside,
  /// and is opened anew for the next ones.
  public var counts: ScopeStatistics {
    if let stored { return stored.statistics }
    return state.withLock { state in
      var counts = state.counts
      counts.open = state.table.count
      counts.capacity = capacity
      return counts
    }
  }

  /// The uses of the store by this node so far; nil without a store.
  public var storeUse: SessionStoreUse? { stored?.use }

  /// Returns the counts, and the figures that only the sessions themselves have: ages, idle times, and use.
  ///
  /// Reads each session, a thousand at a time: other users of this object meanwhile wait for one thousand at most.
  public func statistics() -> ScopeStatistics { statistics(lookingAt: .max).statistics }

  package func statistics(lookingAt maximum: Int) -> (statistics: ScopeStatistics, isComplete: Bool) {
    var statistics = counts
    // With a store every figure is counted.
    if stored != nil { return (statistics, true) }
    let now = timer?.now ?? MonotonicClock.now
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

  package func report(_ statistics: ScopeStatistics) -> String {
    if let storeUse { return report(statistics, storeUse) }
    var text = "sessions: \(statistics.open) open" + (statistics.capacity.map { " of at most \($0)" } ?? "")
    text += ", \(statistics.inUse) in use; opened \(statistics.opened), expired \(statistics.expired)"
    text += ", evicted \(statistics.evicted), ended \(statistics.ended), rotated \(statistics.rotated)"
    if let age = statistics.oldestAge { text += "; the oldest is \(age.inSeconds) old" }
    if let idle = statistics.longestIdle { text += "; the longest idle time is \(idle.inSeconds)" }
    return text + "\n"
  }

  private func report(_ statistics: ScopeStatistics, _ use: SessionStoreUse) -> String {
    var text =
      "sessions: \(statistics.open) in use; loaded \(use.loads), created \(use.creates), saved \(use.saves)"
    text += ", rotated \(statistics.rotated), ended \(use.ends)"
    text += "; conflicts \(use.conflicts), failures \(use.failures), unreadable values \(use.unreadable)"
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
