/// A snapshot of an end: each release has failed, is in flight or is left.
struct EndState {
  /// The reason why an environment has not been released.
  enum Reason {
    /// A release is in flight.
    case release(ReleaseInProgress)
    /// An environment below this one has not been released.
    case below
    /// The loop has not reached the release of the environment.
    case loop
    /// A body keeps the beans.
    case body(String)
    /// Lookups are still in flight.
    case lookups
    /// No release has begun.
    case start
    /// One release has ended, and the next one has not begun.
    case nextRelease
  }

  /// One environment that has not been released.
  struct Level {
    let name: String
    let reason: Reason
    /// Labels of the beans that have not been released, in the order of their release.
    let left: [String]
  }

  /// The environments that have not been released, innermost first.
  var levels: [Level] = []
  var failures: [any Error] = []

  /// Returns descriptions of everything that the end waits for, innermost first.
  func reasons(_ now: Duration) -> [String] {
    levels.compactMap { level in
      let name = "'\(level.name)'"
      switch level.reason {
      case .release(let release): return isTold(release) ? nil : release.description(now)
      case .below: return nil
      case .loop: return "\(name), whose loop has not released it yet"
      case .body(let body): return "\(name), in which \(body) still runs"
      case .lookups: return "\(name), which lookups still use"
      case .start: return "\(name), whose release has not begun"
      case .nextRelease: return "\(name), whose release is under way"
      }
    }
  }

  /// Environments with the beans that are left in them, innermost first. An environment without such beans is omitted
  /// when its own reason already names it.
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

  /// Whether `failures` already contains the failure of a release that was abandoned after this snapshot saw it in
  /// flight. Such a failure was taken from an environment further out.
  private func isTold(_ release: ReleaseInProgress) -> Bool {
    guard let failure = release.failure?.report else { return false }
    return failures.contains { ($0 as? EnvironmentError)?.report == failure }
  }
}
