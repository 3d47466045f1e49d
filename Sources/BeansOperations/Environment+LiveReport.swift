public import Beans
public import BeansServer

extension Environment {
  /// Returns the live state as text for people: counts by scope, sessions, the delay of loops since the last call, and
  /// the tree of environments.
  ///
  /// Callable from any thread. Visits each live environment and each session, to count beans and to find the oldest;
  /// the text of `/environments` in `Operations` contains the same without these visits.
  ///
  /// - Parameters:
  ///   - sessions: the sources of sessions to include.
  ///   - lag: the delay of loops, if they are watched.
  ///   - maximumChildren: the maximum number of named children of each environment.
  public func liveReport(sessions: [any ScopeReporting], lag: LoopLag?, maximumChildren: Int) -> String {
    liveReport(statistics(), sessions.map { $0.report() }, lag: lag, maximumChildren: maximumChildren)
  }

  /// Returns the text of the public form from figures that are already available.
  ///
  /// - Parameters:
  ///   - scopes: the counts by scope.
  ///   - sessions: a line for each source of sessions.
  ///   - lag: the delay of loops, if they are watched.
  ///   - maximumChildren: the maximum number of named children of each environment.
  func liveReport(
    _ scopes: [ScopeStatistics], _ sessions: [String], lag: LoopLag?, maximumChildren: Int
  ) -> String {
    let counts = scopes.map { counts in
      "\(counts.scope): \(counts.open) live, \(counts.created - counts.released) beans\n"
    }
    let loops = (lag?.takeWorst() ?? []).enumerated().map { number, lag in
      "loop \(number): \(lag / .microseconds(1)) µs late at most since this was asked last\n"
    }
    return counts.joined() + sessions.joined() + loops.joined() + "\n"
      + report(maximumChildren: maximumChildren)
  }
}
