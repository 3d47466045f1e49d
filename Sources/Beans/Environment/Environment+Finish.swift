import BeansLogging
import CBeansRuntime
import Dispatch
import Synchronization

extension Environment {
  /// Calls `body` once everything here has been released, on the thread that released it; at once if that is so already.
  public func whenFinished(_ body: @escaping @Sendable () -> Void) {
    side.whenEnded(body)
  }

  /// Begins the end: from now on lookups here and below throw `.finished`.
  ///
  /// Children are finished first. Beans are released in reverse order of creation, each exactly once, whatever fails.
  /// Scopes without a loop are released before this returns, unless lookups are under way on other threads: then by
  /// the last one to end. Scopes bound to a loop are released there; this does not wait for them. Failures are logged
  /// and thrown by the next `shutdown()`. Idempotent, from any thread.
  public func finish() {
    // Usually nobody is inside and there have been no children: two steps in one.
    let now = state
    if sideReference == nil, State.isQuiet(now),
      header.state.compareExchange(
        expected: now, desired: now | State.finishing | State.releasing, ordering: .sequentiallyConsistent
      ).exchanged
    {
      if sideReference == nil { return handOverOrRelease() }
      // A child has joined meanwhile: back to one step after the other.
      header.state.bitwiseAnd(~State.releasing, ordering: .acquiringAndReleasing)
    } else {
      let (old, _) = header.state.bitwiseOr(State.finishing, ordering: .sequentiallyConsistent)
      if old & State.finishing != 0 { return }
    }
    // A child that joins from now on sees the flag (see `EnvironmentFactory`), one that has joined is in the list.
    // Both this and the flag are sequentially consistent, as is the making of a side: one of the two sees the other.
    if let side = Unmanaged<Side>.word(header.side.load(ordering: .sequentiallyConsistent)) {
      side._withUnsafeGuaranteedRef { finishChildren($0) }
    }
    releaseIfQuiet()
  }

  private func finishChildren(_ side: Side) {
    let live = side.children.close()
    if !live.isEmpty {
      plan.log.logger.info(
        "'\(name)' finishes \(live.count) environments below it that were still open")
    }
    for child in live {
      if side.isAsynchronous.load(ordering: .relaxed) { child.side.isAsynchronous.store(true, ordering: .relaxed) }
      child.finish()
    }
  }

  /// Finishes the whole subtree and waits until everything is released.
  ///
  /// On a loop's own thread the scopes bound to that loop are released in place instead of being waited for. Called
  /// from inside a factory of this environment it cannot wait, and begins the end only.
  ///
  /// - Throws: what failed, once: one failure as it is (`.destructionFailed`), several as one error holding all. A
  ///   second call returns at once. A bean whose release is asynchronous is such a failure: use `await shutdown()`.
  public func shutdown() throws {
    finish()
    guard !Frame.isInside(self) else { return }
    waitUntilReleased()
    try throwFailures()
  }

  /// As the synchronous `shutdown()`, and awaits asynchronous releases in their place in the order.
  public func shutdown() async throws {
    if !isFinishing { side.isAsynchronous.store(true, ordering: .relaxed) }
    finish()
    // From a release of the environment itself, or below, there is nothing to wait for but oneself.
    if let inner = Environment.releasing, inner === self || inner.isDescendant(of: self) { return }
    await withCheckedContinuation { continuation in whenFinished { continuation.resume() } }
    try throwFailures()
  }

  /// Waits for everything below and here, and releases what belongs to the calling thread or to a loop that has stopped.
  ///
  /// - Returns: false where this thread would wait for itself.
  @discardableResult
  private func waitUntilReleased() -> Bool {
    var canWait = true
    for child in existingSide?.children.all ?? [] { canWait = child.waitUntilReleased() && canWait }
    if isReleased { return true }
    let isOurs = scope.host?.canReleaseHere == true
    // Taken from the loop: what it was sent finds nothing left to do.
    if isOurs, claimHandedOver() { release(onHost: false) }
    if isReleased { return true }
    guard canWait, !Frame.isInside(self), !(isOurs && isHeldUp) else { return false }
    let end = DispatchSemaphore(value: 0)
    whenFinished { end.signal() }
    end.wait()
    return true
  }

  /// Whether the release has to come from the loop: it is awaited there, or lookups on other threads precede it.
  private var isHeldUp: Bool { state & State.awaiting != 0 || state & State.releasing == 0 }

