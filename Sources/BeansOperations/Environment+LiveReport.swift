public import Beans
public import BeansServer

extension Environment {
  /// What is alive here, as text for people: counts by scope, sessions, how late loops were since this was asked last, and the
  /// tree of environments.
  ///
  /// From any thread. Looks at each live environment and each session, to count beans and to find the oldest; as the text of
  /// `/environments`, `Operations` tells the same without that.
  ///
  /// - Parameters:
  ///   - sessions: registries to be told of.
  ///   - lag: how late loops are, if they are watched.
  ///   - maximumChildren: how many children of each environment are named.
  public func liveReport(sessions: [any SessionReporting], lag: LoopLag?, maximumChildren: Int) -> String {
    liveReport(statistics(), sessions.map { $0.report() }, lag: lag, maximumChildren: maximumChildren)
  }

  /// As the public form, for what is known already.
  ///
  /// - Parameters:
  ///   - scopes: counts by scope.
  ///   - sessions: a line for each registry.
  ///   - lag: how late loops are, if they are watched.
  ///   - maximumChildren: how many children of each environment are named.
  func liveReport(
    _ scopes: [ScopeStatistics], _ sessions: [String], lag: LoopLag?, maximumChildren: Int
  ) -> String {
    let counts = scopes.map { counts in
      "\(counts.scope): \(counts.opened - counts.finished) live, \(counts.created - counts.released) beans\n"
    }
    let loops = (lag?.takeWorst() ?? []).enumerated().map { number, lag in
      "loop \(number): \(lag / .microseconds(1)) µs late at most since this was asked last\n"
    }
    return counts.joined() + sessions.joined() + loops.joined() + "\n"
      + report(maximumChildren: maximumChildren)
  }
}
