public import Beans

extension Environment {
  /// What is alive here, as text for people: counts by scope, sessions, how late loops were since this was asked last, and the
  /// tree of environments.
  ///
  /// From any thread. Takes time for what it tells, and a moment for each child of an environment on the way.
  ///
  /// - Parameters:
  ///   - sessions: registries to be told of.
  ///   - lag: how late loops are, if they are watched.
  ///   - maximumChildren: how many children of each environment are named.
  public func liveReport(sessions: [any SessionReporting], lag: LoopLag?, maximumChildren: Int) -> String {
    let counts = statistics().map { counts in
      "\(counts.scope): \(counts.opened - counts.finished) live, \(counts.created - counts.released) beans\n"
    }
    let loops = (lag?.takeWorst() ?? []).enumerated().map { number, lag in
      "loop \(number): \(lag / .microseconds(1)) µs late at most since this was asked last\n"
    }
    return counts.joined() + sessions.map { $0.report() }.joined() + loops.joined() + "\n"
      + report(maximumChildren: maximumChildren)
  }
}
