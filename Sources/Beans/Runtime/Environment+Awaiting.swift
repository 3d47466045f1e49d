import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Synchronization

extension Environment {
  /// Validates all declarations and builds every bean that is not lazy, awaiting the asynchronous creations.
  ///
  /// Makes the parent ready first, except inside an asynchronous factory of the parent. Beans that do not need each
  /// other are created side by side, each after its dependencies. In a child of a factory, this creates the child's own
  /// asynchronous beans that are not lazy; synchronous beans are built at their first lookup. Several tasks may call
  /// this method. A cancelled task does not affect a creation for which other tasks wait.
  ///
  /// The first failure cancels the other creations and is thrown at once. If no creation is in flight by then, the
  /// beans that were built have already been released, in reverse order. Otherwise their release follows when the
  /// creations have ended; `shutdown()` waits for it. A child of a factory stays open, and the next call tries again.
  ///
  /// - Parameters:
  ///   - options: checks that run before anything is built.
  ///   - file: the file of the call, which errors name.
  ///   - line: the line of the call.
  /// - Throws: the errors of `startup(options:)`. After a bean has failed, every later call throws the same error.
  ///   `CancellationError` changes nothing: the next call continues.
  @discardableResult
  public func ready(
    options: StartupOptions = [], file: StaticString = #fileID, line: UInt = #line
  ) async throws -> Self {
    let location = SourceLocation(file: file, line: line)
    do { try await makeReady(options: options, AwaitingCaller(name: "ready()", location: location)) } catch {
      throw location.met(error)
    }
    return self
  }

  /// Makes everything ready like `ready(options:)`; its errors name no call.
  ///
  /// - Throws: the errors of `ready(options:)`.
  package func makeReady(
    options: StartupOptions = [], file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    let location = SourceLocation(file: file, line: line)
    try await makeReady(options: options, AwaitingCaller(name: "ready()", location: location))
  }

  private func makeReady(options: StartupOptions = [], _ caller: AwaitingCaller) async throws {
    require(options)
    // A factory of the parent would wait for itself.
    if let parent, !core.lifecycle.isEnding, !AsyncBuild.isInside(parent) { try await parent.makeReady(caller) }
    if core.lifecycle.isEnding { throw finishedError() }
    try startIfNeeded()
    if options.contains(.requireSendable) { try checkSharing() }
    guard let resources = existingExtras?.resources else {
      return try await create(needs { $0.value.work.contains(.await) }, caller)
    }
    if resources.unready.isEmpty { return }
    do { try await buildUnready(caller) } catch {
      if error is CancellationError { throw error }
      // The end of the runs ends the environment in order.
      if core.lifecycle.isEnding || RunningBeans(of: self).areEnding { throw finishedError() }
      // Every later call throws this error.
      resources.end(error)
      fail(error)
      if !isCreating, !AsyncBuild.isInside(self) {
        await withCheckedContinuation { continuation in whenReleased { continuation.resume() } }
      }
      throw error
    }
    resources.isReady()
    resources.record?.end()
    RunningBeans(of: self).watchIdle()
  }

  /// Whether a creation is in flight, here or below.
  private var isCreating: Bool {
    existingExtras?.builds.withLock { $0.running.isEmpty } == false || liveChildren.contains(where: \.isCreating)
  }

  /// Builds the beans that startup has omitted.
  private func buildUnready(_ caller: AwaitingCaller) async throws {
    let record = existingExtras?.resources?.record
    try await create(needs { _ in true }, caller) { environment, recipe in
      if environment !== self || recipe.value.isLazy || core.slots[recipe.value.slot].content.isFilled { return }
      do { try using { try buildEagerly(recipe, record) } } catch let error as EnvironmentError {
        // A factory looks an asynchronous bean up, which the last pass creates.
        if error.missing == nil { throw error }
      }
    }
    for recipe in eager where !core.slots[recipe.value.slot].content.isFilled {
      try await awaiting(caller) { try using { try buildEagerly(recipe, record) } }
    }
  }

  /// Recipes of this environment's own beans that are not lazy, dependencies first.
  private var eager: [FrozenReference<Recipe>] {
    core.compiledPlan.with { plan in plan.order.sorted.map { plan.recipe($0) } }
      .filter { $0.value.kind == .slot && !$0.value.isLazy }
  }

  /// Returns the creations that have to precede own beans that are not lazy.
  private func needs(of isIncluded: (FrozenReference<Recipe>) -> Bool) -> AwaitedBeans {
    AwaitedBeans { beans in for recipe in eager where isIncluded(recipe) { noteAwaited(eager: recipe, in: &beans) } }
  }

