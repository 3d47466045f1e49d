import BeansErrors
package import BeansLogging
import Synchronization

/// Runs the beans of one environment. An environment has at most one; `BeansRunning` makes it.
package protocol BeanRunner: AnyObject, Sendable {
  /// Whether the beans run, or end: from the beginning of `run()` until it returns.
  var isRunning: Bool { get }
  /// Whether the end has begun: no bean starts to run.
  var isEnding: Bool { get }

  /// Starts the run of a bean that exists, and returns when beans that take it may run.
  ///
  /// - Throws: `CancellationError` if the run has not begun when the end begins, or has failed.
  func untilReady(_ bean: Int32) async throws

  /// Ends the runs, the latest first.
  ///
  /// - Parameter limit: the time limit of the whole end; nil for none.
  func end(within limit: Duration?) async
}

/// The hooks of the work of beans, which `BeansRunning` uses. A bean is named by its slot.
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

  /// The logger of the container here.
  package var logger: Logger { log.logger }

  // MARK: runs

  /// The runner of the beans; nil until a call runs or stops them.
  package var runner: (any BeanRunner)? { existingExtras?.existingWorks?.runner }

  /// Returns the runner of the beans, which this makes if there is none.
  package func runner<R: BeanRunner>(_ make: () -> R) -> R { extras.works.runner(make) }

  /// Whether lookups have ended, and whether the reason is a failed start.
  package var isEnding: Bool { core.lifecycle.isEnding }
  package var isFailed: Bool { core.lifecycle.isFailed }

  /// The error of a start that has failed; nil where the end of the environment is the cause.
  package var startFailure: (any Error)? {
    guard core.lifecycle.isFailed, let failure = existingExtras?.resources?.failure else { return nil }
    return (failure as? EnvironmentError)?.code == .finished ? nil : failure
  }

  /// The beans that exist and run, in the order of their creation.
  package var runnableBeans: [Int32] { createdSlots.filter { isRunnable(recipe($0)) && !isFace($0) } }

  /// Creates the work of a bean's run, which the release of the bean ends; nil where the bean does not exist.
  package func runWork(of bean: Int32) -> BeanWork? {
    let content = core.slots[bean].content
    guard content.isFilled, !isFace(bean) else { return nil }
    let work = BeanWork(content.object, recipe(bean), in: self)
    extras.works.add(work, to: bean)
    return work
  }

  /// Builds the beans that an asynchronous bean takes, before its creation, and waits until those that run are ready.
  /// Returns at once unless the beans run.
  ///
  /// - Throws: the errors of their creation; `CancellationError` if one of them has not begun to run when the end begins.
  func awaitRuns(neededBy recipe: FrozenReference<Recipe>) async throws {
    guard let runner, runner.isRunning else { return }
    let caller = AwaitingCaller(name: "run()", location: recipe.value.entry.location)
    // Whether a bean runs is certain when it exists. The creation would build them in this order, too.
    for taken in ownBeans(takenBy: recipe) where self.recipe(taken).value.kind == .slot {
      try await awaiting(caller) { try bean(taken).release() }
    }
    for taken in runnableBeans(takenBy: recipe.value.number) {
      try await awaiting(caller) { try bean(taken).release() }
      if !isFace(taken) { try await runner.untilReady(taken) }
    }
  }

  /// Ends the runs one after the other, the latest first, while lookups still succeed: a run that serves requests completes
  /// them. The release of a bean waits for a run that is left. Returns at once inside a run or a schedule.
  ///
  /// - Parameter limit: the time limit of the whole end; nil for none.
  /// - Returns: the rest of the limit.
  func endRuns(within limit: Duration? = nil) async -> Duration? {
    guard let runner, runner.isRunning, !core.lifecycle.isEnding, !BeanWork.isInside(self) else { return limit }
    let began = ContinuousClock.now
    await runner.end(within: limit)
    return limit.map { max($0 - began.duration(to: .now), .zero) }
  }

  /// Whether the end of the runs is in progress, which ends the environment after them.
  var isEndingRuns: Bool { runner.map { $0.isRunning && $0.isEnding } ?? false }

  // MARK: beans that do not run

  /// The labels of the beans that would run, while no call has started them; in the order of their creation.
  var idleRuns: [String] {
    guard core.lifecycle.isOpen, runner == nil else { return [] }
    return runnableBeans.map { recipe($0).value.label }
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
        "'\(name)' is ready, and does not run \(labels.joined(separator: ", ")): call run(until:) of BeansRunning, or run() "
          + "of a ServerLifecycle")
    }
    extras.works.keep(cancel)
  }

  // MARK: work that declarations attach

  /// Starts the attached work of a new bean. The bean has not been published, so no release can come before.
  func start(_ works: [any AttachedWork], _ object: ObjectReference, _ recipe: FrozenReference<Recipe>) {
    for attached in works {
      let work = BeanWork(object, recipe, in: self)
      extras.works.add(work, to: recipe.value.slot)
      attached.start(work)
    }
  }

  /// The number of scheduled calls that have failed, here and below.
  package var failedCalls: Int { existingExtras?.resources?.failedCalls.load(ordering: .relaxed) ?? 0 }

  /// Counts a failed call here and further out: an environment that ends takes its own counts with it.
  package func countFailedCall() {
    var next = Optional(self)
    while let environment = next {
      environment.existingExtras?.resources?.failedCalls.add(1, ordering: .relaxed)
      next = environment.parent
    }
  }

  // MARK: the beans that a bean takes

  /// The slots of the beans that exist, in the order of their creation.
  private var createdSlots: [Int32] {
    core.lock.withLock { (0..<createdBeans).map { creationLog[$0] } }
  }

  /// Returns the beans that run and that a bean takes, directly or through beans that do not run. Beans that exist run if
  /// their object does; others if their declaration says so.
  package func runnableBeans(takenBy bean: Int32) -> [Int32] {
    var (found, seen, waiting) = ([Int32](), Set([bean]), [bean])
    while let next = waiting.popLast() {
      for taken in ownBeans(takenBy: recipe(next)) where seen.insert(taken).inserted {
        if isRunnable(recipe(taken)) { found.append(taken) } else { waiting.append(taken) }
      }
    }
    return found
  }

  /// Whether a bean runs, as far as its declaration or its object says so.
  private func isRunnable(_ recipe: FrozenReference<Recipe>) -> Bool {
    if recipe.value.kind != .slot || recipe.value.isSeed { return false }
    if recipe.value.traits.contains(.runnable) { return true }
    let content = core.slots[recipe.value.slot].content
    if !content.isFilled || content.object.identity == recipe.value.identity { return false }
    return content.object.with { BeanTraits.of($0) }.contains(.runnable)
  }

  /// Returns the numbers of the recipes of this environment that a bean takes or requires, not through providers.
  private func ownBeans(takenBy recipe: FrozenReference<Recipe>) -> [Int32] {
    var found: [Int32] = []
    recipe.value.operands.forEach { note($0, in: &found) }
    recipe.value.properties.forEach { note($0, in: &found) }
    recipe.value.requirements.forEach { note($0, in: &found) }
    recipe.value.needs.forEach { note($0, in: &found) }
    return found
  }

  private func note(_ operand: Operand, in found: inout [Int32]) {
    switch operand.place {
    case .own(let slot), .counted(let slot): found.append(slot)
    case .outer(let slot): if let own = ownSlot(slot) { found.append(own) }
    case .computed(let number): note(core.compiledPlan.with { $0.computations[Int(number)] }, in: &found)
    }
  }

  private func note(_ computation: Computation, in found: inout [Int32]) {
    switch computation {
    case .outer(0, let number), .scoped(let number, 0), .prototype(let number), .owned(let number, _):
      found.append(number)
    case .slot(let slot): if let own = ownSlot(slot) { found.append(own) }
    case .composed(let operands, _, _):
      for operand in operands { note(operand, in: &found) }
    case .collected(let computations, _, _):
      for computation in computations { note(computation, in: &found) }
    case .outer, .scoped, .deferred, .absent, .provider, .environment, .configuration, .injection, .products: break
    }
  }
}
