import Beans
import BeansServer

extension Environment {
  /// Returns the live state as text for people: counts by scope, sessions, the delay of loops since the last call, and
  /// the tree of environments.
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
