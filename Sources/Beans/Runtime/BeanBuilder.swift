import Synchronization
import BeansErrors
import CBeansRuntime

/// The only code that builds beans.
///
/// A lookup of a missing bean builds the beans that it needs, dependencies first. A claim is the beginning of a factory:
/// one locked section between two factories stores the last bean, logs it, and claims the next missing one. Factories run
/// without a lock, so threads wait only for running factories.
///
/// Each bean is retained for all its takers as soon as it exists; a step whose bean was built by another thread retains
/// that bean for the same takers and releases the arguments that it would have taken.
extension Environment {
  /// Returns the bean of a slot, retained for the caller. The caller keeps the environment from being released.
  @inline(__always)
  func bean(_ slot: Int32) throws -> ObjectReference {
    if let bean = core.slots[slot].retainedBean { bean } else { try build(slot, isInside: true) }
  }

  @inline(__always)
  func recipe(_ slot: Int32) -> FrozenReference<Recipe> {
    // An environment with slots has a plan.
    core.compiledPlan.with { $0.recipe(slot) }
  }

  /// Builds the bean of a slot.
  ///
  /// - Parameters:
  ///   - slot: the bean's slot.
  ///   - isInside: whether the caller keeps the environment from being released. Other callers get `.finished` once
  ///     lookups have ended.
  /// - Returns: the bean, retained for the caller.
  @inline(never)
  func build(_ slot: Int32, isInside: Bool) throws -> ObjectReference {
    let recipe = recipe(slot)
    return try building(recipe, isInside: isInside) { environment, context in
      let last = try environment.fill(recipe, context, isInside: isInside)
      let (object, isLast) = environment.core.lock.withLock {
        environment.store(last)
        return (environment.core.slots[slot].content.object, environment.core.change { $0.leave() })
      }
      environment.wake(last)
      if isLast { environment.release() }
      return object
    }
  }

  /// Returns a new instance that no slot keeps, with one reference, and whether it is another face of a bean. The caller
  /// keeps the environment from being released.
  @inline(never)
  func buildUntracked(_ recipe: FrozenReference<Recipe>) throws -> (object: ObjectReference, isFace: Bool) {
    if ResolutionContext.isBuilding(recipe, in: self) { throw circle(closing: recipe) }
    return try untracked(recipe) { environment, context in
      let object = try environment.make(recipe)
      if context.value.outer != nil { environment.noteForTaker(object, recipe, context) }
      return (object, context.value.isFace)
    }
  }

  /// Calls the factory of an asynchronous bean. The caller keeps the environment from being released.
  func begin(_ recipe: FrozenReference<Recipe>) throws -> AnyObject {
    if ResolutionContext.isBuilding(recipe, in: self) { throw circle(closing: recipe) }
    return try untracked(recipe) { environment, _ in
      if recipe.value.work.contains(.trace) {
        environment.log.creating(recipe.value.definition.label, in: environment.name)
      }
      return try environment.callFactory(of: recipe).take(as: AnyObject.self)
    }
  }

  /// Stores a bean that was created asynchronously. A build that has looked for the bean too early, and has claimed the
  /// slot, fails and leaves the bean in it.
  func store(created object: ObjectReference, in slot: Int32) { core.lock.withLock { store((slot, object)) } }

