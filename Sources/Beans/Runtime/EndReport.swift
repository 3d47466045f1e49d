import Synchronization

/// Reports the state of an environment's end, and takes over releases, for a `shutdown` that waits.
extension Environment {
  /// Registers, here and below, a watch that waits for the end. An unlimited watch does not replace a limited one.
  func watch(by watch: EndWatch) {
    let extras = extras
    if !watch.isLimited, extras.watch?.isLimited == true { return }
    extras.watch = watch
    core.lock.withLock { core.insert(.watched) }
    for child in liveChildren { child.watch(by: watch) }
  }

  /// The releases that are in flight here and below.
  var releasesBelow: [ReleaseInProgress] {
    liveChildren.flatMap(\.releasesBelow) + [existingExtras?.running].compactMap(\.self)
  }

  /// Moves releases that wait for the thread of a loop to spare threads, here and below. Skips an environment in which
  /// a bean is being released.
  func takeOver() {
    for child in liveChildren { child.takeOver() }
    takeOverHere()
  }

  private func takeOverHere() {
    guard existingExtras?.running == nil else { return }
    if core.kind.contains(.hosted), takeBack() { SpareThread.run { self.release(onHost: false) } }
    if let rest = existingExtras?.takeHandedOver(here: false) { SpareThread.run { rest(false) } }
  }

  /// Moves releases to spare threads that only the calling thread could run, because it is the thread of their loop.
  func takeOverFromThisThread() {
    for child in liveChildren { child.takeOverFromThisThread() }
    if host?.canReleaseHere == true || existingExtras?.isHandedOverHere == true { takeOverHere() }
  }

  /// Returns the state of the end, here and below.
  ///
  /// - Parameter takesFailures: whether the state also takes the failures of releases, to be thrown with the report of
  ///   the rest.
  func endState(takesFailures: Bool = false) -> EndState {
    var state = EndState()
    add(to: &state, takesFailures: takesFailures)
    return state
  }

  private func add(to state: inout EndState, takesFailures: Bool) {
    let count = state.levels.count
    for child in liveChildren { child.add(to: &state, takesFailures: takesFailures) }
    // A child that ends meanwhile hands its failures over before it leaves, so the failures here are read after the
    // children.
    let extras = existingExtras
    let (failures, running) = extras?.releases(takesFailures: takesFailures) ?? ([], nil)
    state.failures += failures
    // Under the lock: lookups that are still in flight append to the log.
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
      } else if lifecycle.bodies > 0 {
        .body(body)
      } else if isPostponed, core.kind.contains(.hosted) {
        .loop
      } else if isPostponed || lifecycle.users > 0 {
        .lookups
      } else {
        lifecycle.phase < .releasing ? .start : .nextRelease
      }
    state.levels.append(
      EndState.Level(
        name: name, reason: reason, left: slots.filter { !isFace($0) }.map { recipe($0).value.label }))
  }
}
