@_spi(BeansPackage) import BeansErrors
import Synchronization

/// A snapshot of an end, here and below: each release has failed, is in flight or is left.
struct EndState {
  /// The number of environments that have not been released.
  private var openCount = 0
  /// Everything that the end waits for, innermost first, in words; with the release if one is in flight.
  private var waits: [(text: String, release: ReleaseInProgress?)] = []
  /// Environments with the beans that are left in them, innermost first. An environment without such beans is omitted
  /// when the end waits for itself.
  private(set) var left: [String] = []
  private(set) var failures: [any Error] = []

  /// - Parameters:
  ///   - environment: the environment that ends.
  ///   - now: the current time.
  ///   - takesFailures: whether the state takes the failures of releases, to be thrown with the report of the rest.
  init(of environment: Environment, _ now: Duration, takingFailures takesFailures: Bool = false) {
    add(environment, now, takesFailures)
  }

  private mutating func add(_ environment: Environment, _ now: Duration, _ takesFailures: Bool) {
    let count = openCount
    for child in environment.liveChildren { add(child, now, takesFailures) }
    let isOpenBelow = openCount > count
    // A child that ends meanwhile hands its failures over before it leaves, so the failures here are read after the
    // children.
    let running = environment.existingExtras?.record.withLock { record in
      if takesFailures { failures += record.takeFailures() }
      return record.running
    }
    // Under the lock: lookups that are still in flight append to the log.
    let (lifecycle, slots) = environment.core.lock.withLock { () -> (Lifecycle, [Int32]) in
      let lifecycle = environment.core.lifecycle
      let count = running?.release.behind ?? (lifecycle.phase < .releasing ? environment.createdBeans : 0)
      return (lifecycle, (0..<count).reversed().map { environment.creationLog[$0] })
    }
    if lifecycle.isReleased {
      if takesFailures { failures += environment.existingExtras?.takeFailures() ?? [] }
      return
    }
    openCount += 1
    let name = "'\(environment.name)'"
    if let running {
      waits.append((running.description(now), running))
    } else if !isOpenBelow {
      waits.append(("\(name), \(Self.reason(environment, lifecycle))", nil))
    }
    let labels = slots.filter { !environment.isFace($0) }.map { environment.recipe($0).value.definition.label }
    if !labels.isEmpty {
      left.append("\(name) with \(Self.list(labels, separator: ", "))")
    } else if running == nil, isOpenBelow {
      left.append(name)
    }
  }

  /// Returns the reason why an environment has not been released while no release is in flight.
  private static func reason(_ environment: Environment, _ lifecycle: Lifecycle) -> String {
    if lifecycle.bodies > 0 { return "in which \(environment.body) still runs" }
    let isPostponed = environment.core.isPostponed.load(ordering: .relaxed)
    if isPostponed, environment.host != nil { return "whose loop has not released it yet" }
    if isPostponed || lifecycle.users > 0 { return "which lookups still use" }
    return if lifecycle.phase < .releasing { "whose release has not begun" } else { "whose release is under way" }
  }

  /// Whether everything has been released.
  var isOver: Bool { openCount == 0 }

  /// Descriptions of everything that the end waits for, innermost first. Omits a release that was abandoned after this
  /// snapshot saw it in flight, and whose failure was taken from an environment further out.
  var reasons: [String] {
    waits.filter { wait in
      guard let failure = wait.release?.failure?.report else { return true }
      return !failures.contains { ($0 as? EnvironmentError)?.report == failure }
    }.map(\.text)
  }

  /// Joins a list, shortened so that a line stays readable.
  static func list(_ all: [String], separator: String) -> String {
    let shown = all.prefix(8).joined(separator: separator)
    return if all.count > 8 { "\(shown) and \(all.count - 8) more" } else { shown }
  }
}
