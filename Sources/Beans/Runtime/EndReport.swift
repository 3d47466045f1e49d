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

  /// The state of the end, here and below.
  ///
  /// - Parameter takesFailures: whether the failures of releases are taken, too, to be thrown with what is said of the rest.
  func endState(takesFailures: Bool = false) -> EndState {
    var state = EndState()
    add(to: &state, takesFailures: takesFailures)
    return state
  }

  private func add(to state: inout EndState, takesFailures: Bool) {
    let count = state.levels.count
    for child in liveChildren { child.add(to: &state, takesFailures: takesFailures) }
    // A child that ends meanwhile hands its failures over before it goes, so they are looked for after it.
    let extras = existingExtras
    let (failures, running) = extras?.releases(takesFailures: takesFailures) ?? ([], nil)
    state.failures += failures
    // Under the lock: lookups that are still under way append to the log.
    let (lifecycle, slots) = core.lock.withLock { () -> (Lifecycle, [Int32]) in
      let lifecycle = core.lifecycle
      let count = running?.behind ?? (lifecycle.phase < .releasing ? createdBeans : 0)
      return (lifecycle, (0..<count).reversed().map { creationLog[$0] })
    }
    if lifecycle.isReleased {
      state.failures += extras?.releases(takesFailures: takesFailures).failures ?? []
      return
    }
    let isPostponed = core.isPostponed.load(ordering: .relaxed)
    let reason: EndState.Reason =
      if let running {
        .release(running)
      } else if state.levels.count > count {
        .below
      } else if isPostponed, core.kind.contains(.hosted) {
        .loop
      } else if isPostponed || lifecycle.users > 0 {
        .lookups
      } else {
        lifecycle.phase < .releasing ? .start : .nextRelease
      }
    state.levels.append(
      EndState.Level(
        name: name, reason: reason, left: slots.filter { !isFace($0) }.map { recipe($0).value.entry.label }))
  }
}