  private func throwFailures() throws {
    let failures = existingSide?.takeFailures() ?? []
    let failure = EnvironmentError.combining(failures, code: .destructionFailed) {
      "\($0) releases failed in environment '\(name)'"
    }
    if let failure { throw failure }
  }

  // MARK: releasing

  /// Releases if nobody is inside any more and no child lives; exactly one caller gets to do it.
  func releaseIfQuiet() {
    if claimRelease() { handOverOrRelease() }
  }

  @inline(__always)
  private func handOverOrRelease() {
    if isHosted { handOver() } else { release(onHost: false) }
  }

  @inline(never)
  private func handOver() {
    guard let host = scope.host else { return release(onHost: false) }
    header.state.bitwiseOr(State.handedOver, ordering: .acquiringAndReleasing)
    let isAccepted = host.release { [self] in
      if claimHandedOver() { release(onHost: true) }
    }
    if !isAccepted, claimHandedOver() { release(onHost: false) }
  }

  /// One winner: sets `releasing` where the environment is finishing, empty and childless.
  private func claimRelease() -> Bool {
    var old = state
    while true {
      guard old & State.finishing != 0, old & State.releasing == 0, State.entered(old) == 0 else { return false }
      if let side = sideReference, !side._withUnsafeGuaranteedRef({ $0.children.isEmpty }) || isLent { return false }
      let (won, now) = header.state.compareExchange(
        expected: old, desired: old | State.releasing, ordering: .acquiringAndReleasing)
      if won { return true }
      old = now
    }
  }

  /// The loop and a `shutdown()` that does not want to wait for it may both come for what was handed over.
  private func claimHandedOver() -> Bool {
    let (old, _) = header.state.bitwiseAnd(~State.handedOver, ordering: .acquiringAndReleasing)
    return old & State.handedOver != 0
  }

  /// - Parameter onHost: whether this is where the host releases, and can await.
  private func release(onHost: Bool) {
    // Not a closure: one of this size would not be inlined.
    @inline(__always)
    func run(_: UnsafeMutablePointer<Frame>) -> Int { releaseQuietly() }
    let quiet = Frame.with(self, nil, leads: false, run)
    if quiet >= 0 { ended(created: quiet, released: quiet) } else { releaseWithCare(onHost: onHost) }
  }

  /// The usual end of a request: its beans have nothing to say, so they are let go of one after the other.
  ///
  /// Answers how many there were without the seed, or -1 where something, perhaps everything, is left to be released with
  /// care: callbacks, users' scopes, or beans of several threads.
  @inline(__always)
  private func releaseQuietly() -> Int {
    if sideReference != nil || isCustomScope { return -1 }
    let count = Int(header.created.load(ordering: .acquiring))
    let isNarrow = header.plan._withUnsafeGuaranteedRef { $0.tail.isNarrow }
    guard isNarrow ? releaseQuietly(count, of: narrowTrail) : releaseQuietly(count, of: wideTrail) else { return -1 }
    if header.plan._withUnsafeGuaranteedRef({ $0.hasSeed }), let seed = tail.pointee.object {
      tail.pointee.word.store(0, ordering: .relaxed)
      beans_release(seed)
    }
    return count
  }

  /// So many, the last first; false where it stops. What is left knows how many are gone by the slots that are empty.
  @inline(__always)
  private func releaseQuietly<Number: FixedWidthInteger>(
    _ count: Int, of trail: UnsafeMutablePointer<Number>
  ) -> Bool {
    let (slots, flat) = (tail, header.plan._withUnsafeGuaranteedRef { $0.flat })
    var entry = trail + count
    while entry != trail {
      entry -= 1
      let index = Int(truncatingIfNeeded: entry.pointee)
      let settled = flat[index]
      guard let pointer = slots[index].object else { return false }
      let object = Unmanaged<AnyObject>.fromOpaque(pointer)
      let identity = object._withUnsafeGuaranteedRef { UInt(bitPattern: ObjectIdentifier(type(of: $0))) }
      let isQuiet = settled.pointee.quietIdentity == identity
      guard isQuiet || settled.pointee.ending == .called && settled.pointee.identity == identity else { return false }
      slots[index].word.store(0, ordering: .relaxed)
      if !isQuiet { call(object, settled) }
      beans_release(pointer)
    }
    return true
  }

  /// What a bean wants to be told at its end, where none of that has to be awaited.
  @inline(never)
  private func call(_ object: Unmanaged<AnyObject>, _ settled: UnsafeMutablePointer<SlotPlan>) {
    let errors = object._withUnsafeGuaranteedRef { BeanRelease.run($0, settled) }
    if !errors.isEmpty { failed(object, settled, errors) }
  }

