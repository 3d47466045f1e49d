@_spi(BeansPackage) import BeansErrors

/// A call that waits for asynchronous creations.
struct AwaitingCall: Sendable {
  let name: StaticString
  let location: SourceLocation

  /// - Parameters:
  ///   - name: the name of the call, for reports.
  ///   - location: the place of the call, for reports.
  init(_ name: StaticString, at location: SourceLocation) { (self.name, self.location) = (name, location) }

  /// Returns the bean of a type, or of a type and id, and creates it first if it does not exist.
  func bean<T>(_ type: T.Type, _ id: String?, in environment: Environment) async throws -> T {
    try await create(environment.using { try AwaitedBeans(of: type, id, in: environment) })
    return try await repeating { try environment.find(type, id) }
  }

  // MARK: everything that is not lazy

  /// Makes the parent ready, then starts an environment and builds every bean that is not lazy.
  func makeReady(_ environment: Environment, _ options: Set<StartupOption> = []) async throws {
    // A factory of the parent would wait for itself.
    if let parent = environment.parent, !environment.core.lifecycle.isEnding, !AsyncBuild.isInside(parent) {
      try await makeReady(parent)
    }
    if environment.core.lifecycle.isEnding { throw environment.finishedError() }
    try environment.startIfNeeded(options: options)
    guard let resources = environment.resources else {
      let created = environment.eagerRecipes.filter { $0.value.work.contains(.await) }
      return try await create(AwaitedBeans(eager: created, in: environment))
    }
    if resources.unready.isEmpty { return }
    do { try await buildUnready(in: environment, resources.record) } catch {
      if error is CancellationError { throw error }
      // The end of the runs ends the environment in order.
      if environment.core.lifecycle.isEnding || RunningBeans(of: environment).areEnding {
        throw environment.finishedError()
      }
      // Every later call throws this error.
      resources.end(error)
      environment.fail(error)
      if !AsyncBuild.isInFlight(in: environment), !AsyncBuild.isInside(environment) {
        await withCheckedContinuation { continuation in environment.whenFinished { continuation.resume() } }
      }
      throw error
    }
    resources.isReady()
    resources.record?.end()
    RunningBeans(of: environment).watchIdle()
  }

  /// Builds the beans that startup has omitted.
  private func buildUnready(in environment: Environment, _ record: StartupRecord?) async throws {
    let slots = environment.core.slots
    let eager = environment.eagerRecipes
    try await create(AwaitedBeans(eager: eager, in: environment)) { owner, recipe in
      if owner !== environment || recipe.value.isLazy || slots[recipe.value.slot].content.isFilled { return }
      // The last pass creates an asynchronous bean that a factory looks up.
      _ = try environment.using { try environment.buildIfReady(recipe, record) }
    }
    for recipe in eager where !slots[recipe.value.slot].content.isFilled {
      try await repeating { try environment.using { try environment.build(recipe, record) } }
    }
  }

  // MARK: creations

  /// Runs `body`, and again after each creation of a bean that was missing because a factory looks it up.
  func repeating<R>(_ body: () throws -> R) async throws -> R {
    var created: [Slot] = []
    while true {
      do { return try body() } catch { try await create(Self.missing(in: error, &created)) }
    }
  }

  /// Returns the missing bean of an error, and what has to precede it. Throws an error of another kind, and a second one
  /// about the same bean: that is a stored error, and another creation would not help. Out of line: its locals need no
  /// memory of the task while that waits.
  @inline(never)
  private static func missing(in error: any Error, _ created: inout [Slot]) throws -> AwaitedBeans {
    guard let missing = (error as? EnvironmentError)?.missingBean, let owner = missing.environment else { throw error }
    let slot = owner.core.slots[missing.slot]
    if created.contains(slot) { throw error }
    created.append(slot)
    return AwaitedBeans(owner.recipe(missing.slot), in: owner)
  }

  /// Creates the needed beans, each as soon as its own needs exist. Throws the first failure at once.
  ///
  /// - Parameter build: called with each needed bean of a slot that is not asynchronous, as soon as its own needs
  ///   exist.
  private func create(
    _ needs: AwaitedBeans, build: (Environment, FrozenReference<Recipe>) throws -> Void = { _, _ in }
  ) async throws {
    if needs.isEmpty { return }
    var left = needs
    try await withThrowingTaskGroup(of: Int.self) { group in
      while true {
        let free = left.takeFree()
        for number in free where needs[number].isCreated {
          group.addTask {
            let (owner, recipe) = (needs[number].environment, needs[number].recipe)
            do { try await AsyncBuild.create(recipe, in: owner, for: self) { needs.steps(to: number) } } catch {
              throw needs.failure(error, of: number)
            }
            return number
          }
        }
        for number in free where !needs[number].isCreated && needs[number].recipe.value.kind == .slot {
          try build(needs[number].environment, needs[number].recipe)
        }
        guard let created = try await group.next() else { return }
        left.settle([created])
      }
    }
  }
}
