import BeansLogging
@_spi(BeansPackage) import BeansSupport

/// The run of one `RunnableBean`, with its restarts.
final class BeanRun: Sendable {
  /// The progress of a run.
  enum Phase: Sendable {
    /// The beans that it takes are not ready yet.
    case waiting
    /// `run()` is in flight, and `untilReady()` has not returned.
    case starting
    /// Beans that take this one may run.
    case ready
    /// `run()` has failed and will be called again.
    case restarting
    /// `run()` has returned.
    case ended
    /// `run()` has failed, or has never been called.
    case failed
  }

  private struct State {
    var phase = Phase.waiting
    var restarts = 0
    var reason: String?
    var lastWaiter = 0
    var waiters = [Int: CheckedContinuation<Void, any Error>]()
  }

  private enum Outcome: Sendable {
    case ran((any Error)?)
    case ready((any Error)?)
  }

  let work: BeanWork
  /// The position of the run among those of its environment.
  let number: Int
  /// The time limit of the bean's release.
  let limit: Duration?
  private let policy: RestartPolicy?
  private let state = Locked(State())

  init(_ work: BeanWork, _ number: Int, _ policy: RestartPolicy?, limit: Duration?) {
    (self.work, self.number, self.policy, self.limit) = (work, number, policy, limit)
  }

  /// Starts the run in a task of its own, as soon as other runs are ready.
  func start(after needs: [BeanRun], in environment: Environment) {
    work.start {
      Task {
        // The task inherits the context of its creator, which may be a creation or a release.
        await AsyncBuild.$current.withValue(nil) {
          await Environment.$releasing.withValue(nil) {
            await BeanWork.$home.withValue(environment) {
              await Environment.$current.withValue(environment) { await run(after: needs, in: environment) }
            }
          }
        }
      }
    }
  }

  private func run(after needs: [BeanRun], in environment: Environment) async {
    do { for need in needs { try await need.untilReady() } } catch { return enter(.failed) }
    let clock = environment.clock
    var restarts = 0
    while let object = work.enter() {
      enter(.starting)
      let began = clock.now()
      let error = await attempt(object.object)
      let isOpen = work.leave(object, error)
      guard let error, isOpen else { return enter(.ended) }
      if let policy, clock.now() - began > policy.longest { restarts = 0 }
      guard let policy, restarts < policy.limit else {
        // Before the waiting creations fail: the end of the runs has begun when they do.
        environment.extras.works.fail(failure(error))
        return enter(.failed, error)
      }
      restarts += 1
      let delay = policy.delay(before: restarts)
      enter(.restarting, error)
      environment.log.logger.warn(
        "\(work.bean.label) in '\(environment.name)' failed while it ran, and is restarted after \(delay.rounded) "
          + "(\(restarts) of \(policy.limit) restarts): \(error)")
      do { try await clock.sleep(delay) } catch { break }
    }
    enter(.failed)
  }

  /// Calls `run()` and `untilReady()` side by side, until both have ended. Returns the first error.
  private func attempt(_ object: AnyObject) async -> (any Error)? {
    guard let bean = Box.open(object) as? any RunnableBean else { return nil }
    return await withTaskGroup(of: Outcome.self) { group in
      group.addTask {
        do { try await bean.run() } catch { return .ran(error) }
        return .ran(nil)
      }
      group.addTask {
        do { try await bean.untilReady() } catch { return .ready(error) }
        return .ready(nil)
      }
      var (failure, hasRun): ((any Error)?, Bool) = (nil, false)
      for await outcome in group {
        switch outcome {
        case .ran(let error):
          failure = failure ?? error
          hasRun = true
          group.cancelAll()
        case .ready(let error?) where !hasRun:
          failure = failure ?? error
          group.cancelAll()
        case .ready(nil) where !hasRun: enter(.ready)
        case .ready: break
        }
      }
      return failure
    }
  }

  private func failure(_ error: any Error) -> EnvironmentError {
    let bean = work.bean
    return bean.fault(.runFailed, "\(bean.label) failed while it ran: \(error)").with { $0.underlying = [error] }
  }

  // MARK: state

  /// The phase, the number of restarts, and the reason of the last failure.
  var progress: (phase: Phase, restarts: Int, reason: String?) {
    state.withLock { ($0.phase, $0.restarts, $0.reason) }
  }

  /// Enters a phase; wakes the waiting tasks where it decides whether the bean is ready.
  private func enter(_ phase: Phase, _ error: (any Error)? = nil) {
    let reason = error.map { "\($0)" }
    let waiters = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
      state.phase = phase
      if let reason { state.reason = reason }
      if phase == .restarting { state.restarts += 1 }
      if phase == .waiting || phase == .starting || phase == .restarting { return [] }
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters {
      if phase == .failed { waiter.resume(throwing: CancellationError()) } else { waiter.resume() }
    }
  }

  /// Returns when beans that take this one may run.
  ///
  /// - Throws: `CancellationError`, also where the run has failed.
  func untilReady() async throws {
    let number = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          switch state.phase {
          case .ready, .ended: return .success(())
          case .failed: return .failure(CancellationError())
          case .waiting, .starting, .restarting: break
          }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[number] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: CancellationError())
    }
  }
}

extension Environment {
  /// Returns the slots of the beans that run and that a bean takes, directly or through beans that do not run. Beans that
  /// exist run if their object does; others if their declaration says so.
  func runningBeans(takenBy number: Int32) -> [Int32] {
    var (found, seen, waiting) = ([Int32](), Set([number]), [number])
    while let next = waiting.popLast() {
      for taken in ownBeans(takenBy: recipe(next)) where seen.insert(taken).inserted {
        if isRunnable(recipe(taken)) { found.append(taken) } else { waiting.append(taken) }
      }
    }
    return found
  }

  /// Whether a bean runs, as far as its declaration or its object says so.
  func isRunnable(_ recipe: FrozenReference<Recipe>) -> Bool {
    if recipe.value.kind != .slot || recipe.value.isSeed { return false }
    if recipe.value.traits.contains(.runnable) { return true }
    let content = core.slots[recipe.value.slot].content
    if !content.isFilled || content.object.identity == recipe.value.identity { return false }
    return content.object.with { BeanTraits.of($0) }.contains(.runnable)
  }

  /// Returns the numbers of the recipes of this environment that a bean takes or requires, not through providers.
  func ownBeans(takenBy recipe: FrozenReference<Recipe>) -> [Int32] {
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
