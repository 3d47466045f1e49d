import BeansErrors
import BeansLogging
import Synchronization

/// The work of beans: runs and schedules.
extension Environment {
  /// The clock of schedules, restarts and sessions: the nearest one that has been set, or the system's.
  package var clock: EnvironmentClock {
    var next = Optional(self)
    while let environment = next {
      if let clock = environment.existingExtras?.resources?.clock { return clock }
      next = environment.parent
    }
    return .system
  }

  // MARK: run() and stop()

  /// Runs the beans until the end of the environment.
  ///
  /// - Parameters:
  ///   - end: shuts the environment down.
  ///   - location: the place of the call, for errors.
  func runBeans(_ location: SourceLocation, end: () async throws -> Void) async throws {
    let works = extras.works
    if core.lifecycle.isEnding, !works.isStoppedBefore { throw location.met(finishedError()) }
    guard works.begin() else {
      throw EnvironmentError(
        cause: .runTwice, "environment '\(name)' runs already", path: ["'\(name)'"], origin: location.origin)
    }
    if Task.isCancelled { works.end(.cancelled) }
    if let cause = works.causeOfEnd { log.logger.info("'\(name)' does not run: \(cause.text) before run()") }
    whenReleased { works.end(.released) }
    let start = works.isEnding ? nil : Task { await startRuns(works, location) }
    await withTaskCancellationHandler {
      await works.untilEnd()
    } onCancel: {
      works.end(.cancelled)
    }
    start?.cancel()
    if start != nil, !works.hasStarted, let cause = works.causeOfEnd {
      log.logger.info("'\(name)' ends during its start: \(cause.text)")
    }
    var later: (any Error)?
    do { try await end() } catch { later = error }
    let failures = works.finish()
    // The failure of a start has ended the environment before it is known here.
    guard let first = failures.first ?? startFailure.map({ location.met($0) }) else {
      if let later { throw later }
      return
    }
    guard let first = first as? EnvironmentError else { throw first }
    var others: [any Error] = Array(failures.dropFirst())
    if let later { others.append(later) }
    throw first.with { $0.underlying += others }
  }

  // MARK: beans that do not run

  /// The labels of the beans that would run, while no call has started them; in the order of their creation.
  var idleRuns: [String] {
    guard core.lifecycle.isOpen, existingExtras?.existingWorks?.hasBegun != true else { return [] }
    return createdSlots.map { recipe($0) }.filter { isRunnable($0) && !isFace($0.value.slot) }.map(\.value.label)
  }

  /// Reports to the log, three seconds after the environment is ready, the beans that no call has started by then.
  func watchIdleRuns() {
    // A bean that runs, as far as its declaration says so, is released with care.
    if core.compiledPlan.with({ $0.releasesAtOnce }) || idleRuns.isEmpty { return }
    let cancel = EndingClock.current.schedule(.seconds(3)) { [weak self] in
      guard let self else { return }
      let labels = idleRuns
      if labels.isEmpty { return }
      log.logger.warn(
        "'\(name)' is ready, and does not run \(labels.joined(separator: ", ")): call run(until:), run(), or run() of a "
          + "ServerLifecycle")
    }
    extras.works.keep(cancel)
  }

  /// The part of a time limit that is left for the releases when a run ignores its cancellation.
  private static let reserve = Duration.milliseconds(200)

  /// Ends the runs one after the other, the latest first, while lookups still succeed: a run that serves requests completes
  /// them. The release of a bean waits for a run that is left. Returns at once inside a run or a schedule.
  ///
  /// - Parameter limit: the time limit of the whole end; nil for none.
  /// - Returns: the rest of the limit.
  func endRuns(within limit: Duration? = nil) async -> Duration? {
    guard let works = existingExtras?.existingWorks, works.isRunning, !core.lifecycle.isEnding,
      !BeanWork.isInside(self)
    else { return limit }
    works.end(.released)
    let began = ContinuousClock.now
    let share = limit.map { $0 < Self.reserve * 2 ? $0 / 2 : $0 - Self.reserve }
    for run in works.runs.reversed() where !core.lifecycle.isEnding {
      let rest = share.map { max($0 - began.duration(to: .now), .zero) }
      let warning = Task { [log, name] in
        do { try await Task.sleep(for: .seconds(3)) } catch { return }
        log.logger.warn("\(run.work.bean.label) in '\(name)' still runs, 3 seconds after it has been cancelled")
      }
      await run.work.end(within: [rest, run.limit].compactMap(\.self).min())
      warning.cancel()
    }
    return limit.map { max($0 - began.duration(to: .now), .zero) }
  }

  /// The error of a start that has failed; nil where the end of the environment is the cause.
  private var startFailure: (any Error)? {
    guard core.lifecycle.isFailed, let failure = existingExtras?.resources?.failure else { return nil }
    return (failure as? EnvironmentError)?.code == .finished ? nil : failure
  }

  /// Makes the environment ready, and starts each bean that runs. A failure ends `run()`, unless its end has begun.
  private func startRuns(_ works: BeanWorks, _ location: SourceLocation) async {
    do {
      if let parent, !core.lifecycle.isEnding { try await parent.makeReady() }
      if core.lifecycle.isEnding { throw finishedError() }
      try startIfNeeded()
      try Task.checkCancellation()
      try using { startExisting(works) }
      try await makeReady()
      try using { startExisting(works) }
      works.started()
    } catch {
      if core.lifecycle.isFailed { return works.end(.failed) }
      // Another caller ends the environment, or the end of `run()` has cancelled the start.
      if works.isEnding || core.lifecycle.isEnding { return }
      let cause = location.met(error)
      works.fail(
        cause as? EnvironmentError
          ?? EnvironmentError(.creationFailed, "'\(name)' did not start: \(error)", underlying: [error]))
    }
  }

