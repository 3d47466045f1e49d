import BeansLogging

extension BeanWork {
  /// Runs a body as work of an environment, which an end that the body begins does not await.
  package nonisolated(nonsending) static func run<R>(
    in environment: Environment, _ body: nonisolated(nonsending) () async throws -> R
  ) async rethrows -> R {
    // The task inherits the context of its creator, which may be a creation or a release.
    try await AsyncBuild.$current.withValue(nil) {
      try await Environment.$releasing.withValue(nil) {
        try await $home.withValue(environment) {
          try await Environment.$current.withValue(environment) { try await body() }
        }
      }
    }
  }
}

/// The beans of an environment that run, each named by its slot.
package struct RunningBeans {
  private let environment: Environment

  package init(of environment: Environment) { self.environment = environment }

  private var runner: (any BeanRunner)? { environment.existingExtras?.existingWorks?.runner }

  /// Whether the beans run, or end.
  var areRunning: Bool { runner?.isRunning == true }

  /// The beans that exist and run, in the order of their creation.
  package var all: [Int32] {
    let created = environment.core.lock.withLock {
      return (0..<environment.createdBeans).map { environment.creationLog[$0] }
    }
    return created.filter { isRunnable(environment.recipe($0)) && !environment.isFace($0) }
  }

  /// Returns the beans that run and that a bean takes, directly or through beans that do not run. Beans that exist run if
  /// their object does; others if their declaration says so.
  package func taken(by bean: Int32) -> [Int32] {
    var (found, seen, waiting) = ([Int32](), Set([bean]), [bean])
    while let next = waiting.popLast() {
      for taken in ownBeans(takenBy: environment.recipe(next)) where seen.insert(taken).inserted {
        if isRunnable(environment.recipe(taken)) { found.append(taken) } else { waiting.append(taken) }
      }
    }
    return found
  }

  /// Creates the work of a bean's run, which the release of the bean ends; nil where the bean does not exist.
  package func work(of bean: Int32) -> BeanWork? {
    let content = environment.core.slots[bean].content
    guard content.isFilled, !environment.isFace(bean) else { return nil }
    return BeanWork(content.object, environment.recipe(bean), in: environment)
  }

  /// Builds the beans that an asynchronous bean takes, before its creation, and waits until those that run are ready.
  /// Called while the beans run.
  ///
  /// - Throws: the errors of their creation; `CancellationError` if one of them has not begun to run when the end begins.
  func awaitReady(neededBy recipe: FrozenReference<Recipe>) async throws {
    guard let runner else { return }
    let call = AwaitingCall("run()", at: recipe.value.definition.location)
    // Whether a bean runs is certain when it exists. The creation would build them in this order, too.
    for taken in ownBeans(takenBy: recipe) where environment.recipe(taken).value.kind == .slot {
      try await call.repeating { try environment.bean(taken).release() }
    }
    for taken in taken(by: recipe.value.number) {
      try await call.repeating { try environment.bean(taken).release() }
      if !environment.isFace(taken) { try await runner.untilReady(taken) }
    }
  }

  /// Ends the runs one after the other, the latest first, while lookups still succeed: a run that serves requests completes
  /// them. The release of a bean waits for a run that is left. Returns at once inside a run or a schedule.
  ///
  /// - Parameter limit: the time limit of the whole end; nil for none.
  /// - Returns: the rest of the limit.
  func end(within limit: Duration? = nil) async -> Duration? {
    guard let runner, runner.isRunning, !environment.core.lifecycle.isEnding, !BeanWork.isInside(environment) else {
      return limit
    }
    let began = ContinuousClock.now
    await runner.end(within: limit)
    return limit.map { max($0 - began.duration(to: .now), .zero) }
  }

  /// Whether the end of the runs is in progress, which ends the environment after them.
  var areEnding: Bool { runner.map { $0.isRunning && $0.isEnding } ?? false }

  /// The labels of the beans that would run, while no call has started them; in the order of their creation.
  var idle: [String] {
    guard environment.core.lifecycle.isOpen, runner == nil else { return [] }
    return all.map { environment.recipe($0).value.definition.label }
  }

  /// Reports to the log, three seconds after the environment is ready, the beans that no call has started by then.
  func watchIdle() {
    // A bean that runs, as far as its declaration says so, is released with care.
    if environment.core.compiledPlan.with({ $0.releasesAtOnce }) || idle.isEmpty { return }
    // The body keeps the alarm alive until it has run.
    let alarm = Alarm()
    alarm.set(after: .seconds(3)) { [weak environment] in
      alarm.stop()
      guard let environment else { return }
      let labels = RunningBeans(of: environment).idle.joined(separator: ", ")
      if labels.isEmpty { return }
      environment.log.logger.warn(
        "'\(environment.name)' is ready, and does not run \(labels): call run(until:) of BeansRunning, or run() of a "
          + "ServerLifecycle")
    }
  }

  /// Whether a bean runs, as far as its declaration or its object says so.
  private func isRunnable(_ recipe: FrozenReference<Recipe>) -> Bool {
    if recipe.value.kind != .slot || recipe.value.isSeed { return false }
    if recipe.value.traits.contains(.runnable) { return true }
    let content = environment.core.slots[recipe.value.slot].content
    if !content.isFilled || content.object.identity == recipe.value.identity { return false }
    return content.object.with { BeanTraits.of($0) }.contains(.runnable)
  }

  /// Returns the numbers of the recipes of the environment that a bean takes or requires, not through providers.
  private func ownBeans(takenBy recipe: FrozenReference<Recipe>) -> [Int32] {
    var own: [Int32] = []
    recipe.forEachTaken(in: environment) { owner, taken in
      if owner === environment { own.append(taken.value.number) }
    }
    return own
  }
}