  /// Returns the bean of a type, or of a type and id, and creates it first if it does not exist.
  ///
  /// `getBean` for beans that are created asynchronously, and for beans that depend on them. Each bean is created once,
  /// regardless of the number of tasks that wait. A cancelled task stops waiting; the creation is cancelled when no
  /// task waits for it.
  ///
  /// - Parameters:
  ///   - type: a type that `getBean` accepts.
  ///   - id: the bean's id; without one, the bean is found by its type.
  ///   - file: the file of the lookup, which errors name.
  ///   - line: the line of the lookup.
  /// - Throws: the errors of `getBean`; `CancellationError`; `.cyclicDependency` where a factory awaits a bean that
  ///   needs the factory's own bean.
  public func readyBean<T>(
    _ type: T.Type, byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    let location = SourceLocation(file: file, line: line)
    let caller = AwaitingCaller(name: "readyBean", location: location)
    do {
      try await create(needs(of: Parameter.of(type), id: id), caller)
      return try await awaiting(caller) { try find(type, id) }
    } catch { throw location.met(error) }
  }

  /// Returns the bean of a type that has a tag, and creates it first if it does not exist.
  ///
  /// - Parameters:
  ///   - type: a type that `getBean` accepts.
  ///   - qualifier: the tag of the bean's declaration.
  ///   - file: the file of the lookup, which errors name.
  ///   - line: the line of the lookup.
  /// - Throws: the errors of `readyBean(_:byId:)`.
  public func readyBean<Tag, T>(
    _ type: T.Type, qualifier: Tag.Type, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    try await readyBean(Qualified<Tag, T>.self, file: file, line: line).value
  }

  /// Returns the bean of the type that the context of the call determines, and creates it first if it does not exist.
  ///
  /// - Parameters:
  ///   - id: the bean's id; without one, the bean is found by its type.
  ///   - file: the file of the lookup, which errors name.
  ///   - line: the line of the lookup.
  /// - Throws: the errors of `readyBean(_:byId:)`.
  public func readyBean<T>(
    byId id: String? = nil, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    try await readyBean(T.self, byId: id, file: file, line: line)
  }

  /// Returns the creations that have to precede a lookup.
  private func needs(of parameter: Parameter, id: String?) throws -> AwaitedBeans {
    try using {
      guard core.compiledPlan.with({ $0.awaits }) else { return AwaitedBeans { _ in } }
      return try AwaitedBeans { try noteAwaited(by: parameter, id: id, in: &$0) }
    }
  }

  /// Runs `body`, and again after each creation of a bean that was missing because a factory looks it up.
  func awaiting<R>(_ caller: AwaitingCaller, _ body: () throws -> R) async throws -> R {
    var created: [Slot] = []
    while true { do { return try body() } catch { try await createMissing(error, caller, &created) } }
  }

  /// Creates the bean whose absence an error states; throws any other error.
  ///
  /// - Parameter created: the slots of the beans that were created before.
  private func createMissing(_ error: any Error, _ caller: AwaitingCaller, _ created: inout [Slot]) async throws {
    guard let missing = (error as? EnvironmentError)?.missing as? MissingBean, let environment = missing.environment
    else { throw error }
    let slot = environment.core.slots[missing.slot]
    // A second error about the same bean is a stored one: another creation would not help.
    if created.contains(slot) { throw error }
    let needs = AwaitedBeans { environment.noteAwaited(environment.recipe(missing.slot), in: &$0) }
    try await create(needs, caller)
    created.append(slot)
  }

  /// Creates the needed beans, each as soon as its own needs exist. Throws the first failure at once.
  ///
  /// - Parameter build: called with each needed bean that is not asynchronous, as soon as its own needs exist.
  private func create(
    _ needs: AwaitedBeans, _ caller: AwaitingCaller,
    build: (Environment, FrozenReference<Recipe>) throws -> Void = { _, _ in }
  ) async throws {
    if needs.isEmpty { return }
    var left = needs
    try await withThrowingTaskGroup(of: Int.self) { group in
      func start(_ free: AwaitedBeans.Free) throws {
        for number in free.created {
          group.addTask {
            let (environment, recipe) = needs.bean(number)
            do { try await environment.create(recipe.value.slot, caller) { needs.steps(to: number) } } catch {
              throw needs.failure(error, of: number)
            }
            return number
          }
        }
        for number in free.built {
          let (environment, recipe) = needs.bean(number)
          if recipe.value.kind == .slot { try build(environment, recipe) }
        }
      }
      try start(left.begin())
      while let number = try await group.next() { try start(left.settle(number)) }
    }
  }

  // MARK: one creation

  /// Creates the bean of a slot, or waits for the creation that is in flight.
  private func create(
    _ slot: Int32, _ caller: AwaitingCaller, between: () -> [EnvironmentError.Step]
  ) async throws {
    while let build = try join(slot) {
      do { return try await build.wait(caller, between: between) } catch {
        guard build.isCancelled, !Task.isCancelled else { throw error }
        if core.lifecycle.isEnding { throw finishedError() }
        // The calls that were waiting for this creation have been cancelled.
      }
    }
  }