  @inline(never)
  private func failed(
    _ object: Unmanaged<AnyObject>, _ settled: UnsafeMutablePointer<SlotPlan>, _ errors: [any Error]
  ) {
    note(
      object._withUnsafeGuaranteedRef {
        BeanRelease.failure(errors, of: $0, settled.pointee.recipe.takeUnretainedValue())
      })
  }

  /// A release that failed does not stop the others; the next `shutdown()` throws it.
  func note(_ failure: EnvironmentError?) {
    guard let failure else { return }
    plan.log.logger.error("'\(name)': \(failure)")
    side.record(failure)
  }

  @inline(never)
  private func releaseWithCare(onHost: Bool) {
    // The frame lets a callback that shuts this environment down see that it is inside.
    let (run, pending) = Frame.with(self, nil, leads: false) {
      var run = ReleaseRun(self, canWait: onHost || existingSide?.isAsynchronous.load(ordering: .relaxed) == true)
      let pending = run.advance()
      return (run, pending)
    }
    switch pending {
    case nil: ended(run)
    case let pending?: continueAsynchronously(run, pending, onHost: onHost)
    }
  }

  private func continueAsynchronously(_ run: ReleaseRun, _ pending: BeanRelease, onHost: Bool) {
    // Owned by the one task that goes on with it.
    nonisolated(unsafe) let state = (run, pending)
    let work: @Sendable () async -> Void = { [self] in
      var (run, pending) = state
      while true {
        run.note(await Environment.$releasing.withValue(self) { await pending.runAsynchronously() })
        guard let next = run.advance() else { break }
        pending = next
      }
      ended(run)
    }
    if onHost, let host = scope.host {
      header.state.bitwiseOr(State.awaiting, ordering: .acquiringAndReleasing)
      host.release(asynchronously: work)
    } else {
      Task(operation: work)
    }
  }

  private func ended(_ run: ReleaseRun) {
    if run.isFollowed || header.setup?.isTemplate == false { plan.log.finished(name, released: run.released) }
    ended(created: createdBeans, released: run.released)
  }

  /// The last step: lets the parent go on and wakes whoever waits.
  private func ended(created: Int, released: Int) {
    // Most have none; and without one, this is no plain environment.
    if let side = sideReference { side._withUnsafeGuaranteedRef { ended($0, released) } }
    if isHosted { scope.host?.closed() }
    if state & State.joined != 0, let parent = header.parent { leave(parent, created, released) }
    header.claim.store(.max, ordering: .releasing)
    // A side made meanwhile is told here, or has seen that: whoever makes one runs the barrier on all threads.
    beans_barrier_on_this_thread()
    sideReference?._withUnsafeGuaranteedRef { $0.end() }
  }

  @inline(never)
  private func ended(_ side: Side, _ released: Int) {
    side.releasedBeans.store(released, ordering: .relaxed)
    if header.setup?.isTemplate == false { plan.dismantle() }
  }

  // Closures of this size would not be inlined.
  @inline(__always)
  private func leave(_ parent: Unmanaged<Environment>, _ created: Int, _ released: Int) {
    guard let parentSide = parent._withUnsafeGuaranteedRef({ $0.sideReference }) else { return }
    parent._withUnsafeGuaranteedRef { $0.used() }
    if let side = sideReference {
      parentSide._withUnsafeGuaranteedRef { parentSide in
        side._withUnsafeGuaranteedRef { parentSide.children.add($0.children.statistics, of: self) }
      }
    }
    let isClosed = parentSide._withUnsafeGuaranteedRef {
      $0.children.leave(self, created: created, released: released)
    }
    if isClosed { parent._withUnsafeGuaranteedRef { parentGoesOn($0) } }
  }

  /// The parent is being finished: what failed here is part of what its shutdown throws.
  @inline(never)
  private func parentGoesOn(_ parent: Environment) {
    for failure in existingSide?.takeFailures() ?? [] { parent.side.record(failure) }
    parent.releaseIfQuiet()
  }

  /// The references of an environment that was dropped without having been finished.
  func releaseAbandoned() {
    // What a `configure` is handed has the plan of a factory's children, but no slots.
    if isReleased || header.setup?.isTemplate == true { return }
    var order = CreationOrder(self)
    while let slot = order.popLast() {
      if let object = slots[slot].object { Unmanaged<AnyObject>.fromOpaque(object).release() }
    }
  }
}
