@_spi(BeansPackage) import BeansErrors
import Synchronization

/// The asynchronous creation of one bean, and the tasks that wait for it.
final class AsyncBuild: WatchedCreation {
  /// The creation that the running task belongs to.
  @TaskLocal static var current: AsyncBuild?

  /// The environment of the bean. Weak: a task that outlives the creation may still refer to this object.
  weak let environment: Environment?
  /// The name of that environment.
  private let place: String
  private let bean: BeanDefinition
  private let state = Locked(State())
  /// Whether the task of the creation has ended. Tasks that it has left behind may still run.
  private let hasEnded = Atomic(false)

  private struct State {
    /// The outcome for each waiting task: that of the creation, or the error of the end of the environment before.
    var outcome: Result<Void, any Error>?
    var waiters = [Int: Waiter]()
    var nextWaiter = 0
    var task: Task<Void, Never>?
    /// Whether the creation is cancelled: no task waits any longer, or the environment ends.
    var isCancelled = false
  }

  private struct Waiter {
    let continuation: CheckedContinuation<Void, any Error>
    /// The creation that the waiting task belongs to; nil for a task outside of creations.
    let taker: AsyncBuild?
    let call: AwaitingCall
  }

  private init(_ environment: Environment, _ bean: BeanDefinition) {
    self.environment = environment
    place = environment.name
    self.bean = bean
  }

  /// Creates a bean, or waits for its creation in flight. Returns once the bean exists.
  ///
  /// - Parameter between: the creations on the path from the call to this one, each waiting for the next.
  static func create(
    _ recipe: FrozenReference<Recipe>, in environment: Environment, for call: AwaitingCall,
    between: () -> [EnvironmentError.Step]
  ) async throws {
    while let build = try join(recipe, in: environment) {
      do { return try await build.wait(call, between: between) } catch {
        guard build.isCancelled, !Task.isCancelled else { throw error }
        if environment.core.lifecycle.isEnding { throw environment.finishedError() }
        // The calls that were waiting for this creation have been cancelled.
      }
    }
  }

  /// Returns the creation in flight, or a new one; nil where the bean exists.
  private static func join(_ recipe: FrozenReference<Recipe>, in environment: Environment) throws -> AsyncBuild? {
    // Prevents the release of the environment until the creation has ended.
    try environment.enter()
    let slot = recipe.value.slot
    let (build, isFirst) = environment.extras.builds.withLock { builds -> (AsyncBuild?, Bool) in
      if let build = builds[slot] { return (build, false) }
      // A creation fills the slot before it leaves the list.
      if environment.core.slots[slot].content.isFilled { return (nil, false) }
      let build = AsyncBuild(environment, recipe.value.definition)
      builds[slot] = build
      return (build, true)
    }
    guard let build, isFirst else {
      environment.leave()
      return build
    }
    build.start(BeanCreation(environment: environment, recipe: recipe))
    // The end may have begun before it could find the creation.
    if environment.core.lifecycle.isEnding { build.end(throwing: environment.finishedError()) }
    return build
  }

  private func start(_ creation: BeanCreation) {
    let (environment, slot) = (creation.environment, creation.recipe.value.slot)
    let watch = environment.homeResources?.creations
    watch?.began(self)
    let task = Task {
      let outcome = await Self.$current.withValue(self) { await creation.run() }
      watch?.ended(self)
      _ = environment.extras.builds.withLock { $0.removeValue(forKey: slot) }
      environment.used()
      environment.leave()
      hasEnded.store(true, ordering: .relaxed)
      settle(outcome)
    }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  private func cancel() {
    state.withLock { state in
      state.isCancelled = true
      return state.task
    }?.cancel()
  }

  /// Cancels the creation because its environment ends. Waiting tasks continue at once, even if the factory has not
  /// returned.
  ///
  /// - Parameter error: the error thrown to these tasks.
  func end(throwing error: any Error) {
    cancel()
    settle(.failure(error))
  }

  /// Decides the outcome for waiting tasks, unless it has been decided.
  private func settle(_ outcome: Result<Void, any Error>) {
    let waiters = state.withLock { state in
      state.outcome = state.outcome ?? outcome
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.continuation.resume(with: outcome) }
  }

  /// Whether the creation has been cancelled, which may be the cause of its failure.
  private var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Returns once the bean exists. The last waiting task that is cancelled cancels the creation.
  ///
  /// - Parameters:
  ///   - call: the waiting call.
  ///   - between: the creations on the path from the call to this one, each waiting for the next.
  /// - Throws: the error of the creation, or of the end of its environment; `CancellationError`; `.cyclicDependency`
  ///   where the creation waits for the one that the calling task belongs to.
  private func wait(_ call: AwaitingCall, between: () -> [EnvironmentError.Step]) async throws {
    let taker = Self.current
    let ownWait = taker.map { wait(of: $0) }
    if let ownWait { try WaitForGraph.begin(ownWait, through: between) }
    defer { if let ownWait { WaitForGraph.end(ownWait) } }
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          if let outcome = state.outcome { return outcome }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[number] = Waiter(continuation: continuation, taker: taker, call: call)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let (waiter, isLast) = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: number)
        return (waiter, waiter != nil && state.waiters.isEmpty)
      }
      if isLast { cancel() }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Throws `.cyclicDependency` where a wait for this creation would never end, because the calling task belongs to it
  /// or to one that it waits for.
  ///
  /// - Parameter between: the beans on the path from the call to the bean of this creation.
  func checkWait(between: () -> [EnvironmentError.Step]) throws {
    if let taker = Self.current { try WaitForGraph.check(wait(of: taker), through: between) }
  }

  /// Returns the wait of another creation for this one, which has not begun.
  private func wait(of taker: AsyncBuild) -> WaitForGraph.Wait {
    WaitForGraph.Wait(
      of: .creation(ObjectIdentifier(taker)), for: .creation(ObjectIdentifier(self)), origin: bean.location.origin
    ) { [taker.bean.step] + $0 + [self.bean.step] }
  }

  /// Whether a creation is in flight in an environment or below.
  static func isInFlight(in environment: Environment) -> Bool {
    environment.existingExtras?.builds.withLock { $0.isEmpty } == false
      || environment.liveChildren.contains(where: isInFlight)
  }

  /// Whether the running task creates a bean of the environment or of one below it, so that a wait for the environment
  /// would never end.
  static func isInside(_ environment: Environment) -> Bool {
    guard let current, !current.hasEnded.load(ordering: .relaxed), let own = current.environment else { return false }
    return own.isWithin(environment)
  }

  // MARK: reports

  /// The number of calls that wait for the creation now.
  var waitingCalls: Int { state.withLock { $0.waiters.count } }

  func report(after time: Duration) -> String? {
    let waiters = state.withLock { $0.waiters.inOrder(of: \.key).map(\.value) }
    if waiters.isEmpty { return nil }
    let calls = waiters.map { waiter in
      let taker = waiter.taker.map { " in the creation of \($0.bean.label)" } ?? ""
      return "\(waiter.call.name) (\(waiter.call.location.origin))\(taker)"
    }
    return
      "the creation of \(bean.label) in '\(place)' (\(bean.location.origin)) has taken \(time.rounded); waiting for it: "
      + EndState.list(calls, separator: ", ")
  }
}