  /// Returns the creation in flight, or a new one; nil where the bean exists.
  private func join(_ slot: Int32) throws -> AsyncBuild? {
    // Prevents the release of the environment until the creation has ended.
    try enter()
    let (extras, recipe) = (extras, recipe(slot))
    let (build, isFirst) = extras.builds.withLock { builds -> (AsyncBuild?, Bool) in
      if let build = builds.running[slot] { return (build, false) }
      // A creation fills the slot before it leaves the list.
      if core.slots[slot].content.isFilled { return (nil, false) }
      let build = AsyncBuild(self, recipe.value.definition)
      builds.running[slot] = build
      return (build, true)
    }
    guard let build, isFirst else {
      leave()
      return build
    }
    let watch = homeResources?.creations
    watch?.began(build)
    build.start {
      try await self.create(recipe)
    } end: {
      watch?.ended(build)
      _ = extras.builds.withLock { $0.running.removeValue(forKey: slot) }
      self.used()
      self.leave()
    }
    // The end may have begun before it could find the creation.
    if core.lifecycle.isEnding { build.end(throwing: finishedError()) }
    return build
  }

  private func create(_ recipe: FrozenReference<Recipe>) async throws {
    let log = recipe.value.work.contains(.trace) ? log : nil
    let record = existingExtras?.resources.flatMap { $0.unready.isEmpty ? nil : $0.record }
    let began = record == nil && observers.isEmpty ? nil : ContinuousClock.now
    do {
      try await RunningBeans(of: self).awaitReady(neededBy: recipe)
      let object = try await made(recipe)
      try put(object, in: recipe.value.slot)
      if let began { record?.add([recipe.time(.now - began)]) }
      log?.created(recipe.value.label, in: name)
      observeCreation(of: recipe, since: began)
    } catch {
      log?.failed(recipe.value.label, in: name, error)
      let failure = failure(error, of: recipe)
      observeCreation(of: recipe, since: began, failure)
      throw failure
    }
  }

  /// Returns the finished object, retained once.
  private func made(_ recipe: FrozenReference<Recipe>) async throws -> ObjectReference {
    let caller = AwaitingCaller(name: "a factory", location: recipe.value.definition.location)
    let begun = try await awaiting(caller) { try begin(recipe) }
    let object = if let creation = begun as? AsyncCreation { try await creation.run() } else { begun }
    let (finished, isComplete) = try ResolutionContext.with(Unretained(self), recipe) { context in
      context.value.current = recipe
      return try complete(ObjectReference(object), recipe)
    }
    do {
      if !isComplete {
        if let bean = Box.open(finished.object) as? any AsyncBean { try await bean.postConstruct() }
        recipe.value.code.with {
          if !$0.options.works.isEmpty { BeanWork.start($0.options.works, finished, recipe, in: self) }
        }
      }
    } catch {
      giveUp(finished.beanIdentity)
      finished.release()
      throw error
    }
    return finished
  }

  /// Moves a created object into its slot through an ordinary build.
  private func put(_ object: ObjectReference, in slot: Int32) throws {
    let extras = extras
    extras.builds.withLock { $0.made[slot] = object }
    var isTaken = false
    while true {
      do { return try bean(slot).release() } catch {
        // Another thread looked for the object before it was stored, and this thread has waited for that failed build.
        let isTooEarly = (error as? EnvironmentError)?.missing != nil && !isTaken
        isTaken = extras.builds.withLock { $0.made[slot] == nil }
        // A build that took the object is about to fill the slot.
        if isTooEarly { continue }
        if let made = extras.builds.withLock({ $0.made.removeValue(forKey: slot) }) {
          for work in takeWork(of: slot) { _ = work.close() }
          giveUp(made.beanIdentity)
          made.release()
        }
        throw error
      }
    }
  }

  /// Returns the object of a bean that is created asynchronously, retained once, for the build that fills its slot.
  ///
  /// - Throws: `.notReady` where the bean has not been created; `.cyclicDependency` where its creation waits for the
  ///   caller.
  func takeAwaited(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    let slot = recipe.value.slot
    let found = existingExtras?.builds.withLock { ($0.made.removeValue(forKey: slot), $0.running[slot]) }
    if let made = found?.0 { return made }
    // The last step is the bean itself.
    if let circle = found?.1?.circleOfLookup(between: { ResolutionContext.steps.dropLast() }) { throw circle }
    var error = recipe.value.fault(
      .notReady,
      "\(recipe.value.label) is created asynchronously and is not there yet: call 'try await ready()' or "
        + "'try await readyBean(…)'")
    error.missing = MissingBean(environment: self, slot: slot)
    throw error
  }
}
