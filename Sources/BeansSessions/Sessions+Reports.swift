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
  package var counts: ScopeStatistics {
    if let stored { return stored.statistics }
    return state.withLock { state in
      var counts = state.counts
      counts.open = state.table.count
      counts.capacity = capacity
      return counts
    }
  }

  /// The uses of the store by this node so far, by their names; empty without a store.
  ///
  /// `loads` counts lookups of a session, `creates` created sessions, `saves` changes that the store has accepted, and `ends`
  /// sessions that a request has ended; `conflicts` counts changes that the store has refused because other requests have
  /// changed the same values, `failures` other errors of the store and values that could not be encoded, and `unreadable`
  /// stored values that were treated as absent.
  public var storeUse: [String: Int] { stored?.use.counts ?? [:] }

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
    if let stored { return report(statistics, stored.use) }
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
