import BeansErrors
@_spi(BeansPackage) import BeansSupport
import Synchronization

extension Environment {
  /// Validates all declarations and builds every bean that is not lazy, awaiting those whose creation has to be awaited.
  ///
  /// Makes the parent ready first, except inside an asynchronous factory of the parent. Beans that do not need each other are
  /// created side by side, each after what it takes. In a child of a factory, this creates the child's own asynchronous beans
  /// that are not lazy; plain ones are built when they are asked for. Several tasks may call it; one that is cancelled leaves
  /// what others wait for alone.
  ///
  /// The first failure cancels the other creations and is thrown at once. Where none of them is under way any more, what was
  /// built has been released by then, in reverse order. Otherwise that follows when they have ended; `shutdown()` waits for it.
  /// A child of a factory stays open, and the next call tries again.
  ///
  /// - Parameters:
  ///   - options: what to check before anything is built.
  ///   - file: where it is called, as errors say it.
  ///   - line: where in the file.
  /// - Throws: as `startup(options:)`: after a bean that failed, every later call throws the same error. `CancellationError`
  ///   changes nothing: the next call goes on.
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

  /// Makes everything ready as `ready(options:)` does; its errors name no call.
  ///
  /// - Throws: as `ready(options:)`.
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
      guard !core.lifecycle.isEnding else { throw finishedError() }
      // From now on every call throws it.
      resources.end(error)
      extras.isAsynchronous.store(true, ordering: .relaxed)
      fail(error)
      if !isCreating, !AsyncBuild.isInside(self) {
        await withCheckedContinuation { continuation in whenReleased { continuation.resume() } }
      }
      throw error
    }
    resources.isReady()
    resources.record?.end()
  }

  /// Whether a creation is under way, here or below.
  private var isCreating: Bool {
    existingExtras?.builds.withLock { $0.running.isEmpty } == false || liveChildren.contains(where: \.isCreating)
  }

  /// Builds what startup has left out.
  private func buildUnready(_ caller: AwaitingCaller) async throws {
    try await create(needs { _ in true }, caller)
    let record = existingExtras?.resources?.record
    for recipe in eager where !core.slots[recipe.value.slot].content.isFilled {
      try await awaiting(caller) { try using { try buildEagerly(recipe, record) } }
    }
  }

  /// Recipes of own beans that are not lazy, dependencies first.
  private var eager: [FrozenReference<Recipe>] {
    core.compiledPlan.with { plan in plan.sorted.map { plan.recipe($0) } }
      .filter { $0.value.kind == .slot && !$0.value.isLazy }
  }

  /// Returns the creations that have to come before own beans that are not lazy.
  private func needs(of isIncluded: (FrozenReference<Recipe>) -> Bool) -> AwaitedBeans {
    AwaitedBeans { body in for recipe in eager where isIncluded(recipe) { noteAwaited(recipe, body) } }
  }

  /// The bean of that type, or of that type and id, created first if it is not there.
  ///
  /// `getBean` for beans whose creation has to be awaited, and for those that take such beans. Each is created once, however
  /// many tasks ask. A task that is cancelled stops to wait; the creation is cancelled when nobody waits for it.
  ///
  /// - Parameters:
  ///   - type: what `getBean` takes.
  ///   - id: the bean's id; without one, it is found by its type.
  ///   - file: where it is looked up, as errors say it.
  ///   - line: where in the file.
  /// - Throws: as `getBean`; `CancellationError`; `.cyclicDependency` where a factory awaits what needs its own bean.
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

  /// The bean of that type which has that tag, created first if it is not there.
  ///
  /// - Parameters:
  ///   - type: what `getBean` takes.
  ///   - qualifier: the tag, given to the bean's declaration.
  ///   - file: where it is looked up, as errors say it.
  ///   - line: where in the file.
  /// - Throws: as `readyBean(_:byId:)`.
  public func readyBean<Tag, T>(
    _ type: T.Type, qualifier: Tag.Type, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> T {
    try await readyBean(Qualified<Tag, T>.self, file: file, line: line).value
  }

  /// Returns the creations that have to come before a lookup.
  private func needs(of parameter: Parameter, id: String?) throws -> AwaitedBeans {
    try using {
      guard core.compiledPlan.with({ $0.awaits }) else { return AwaitedBeans { _ in } }
      return try AwaitedBeans { try forEachAwaited(by: parameter, id: id, $0) }
    }
  }

  /// Runs `body` again whenever a bean that it lacked has been created: one that a factory looks up.
  private func awaiting<R>(_ caller: AwaitingCaller, _ body: () throws -> R) async throws -> R {
    var created: [Slot] = []
    while true {
      do { return try body() } catch let error as EnvironmentError {
        guard let missing = error.missing as? MissingBean, let environment = missing.environment else { throw error }
        let slot = environment.core.slots[missing.slot]
        // A bean that was there before is no reason: the error has been kept.
        if created.contains(slot) { throw error }
        let needs = AwaitedBeans { environment.noteAwaited(environment.recipe(missing.slot), $0) }
        try await create(needs, caller)
        created.append(slot)
      }
    }
  }

  /// Creates what has to come first, each bean as soon as its needs are there. The first failure is thrown at once.
  private func create(_ needs: AwaitedBeans, _ caller: AwaitingCaller) async throws {
    if needs.isEmpty { return }
    var left = needs
    try await withThrowingTaskGroup(of: Int.self) { group in
      func start(_ numbers: [Int]) {
        for number in numbers {
          group.addTask {
            let (environment, recipe) = needs.bean(number)
            do { try await environment.create(recipe.value.slot, caller) { needs.steps(to: number) } } catch {
              throw needs.failure(error, of: number)
            }
            return number
          }
        }
      }
      start(left.begin())
      while let number = try await group.next() { start(left.settle(number)) }
    }
  }

  // MARK: one creation

  /// Creates the bean of a slot, or waits for the creation that is under way.
  private func create(
    _ slot: Int32, _ caller: AwaitingCaller, between: () -> [EnvironmentError.Step]
  ) async throws {
    while let build = try join(slot) {
      do { return try await build.wait(caller, between: between) } catch {
        guard build.isCancelled, !Task.isCancelled else { throw error }
        if core.lifecycle.isEnding { throw finishedError() }
        // The calls that had waited for it before were cancelled.
      }
    }
  }

  /// The creation under way, or a new one; nil where the bean is there.
  private func join(_ slot: Int32) throws -> AsyncBuild? {
    // Keeps the environment from being released until the creation has ended.
    try enter()
    let (extras, recipe) = (extras, recipe(slot))
    let (build, isFirst) = extras.builds.withLock { builds -> (AsyncBuild?, Bool) in
      if let build = builds.running[slot] { return (build, false) }
      // A creation fills the slot before it leaves the list.
      if core.slots[slot].content.isFilled { return (nil, false) }
      let build = AsyncBuild(self, recipe.value.entry)
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
    let began = record.map { _ in ContinuousClock.now }
    do {
      let object = try await made(recipe)
      try put(object, in: recipe.value.slot)
      if let began { record?.add([recipe.time(.now - began)]) }
      log?.created(recipe.value.entry.label, in: name)
    } catch {
      log?.failed(recipe.value.entry.label, in: name, error)
      throw failure(error, of: recipe)
    }
  }

  /// The finished object, with one count.
  private func made(_ recipe: FrozenReference<Recipe>) async throws -> ObjectReference {
    if core.kind.contains(.scoped) {
      throw recipe.value.entry.fault(
        .awaitedInScope, "the scope object of '\(name)' keeps the beans, and cannot wait for any")
    }
    let caller = AwaitingCaller(name: "a factory", location: recipe.value.entry.location)
    let begun = Carried(value: try await awaiting(caller) { Carried(value: try begin(recipe)) }.value)
    let object =
      if let creation = begun.value as? AsyncCreation { Carried(value: try await creation.run()) } else { begun }
    let (finished, isComplete) = try ResolutionContext.with(Unretained(self), recipe) { context in
      context.value.current.store(recipe.address, ordering: .relaxed)
      return try complete(ObjectReference(object.value), recipe)
    }
    do {
      if !isComplete, let bean = Box.open(finished.object) as? any AsyncBean { try await bean.postConstruct() }
    } catch {
      giveUp(finished.beanIdentity)
      finished.release()
      throw error
    }
    return finished
  }

  /// Puts what has been made into its slot, as every build does.
  private func put(_ object: ObjectReference, in slot: Int32) throws {
    let extras = extras
    extras.builds.withLock { $0.made[slot] = object }
    var isTaken = false
    while true {
      do { return try bean(slot).release() } catch {
        // Another thread began to look for it before it was there, and this one has waited for that build.
        let isTooEarly = (error as? EnvironmentError)?.missing != nil && !isTaken
        isTaken = extras.builds.withLock { $0.made[slot] == nil }
        // One that took it is about to fill the slot.
        if isTooEarly { continue }
        if let made = extras.builds.withLock({ $0.made.removeValue(forKey: slot) }) {
          giveUp(made.beanIdentity)
          made.release()
        }
        throw error
      }
    }
  }

  /// What a build finds of a bean that has to be awaited, with one count.
  func takeAwaited(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    let slot = recipe.value.slot
    let found = existingExtras?.builds.withLock { ($0.made.removeValue(forKey: slot), $0.running[slot]) }
    if let made = found?.0 { return made }
    // The last step is the bean itself.
    if let circle = found?.1?.circleOfLookup(between: { ResolutionContext.steps.dropLast() }) { throw circle }
    var error = recipe.value.entry.fault(
      .notReady,
      "\(recipe.value.entry.label) is created asynchronously and is not there yet: call 'try await ready()' or "
        + "'try await readyBean(…)'")
    error.missing = MissingBean(environment: self, slot: slot)
    throw error
  }
}