  /// Runs `make` once all dependencies of the recipe exist. The caller keeps the environment from being released.
  func untracked<R>(
    _ recipe: FrozenReference<Recipe>, _ make: (Environment, StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    try building(recipe, isInside: true) { environment, context in
      // The only step of an asynchronous bean is the bean itself.
      if recipe.value.steps.isEmpty || recipe.value.work.contains(.await) {
        context.value.current = recipe
        do { return try make(environment, context) } catch { throw environment.failure(error, of: recipe) }
      }
      let last = try environment.fill(recipe, context, isInside: true)
      environment.core.lock.withLock { environment.store(last) }
      environment.wake(last)
      context.value.current = recipe
      let made: R
      do { made = try make(environment, context) } catch { throw environment.giveUp(context, recipe, error) }
      environment.leave()
      return made
    }
  }

  /// Runs `body` in a context of its own, once everything exists that the recipe's steps need beforehand.
  @inline(__always)
  private func building<R>(
    _ recipe: FrozenReference<Recipe>, isInside: Bool,
    _ body: (Environment, StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    if beans_stack_is_low() { throw tooDeep(recipe) }
    // A closure that captures the environment itself retains it: four atomic operations in each request.
    let own = Unretained(self)
    return try ResolutionContext.with(own, recipe) { context in
      try own.with { environment in
        if !environment.isComplete(recipe) { try environment.ensure(recipe, context, isInside: isInside) }
        return try body(environment, context)
      }
    }
  }

  // MARK: under the lock

  /// A bean that a step has made, and that is not stored yet.
  private typealias Made = (slot: Int32, object: ObjectReference)

  /// Adds the build as a user, and claims the first step as `claim` does; returns nil once lookups have ended.
  @inline(__always)
  private func enter(_ first: Int32, _ mark: Slot.Content, isInside: Bool) -> Slot.Content? {
    guard isInside || core.lifecycle.isOpen else { return nil }
    core.change { $0.enter() }
    return claim(first, mark)
  }

  /// Stores a bean, and logs it: beans that depend on it are later in the log.
  @inline(__always)
  private func store(_ made: Made?) {
    guard let made else { return }
    core.slots[made.slot].store(.filled(made.object))
    creationLog.append(made.slot)
  }

  /// Claims a slot if it is empty, and returns what it held before: nothing, a bean, or the claim of another build.
  @inline(__always)
  private func claim(_ slot: Int32, _ mark: Slot.Content) -> Slot.Content {
    let content = core.slots[slot].content
    if content.isEmpty { core.slots[slot].store(mark) }
    return content
  }

  // MARK: building

  /// Enters, and builds the missing beans of the recipe's steps, each retained for its takers. Returns the last one,
  /// which the caller stores; nil if another build has made it.
  @inline(__always)
  private func fill(
    _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>, isInside: Bool
  ) throws -> Made? {
    let (steps, mark) = (recipe.value.steps, Slot.Content.claimed(by: context))
    let first = core.lock.withLock { enter(steps.first.value.slot, mark, isInside: isInside) }
    guard let first else { throw finishedError() }
    let recipes = self.recipe(0)
    var (next, found) = (steps.first, first)
    do {
      while true {
        let step = next.value
        let recipe = recipes.advanced(by: Int(step.slot))
        context.value.current = recipe
        var made: Made?
        // The bean may exist, or another build may be making it.
        if try found.isEmpty || awaitClaim(step, recipe, found, mark, context) {
          let object = try make(recipe)
          if step.takers > 0 { object.retain(step.takers) }
          made = (step.slot, object)
        }
        next = next.advanced(by: 1)
        if next == steps.end { return made }
        found = core.lock.withLock {
          store(made)
          return claim(next.value.slot, mark)
        }
        wake(made)
      }
    } catch { throw giveUp(context, recipe, error) }
  }

  /// Wakes the threads that wait for a bean.
  @inline(__always)
  private func wake(_ made: Made?) {
    if let made, core.isAwaited.load(ordering: .relaxed) { WaitForGraph.end(key(made.slot), nil) }
  }

  /// The key of the build that fills a slot of this environment.
  private func key(_ slot: Int32) -> WaitForGraph.Key { WaitForGraph.Key(self, part: slot) }

  /// Waits until the bean of a step exists, or until this build may make it. Returns false for a bean that exists, which
  /// this retains for its takers.
  @inline(never)
  private func awaitClaim(
    _ step: Step, _ recipe: FrozenReference<Recipe>, _ found: Slot.Content, _ mark: Slot.Content,
    _ context: StackReference<ResolutionContext>
  ) throws -> Bool {
    var found = found
    // The arguments of a bean that another build has made, or after an error.
    defer { if !found.isEmpty { giveBack(recipe) } }
    while found.claimant != nil {
      try wait(for: recipe, context)
      found = core.lock.withLock { claim(step.slot, mark) }
    }
    if found.isFilled, step.takers > 0 { found.object.retain(step.takers) }
    return found.isEmpty
  }

  /// Waits for the end of a build whose factory runs.
  private func wait(for recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>) throws {
    if context.value.outer?.value.isBuildingFurtherOut(recipe, in: self) == true {
      throw circle(closing: recipe, isInside: true)
    }
    core.isAwaited.store(true, ordering: .sequentiallyConsistent)
    context.value.isWaiting.store(true, ordering: .relaxed)
    defer { context.value.isWaiting.store(false, ordering: .relaxed) }
    let slot = core.slots[recipe.value.slot]
    do {
      try WaitForGraph.wait(
        for: key(recipe.value.slot), recipe.value.definition.label, in: name,
        origin: recipe.value.definition.location.origin,
        // Under the lock, because the build does not end while its claim is in the slot.
        builder: {
          core.lock.withLock { slot.content.claimant.map { StackReference<ResolutionContext>($0).value.thread } }
        })
    } catch let error as EnvironmentError where error.missingBean?.isThere == true {
      // A build that failed because an asynchronous bean was missing is no failure of this bean, once the missing bean
      // exists.
    }
  }

  /// Leaves the missing beans to other builds, and releases the references that were added for them.
  @inline(never)
  private func giveUp(
    _ context: StackReference<ResolutionContext>, _ asked: FrozenReference<Recipe>, _ error: any Error
  ) -> EnvironmentError {
    let steps = asked.value.steps
    // The step that failed; the beans of earlier steps have all their references.
    let failed = context.value.current ?? asked
    let first = (0..<steps.count).first { steps[$0].slot == failed.value.slot } ?? steps.count
    let paid = Set((0..<first).map { steps[$0].slot })
    for index in stride(from: first + 1, to: steps.count, by: 1) { giveBack(recipe(steps[index].slot), of: paid) }
    if asked.value.kind != .slot, asked != failed { giveBack(asked, of: paid) }
    let ownFailure = failure(error, of: failed)
    let failure = ResolutionContext.chain(from: failed, to: asked).dropFirst().reduce(ownFailure) {
      self.failure($0, of: $1)
    }
    let hasSlot = failed.value.slot >= 0
    let isLast = core.lock.withLock {
      if hasSlot, core.slots[failed.value.slot].content == .claimed(by: context) {
        core.slots[failed.value.slot].store(.empty)
      }
      return core.change { $0.leave() }
    }
    if hasSlot, core.isAwaited.load(ordering: .relaxed) { WaitForGraph.end(key(failed.value.slot), ownFailure) }
    if isLast { release() }
    return failure
  }

  /// Releases the references to arguments that a step does not take.
  ///
  /// - Parameters:
  ///   - recipe: the recipe that would have taken the arguments.
  ///   - paid: the slots whose beans have been retained for their takers; nil for all.
  private func giveBack(_ recipe: FrozenReference<Recipe>, of paid: Set<Int32>? = nil) {
    giveBack(recipe.value.operands, of: paid)
    giveBack(recipe.value.properties, of: paid)
  }

  func giveBack(_ operands: FrozenSlice<Operand>, from index: Int = 0, of paid: Set<Int32>? = nil) {
    operands[index..<operands.count].forEach {
      if case .counted(let slot) = $0.place, paid?.contains(slot) != false { core.slots[slot].content.object.release() }
    }
  }
}
