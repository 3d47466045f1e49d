@_spi(BeansPackage) import BeansErrors
import Dispatch
import Synchronization

/// Ends for which a caller waits: the wait, the releases that are taken over meanwhile, and the report of the state.
extension Environment {
  /// Calls `body` once everything here has been released, on the thread that released it; at once if that has already
  /// happened.
  @inline(never)
  package func whenFinished(_ body: @escaping @Sendable () -> Void) {
    // Made first: a release that comes after the check finds them.
    let extras = extras
    if core.lock.withLock({ core.lifecycle.isReleased }) { return body() }
    let isOver = extras.record.withLock { record in
      if !record.isOver { record.callbacks.append(body) }
      return record.isOver
    }
    if isOver { body() }
  }

  /// Whether an object waits for the release, such as the `Sessions` that end this environment in time. Such an
  /// environment may be open when its parent ends.
  package var isFollowed: Bool { existingExtras?.record.withLock { !$0.callbacks.isEmpty } ?? false }

  /// Waits for the release of everything here and below. Meanwhile, releases the beans that belong to the calling
  /// thread or to a loop that has stopped.
  ///
  /// - Returns: false where this thread would wait for itself.
  @discardableResult
  func waitUntilReleased() -> Bool {
    var canWait = !ResolutionContext.isInside(self) && !isInsideBody
    for child in liveChildren { canWait = child.waitUntilReleased() && canWait }
    if isReleased { return true }
    let (extras, signal) = (extras, DispatchSemaphore(value: 0))
    extras.record.withLock { $0.waiting.append(signal) }
    if core.lock.withLock({ core.lifecycle.isReleased }) { return true }
    while !extras.record.withLock({ $0.isOver }) {
      if let part = takePart(ofThisThread: true) {
        part()
        continue
      }
      // Lookups on other threads, which a release has to wait for, may themselves wait for this one.
      let isBlocked = host?.canReleaseHere == true && core.lifecycle.phase < .releasing
      if !canWait || isBlocked || extras.isAwaitedHere { return false }
      extras.watch?.arm()
      signal.wait()
    }
    return true
  }

  func throwFailures() throws { try throwFailures(existingExtras?.takeFailures() ?? []) }

  private func throwFailures(_ failures: [any Error]) throws {
    let failure = EnvironmentError.combining(failures, code: .destructionFailed) {
      "\($0) releases failed in environment '\(name)'"
    }
    if let failure { throw failure }
  }

  /// Throws the failures. After a limit, those here and below, and an error that names the beans that are left.
  func throwFailures(of watch: EndWatch) throws {
    guard watch.isLimited else { return try throwFailures() }
    let state = EndState(of: self, watch.clock.now(), takingFailures: true)
    guard let fault = watch.fault(of: self, state) else { return try throwFailures(state.failures) }
    tell(fault)
    try throwFailures(state.failures + [fault])
  }

  /// Makes a watch for the end, for a caller that waits.
  func watchEnd(within limit: Duration? = nil) -> EndWatch {
    let watch = EndWatch(self, limit: limit)
    self.watch(by: watch)
    if limit != nil { watch.arm() }
    return watch
  }

  /// Waits for the release of everything here and below, or until the watch gives up.
  nonisolated(nonsending) func untilOver(_ watch: EndWatch) async {
    if !isReleased { watch.arm() }
    await withCheckedContinuation { continuation in
      watch.whenOver { continuation.resume() }
      whenFinished { watch.end() }
    }
  }

  /// Waits as `untilOver` does, while the calling thread runs the releases that belong to it. In an end with a limit it
  /// runs none: they move to spare threads.
  func wait(for watch: EndWatch) {
    guard watch.isLimited else {
      waitUntilReleased()
      return watch.end()
    }
    whenFinished { watch.end() }
    while !isReleased, !watch.hasGivenUp {
      takeOver(ofThisThread: true)
      watch.signal.wait()
    }
  }

  /// Registers, here and below, a watch that waits for the end. An unlimited watch does not replace a limited one.
  func watch(by watch: EndWatch) {
    let extras = extras
    if !watch.isLimited, extras.watch?.isLimited == true { return }
    extras.record.withLock { if !$0.isOver { $0.watch = watch } }
    extras.needsCare.store(true, ordering: .relaxed)
    for child in liveChildren { child.watch(by: watch) }
  }

  /// The releases that are in flight here and below.
  var releasesBelow: [ReleaseInProgress] {
    liveChildren.flatMap(\.releasesBelow) + [existingExtras?.record.withLock { $0.running }].compactMap(\.self)
  }

  /// Moves releases that wait for the thread of a loop to spare threads, here and below.
  ///
  /// - Parameter ofThisThread: whether only those move that wait for the calling thread, because it is that of their loop.
  func takeOver(ofThisThread: Bool) {
    for child in liveChildren { child.takeOver(ofThisThread: ofThisThread) }
    if let part = takePart(ofThisThread: ofThisThread) { SpareThread.run(part) }
  }

  /// Takes the part of the end that waits for the thread of a loop: the whole release, or the rest of it. The work that
  /// was sent to the loop finds nothing left to do.
  ///
  /// - Parameter ofThisThread: whether the part is taken only if it waits for the calling thread.
  func takePart(ofThisThread: Bool) -> (@Sendable () -> Void)? {
    if let host, !ofThisThread || host.canReleaseHere, takeBack() { return { self.release(onHost: false) } }
    guard let errand = existingExtras?.record.withLock({ $0.errand }), !ofThisThread || errand.place.canReleaseHere,
      let work = errand.take()
    else { return nil }
    return { work(false) }
  }
}
