import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Synchronization

/// A snapshot of an end, here and below: each release has failed, is in flight or is left.
struct EndState {
  /// The environments that have not been released, innermost first.
  private var levels: [Level] = []
  private(set) var failures: [any Error] = []

  /// One environment that has not been released.
  private struct Level {
    let name: String
    /// The release in flight.
    let running: ReleaseInProgress?
    /// The reason in words if there is no such release; nil where an environment below has not been released.
    let wait: String?
    /// Labels of the beans that have not been released, in the order of their release.
    let left: [String]
  }

  /// - Parameter takesFailures: whether the state takes the failures of releases, to be thrown with the report of the
  ///   rest.
  init(of environment: Environment, takingFailures takesFailures: Bool = false) {
    add(environment, takesFailures)
  }

  private mutating func add(_ environment: Environment, _ takesFailures: Bool) {
    let count = levels.count
    for child in environment.liveChildren { add(child, takesFailures) }
    // A child that ends meanwhile hands its failures over before it leaves, so the failures here are read after the
    // children.
    let running = environment.existingExtras?.record.withLock { record in
      if takesFailures { failures += record.takeFailures() }
      return record.running
    }
    // Under the lock: lookups that are still in flight append to the log.
    let (lifecycle, slots) = environment.core.lock.withLock { () -> (Lifecycle, [Int32]) in
      let lifecycle = environment.core.lifecycle
      let count = running?.release.site.behind ?? (lifecycle.phase < .releasing ? environment.createdBeans : 0)
      return (lifecycle, (0..<count).reversed().map { environment.creationLog[$0] })
    }
    if lifecycle.isReleased {
      if takesFailures { failures += environment.existingExtras?.takeFailures() ?? [] }
      return
    }
    let isPostponed = environment.core.isPostponed.load(ordering: .relaxed)
    let wait: String? =
      if running != nil || levels.count > count {
        nil
      } else if lifecycle.bodies > 0 {
        "in which \(environment.body) still runs"
      } else if isPostponed, environment.host != nil {
        "whose loop has not released it yet"
      } else if isPostponed || lifecycle.users > 0 {
        "which lookups still use"
      } else {
        lifecycle.phase < .releasing ? "whose release has not begun" : "whose release is under way"
      }
    let left = slots.filter { !environment.isFace($0) }.map { environment.recipe($0).value.label }
    levels.append(Level(name: environment.name, running: running, wait: wait, left: left))
  }

  /// Whether everything has been released.
  var isOver: Bool { levels.isEmpty }

  /// Returns descriptions of everything that the end waits for, innermost first.
  func reasons(_ now: Duration) -> [String] {
    levels.compactMap { level in
      if let release = level.running { return isTold(release) ? nil : release.description(now) }
      return level.wait.map { "'\(level.name)', \($0)" }
    }
  }

  /// Environments with the beans that are left in them, innermost first. An environment without such beans is omitted
  /// when its own reason already names it.
  var left: [String] {
    levels.compactMap { level in
      if level.left.isEmpty {
        let isNamed = level.running != nil || level.wait != nil
        if isNamed { return nil }
        return "'\(level.name)'"
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
