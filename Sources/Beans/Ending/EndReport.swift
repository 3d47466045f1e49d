import Synchronization

/// What an environment says of its end, and does, for whoever waits.
extension Environment {
  /// Notes here and below that somebody waits for the end. Whoever gives up at some time counts most.
  func watch(by watch: EndWatch) {
    let extras = extras
    if !watch.isLimited, extras.watch?.isLimited == true { return }
    extras.watch = watch
    core.lock.withLock { core.insert(.watched) }
    for child in liveChildren { child.watch(by: watch) }
  }

  /// The releases that are under way here and below.
  var releasesBelow: [ReleaseInProgress] {
    liveChildren.flatMap(\.releasesBelow) + [existingExtras?.running].compactMap(\.self)
  }

  /// Releases what has been waiting for the thread of a loop; of beans that are not being released.
  func takeOver() {
    for child in liveChildren { child.takeOver() }
    takeOverHere()
  }

  private func takeOverHere() {
    guard existingExtras?.running == nil else { return }
    if core.kind.contains(.hosted), takeBack() { SpareThread.run { self.release(onHost: false) } }
    if let rest = existingExtras?.takeHandedOver(here: false) { SpareThread.run { rest(false) } }
  }

  /// Those that only the calling thread could release, because it is that of their loop.
  func takeOverFromThisThread() {
    for child in liveChildren { child.takeOverFromThisThread() }
    if host?.canReleaseHere == true || existingExtras?.isHandedOverHere == true { takeOverHere() }
  }

  /// What the end waits for, innermost first.
  func reasonsToWait(_ now: Duration) -> [String] {
    if isReleased { return [] }
    let below = liveChildren.flatMap { $0.reasonsToWait(now) }
    if let running = existingExtras?.running { return below + [running.description(now)] }
    if !below.isEmpty { return below }
    let isPostponed = core.isPostponed.load(ordering: .relaxed)
    if isPostponed, core.kind.contains(.hosted) { return ["'\(name)', whose loop has not come to release it"] }
    return [isPostponed || core.lifecycle.users > 0 ? "'\(name)', which lookups still use" : "'\(name)'"]
  }

  /// What has not been released, innermost first.
  var leftBelow: [String] {
    if isReleased { return [] }
    let below = liveChildren.flatMap(\.leftBelow)
    let running = existingExtras?.running
    // Under the lock: lookups that are still under way append to the log.
    let slots = core.lock.withLock { () -> [Int32] in
      let count = running?.behind ?? (core.lifecycle.phase < .releasing ? createdBeans : 0)
      return (0..<count).reversed().map { creationLog[$0] }
    }
    if slots.isEmpty { return below + ["'\(name)'"] }
    let more = slots.count > 8 ? " and \(slots.count - 8) more" : ""
    return below + [
      "'\(name)' with \(slots.prefix(8).map { recipe($0).value.entry.label }.joined(separator: ", "))\(more)"
    ]
  }
}
