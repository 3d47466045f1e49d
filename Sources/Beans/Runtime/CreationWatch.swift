import BeansLogging
@_spi(BeansPackage) import BeansSupport

/// Logs each asynchronous creation that has taken three seconds while calls wait for it, and again every ten seconds.
///
/// The container cannot judge such a wait: a factory may be slow, or may wait for itself through a detached task. One
/// watch serves an environment and its factories' children.
final class CreationWatch: Sendable {
  /// The maximum number of creations that are reported at a time.
  private static let longest = 8

  private let log: ContainerLog
  private let state = Locked(State())

  private struct State {
    var running = [ObjectIdentifier: Creation]()
    /// The number of creations that have begun.
    var count = 0
    /// The clock of the creation that has scheduled the alarm.
    var clock: EndingClock?
    /// Cancels the alarm. Without this reference, the alarm is dropped.
    var alarm: (@Sendable () -> Void)?
  }

  private struct Creation {
    let build: AsyncBuild
    let number: Int
    let began: Duration
    /// The time of the next log message.
    var due: Duration
  }

  init(_ log: ContainerLog) { self.log = log }

  func began(_ build: AsyncBuild) {
    let current = EndingClock.current
    let mustSchedule = state.withLock { state in
      let clock = state.clock ?? current
      let now = clock.now()
      state.count += 1
      state.running[ObjectIdentifier(build)] = Creation(
        build: build, number: state.count, began: now, due: now + EndTimes.firstReport)
      defer { state.clock = clock }
      return state.clock == nil
    }
    if mustSchedule { schedule(current, after: EndTimes.firstReport) }
  }

  func ended(_ build: AsyncBuild) { _ = state.withLock { $0.running.removeValue(forKey: ObjectIdentifier(build)) } }

  private func schedule(_ clock: EndingClock, after delay: Duration) {
    let alarm = clock.schedule(delay) { [weak self] in self?.look(clock) }
    state.withLock { $0.alarm = alarm }
  }

  private func look(_ clock: EndingClock) {
    let now = clock.now()
    let (due, next) = state.withLock { state in
      let due = state.running.values.filter { $0.due <= now }
      for creation in due { state.running[ObjectIdentifier(creation.build)]?.due = now + .seconds(10) }
      let next = state.running.values.map(\.due).min()
      if next == nil { (state.clock, state.alarm) = (nil, nil) }
      return (due, next)
    }
    if let next { schedule(clock, after: next - now) }
    let reports = due.inOrder(of: \.number).compactMap { $0.build.report(after: now - $0.began) }
    for report in reports.prefix(Self.longest) { log.logger.warn(report) }
    if reports.count > Self.longest {
      log.logger.warn("\(reports.count - Self.longest) more asynchronous creations have taken as long")
    }
  }
}