  /// Starts the runs of the beans that exist, in the order of their creation. The caller keeps the environment from
  /// being released.
  private func startExisting(_ works: BeanWorks) {
    if works.isEnding { return }
    for slot in createdSlots where isRunnable(recipe(slot)) { _ = startRun(slot, works) }
  }

  /// The slots of the beans that exist, in the order of their creation.
  private var createdSlots: [Int32] {
    core.lock.withLock {
      logBuilds()
      return (0..<createdBeans).map { creationLog[$0] }
    }
  }

  /// Returns the run of a bean that exists; nil for another face of a bean, and for a bean whose run has not begun when
  /// the end begins. The runs of the beans that it takes are started before. The caller keeps the environment from being
  /// released.
  private func startRun(_ slot: Int32, _ works: BeanWorks) -> BeanRun? {
    if let run = works.run(slot) { return run }
    let content = core.slots[slot].content
    guard content.isFilled, !isFace(slot) else { return nil }
    // A bean that exists has been created after the beans that it takes.
    let needs = runningBeans(takenBy: slot).compactMap { startRun($0, works) }
    let recipe = recipe(slot)
    let reserved = works.reserve(slot) { number in
      BeanRun(
        BeanWork(content.object, recipe.value.entry, in: self), number, recipe.value.code.with { $0.restarts },
        limit: recipe.value.code.with { $0.releaseLimit })
    }
    guard let (run, isNew) = reserved else { return nil }
    if isNew { run.start(after: needs, in: self) }
    return run
  }

  /// Starts the runs of the beans that an asynchronous bean takes, before its creation, and waits until they are ready.
  /// Returns at once unless `run()` is in progress.
  ///
  /// - Throws: the errors of their creation; `CancellationError` if one of them has not begun to run when the end begins.
  func startRuns(neededBy recipe: FrozenReference<Recipe>, _ works: BeanWorks) async throws {
    guard works.isRunning else { return }
    let caller = AwaitingCaller(name: "run()", location: recipe.value.entry.location)
    // Whether a bean runs is certain when it exists. The creation would build them in this order, too.
    for taken in ownBeans(takenBy: recipe) where self.recipe(taken).value.kind == .slot {
      try await awaiting(caller) { try bean(taken).release() }
    }
    for slot in runningBeans(takenBy: recipe.value.number) {
      try await awaiting(caller) { try bean(slot).release() }
      if isFace(slot) { continue }
      guard let run = try using({ startRun(slot, works) }) else { throw CancellationError() }
      try await run.untilReady()
    }
  }

  // MARK: schedules

  /// Starts the schedules of a new bean. The bean has not been published, so no release can come before.
  func start(_ schedules: [BeanSchedule], _ object: ObjectReference, _ recipe: FrozenReference<Recipe>) throws {
    let bean = recipe.value.entry
    let (works, clock) = (extras.works, clock)
    for schedule in schedules {
      let work = BeanWork(object, bean, in: self)
      works.add(work, to: recipe.value.slot)
      work.start {
        Task.detached { [weak work] in
          var last: Int64?
          while await schedule.times.pass(clock, &last), await Self.call(schedule, work) {}
        }
      }
    }
  }

  /// Calls the closure of a schedule. Returns false where no more calls are to follow.
  private static func call(_ schedule: BeanSchedule, _ work: BeanWork?) async -> Bool {
    guard let work, let environment = work.environment, let object = work.enter() else { return false }
    do {
      try await BeanWork.$home.withValue(environment) {
        try await Environment.$current.withValue(environment) { try await schedule.body(object.object) }
      }
      return work.leave(object)
    } catch {
      guard work.leave(object, error) else { return false }
      environment.countFailedCall()
      environment.log.logger.error(
        "\(work.bean.label) in '\(environment.name)': the call that is scheduled \(schedule.text) failed: \(error)")
      return true
    }
  }

  /// Counts a failed call here and further out: an environment that ends takes its own counts with it.
  private func countFailedCall() {
    var next = Optional(self)
    while let environment = next {
      environment.existingExtras?.resources?.failedCalls.add(1, ordering: .relaxed)
      next = environment.parent
    }
  }
}

extension BeanSchedule.Times {
  /// Sleeps until the next call is due.
  ///
  /// - Parameters:
  ///   - clock: the environment's clock.
  ///   - last: the seconds since 1970 of the last call that was due; changed to those of the next one.
  /// - Returns: false if the task has been cancelled.
  fileprivate func pass(_ clock: EnvironmentClock, _ last: inout Int64?) async -> Bool {
    do {
      switch self {
      case .every(let interval): try await clock.sleep(interval)
      case .at(let expression, let offset):
        let now = clock.sinceEpoch().components.seconds
        // A wall clock that is set back a little does not repeat a call.
        let start = last.map { $0 > now && $0 - now < 3_600 ? $0 : now } ?? now
        let due = expression.next(after: start, offset: offset)
        last = due
        while case let rest = .seconds(due) - clock.sinceEpoch(), rest > .zero {
          try await clock.sleep(clock.longestSleep.map { min($0, rest) } ?? rest)
        }
      }
      return !Task.isCancelled
    } catch { return false }
  }
}
