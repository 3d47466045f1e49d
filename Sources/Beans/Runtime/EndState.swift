/// The state of an end, seen once: each release has failed, is under way or is left.
struct EndState {
  /// The reason for which an environment has not been released.
  enum Reason {
    /// A release is under way.
    case release(ReleaseInProgress)
    /// An environment below it has not been released.
    case below
    /// The loop has not come to release the environment.
    case loop
    /// Lookups are still under way.
    case lookups
    /// No release has begun.
    case start
    /// One release is over, and the next one has not begun.
    case nextRelease
  }

  /// One environment that has not been released.
  struct Level {
    let name: String
    let reason: Reason
    /// Labels of beans that have not been released, in the order of their release.
    let left: [String]
  }

  /// Innermost first.
  var levels: [Level] = []
  var failures: [any Error] = []

  /// Descriptions of everything that the end waits for, innermost first.
  func reasons(_ now: Duration) -> [String] {
    levels.compactMap { level in
      let name = "'\(level.name)'"
      switch level.reason {
      case .release(let release): return isTold(release) ? nil : release.description(now)
      case .below: return nil
      case .loop: return "\(name), whose loop has not come to release it"
      case .lookups: return "\(name), which lookups still use"
      case .start: return "\(name), whose release has not begun"
      case .nextRelease: return "\(name), whose release is under way"
      }
    }
  }

  /// Environments with the beans that are left in them, innermost first; those that the reasons name and that have none are
  /// left out.
  var left: [String] {
    levels.compactMap { level in
      if level.left.isEmpty {
        if case .below = level.reason { return "'\(level.name)'" }
        return nil
      }
      let more = level.left.count > 8 ? " and \(level.left.count - 8) more" : ""
      return "'\(level.name)' with \(level.left.prefix(8).joined(separator: ", "))\(more)"
    }
  }

  /// Whether a release has been abandoned since it was seen, and its failure has been taken from an environment further out.
  private func isTold(_ release: ReleaseInProgress) -> Bool {
    guard let failure = release.failure?.report else { return false }
    return failures.contains { ($0 as? EnvironmentError)?.report == failure }
  }
}
