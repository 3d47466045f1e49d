@_spi(BeansPackage) import BeansErrors
import BeansLogging

/// A creation that calls wait for.
protocol WatchedCreation: AnyObject, Sendable {
  /// Describes the creation and its waiting calls; nil if no call waits.
  func report(after time: Duration) -> String?
}

/// Logs each asynchronous creation that has taken three seconds while calls wait for it, and again every ten seconds.
///
/// The container cannot judge such a wait: a factory may be slow, or may wait for itself through a detached task. One
/// watch serves an environment and its factories' children.
final class CreationWatch: Sendable {
  /// The maximum number of creations that are reported at a time.
  private static let longest = 8

  private let state = Locked(State())

  private struct State {
    var running = [ObjectIdentifier: Creation]()
    /// The number of creations that have begun.
    var count = 0
    /// The alarm, on the clock of the creation that has set it first; nil while no creation runs.
    var alarm: Alarm?
  }

  private struct Creation {
    let build: any WatchedCreation
    let number: Int
    let began: Duration
    /// The time of the next log message.
    var due: Duration
  }

  func began(_ build: any WatchedCreation) {
    let (alarm, isFirst) = state.withLock { state in
      let isFirst = state.alarm == nil
      let alarm = state.alarm ?? Alarm()
      let now = alarm.clock.now()
      state.alarm = alarm
      state.count += 1
      state.running[ObjectIdentifier(build)] = Creation(
        build: build, number: state.count, began: now, due: now + EndTimes.firstReport)
      return (alarm, isFirst)
    }
    if isFirst { set(alarm, after: EndTimes.firstReport) }
  }

  func ended(_ build: any WatchedCreation) {
    _ = state.withLock { $0.running.removeValue(forKey: ObjectIdentifier(build)) }
  }

  private func set(_ alarm: Alarm, after delay: Duration) { alarm.set(after: delay) { [weak self] in self?.look() } }

  private func look() {
    guard let alarm = state.withLock({ $0.alarm }) else { return }
    let now = alarm.clock.now()
    let (due, next) = state.withLock { state in
      let due = state.running.values.filter { $0.due <= now }
      for creation in due { state.running[ObjectIdentifier(creation.build)]?.due = now + .seconds(10) }
      let next = state.running.values.map(\.due).min()
      if next == nil { state.alarm = nil }
      return (due, next)
    }
    if let next { set(alarm, after: next - now) }
    let log = ContainerLog.shared.logger
    let reports = due.inOrder(of: \.number).compactMap { $0.build.report(after: now - $0.began) }
    for report in reports.prefix(Self.longest) { log.warn(report) }
    if reports.count > Self.longest {
      log.warn("\(reports.count - Self.longest) more asynchronous creations have taken as long")
    }
  }
}
