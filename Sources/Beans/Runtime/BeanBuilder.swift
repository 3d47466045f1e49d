import Synchronization
import BeansErrors
import BeansSupport
import CBeansRuntime

/// The only code that builds beans.
///
/// A lookup of a missing bean takes the lock once, to enter and to claim every empty slot of the bean's order. It then
/// calls the factories without a lock, and stores each bean where other threads find it. Finally it takes the lock
/// again, to log the filled slots and to leave. Each bean is retained for all its takers as soon as it exists; a step
/// whose bean was built by another thread retains that bean for the same takers and releases the arguments that it
/// would have taken.
///
/// A thread may take over a claim whose factory has not started, so threads wait only for running factories.
extension Environment {
  /// Returns the bean of a slot, retained for the caller. The caller keeps the environment from being released.
  @inline(__always)
  func bean(_ slot: Int32) throws -> ObjectReference {
    core.slots[slot].content.isFilled ? keep(slot) : try build(slot, isInside: true)
  }

  /// Returns the bean of a filled slot, retained for the caller.
  func keep(_ slot: Int32) -> ObjectReference {
    // Beans that depend on this one must not precede it in the log.
    if core.builds != nil { core.lock.withLock { logBuilds() } }
    let object = core.slots[slot].content.object
    object.retain()
    return object
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
    let (recipe, slots) = (recipe(slot), core.slots)
    return try build(recipe, recipe.value.steps, isInside: isInside) { _ in slots[slot].content.object }
  }

  /// Returns a new instance that no slot keeps, with one reference. The caller keeps the environment from being
  /// released.
  @inline(never)
  func buildUntracked(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    try buildUntracked(recipe) { _ in }
  }

  /// - Parameter note: called with whether the instance is another face of a bean.
  @inline(__always)
  func buildUntracked(
    _ recipe: FrozenReference<Recipe>, _ note: (_ isFace: Bool) -> Void
  ) throws -> ObjectReference {
    if ResolutionContext.isBuilding(recipe, in: self) { throw circle(closing: recipe) }
    return try untracked(recipe) { context in
      let object = try make(recipe)
      if context.value.outer != nil { noteForTaker(object, recipe, context) }
      note(context.value.isFace)
      return object
    }
  }

  /// Calls the factory of an asynchronous bean. The caller keeps the environment from being released.
  func begin(_ recipe: FrozenReference<Recipe>) throws -> AnyObject {
    if ResolutionContext.isBuilding(recipe, in: self) { throw circle(closing: recipe) }
    return try build(recipe, recipe.value.steps[0..<0], isInside: true) { context in
      context.value.current.recipe = recipe
      if recipe.value.work.contains(.trace) { log.creating(recipe.value.label, in: name) }
      return try recipe.value.function.with { try make(recipe, isCounted: false, $0.create) }
        .take(as: AnyObject.self)
    }
  }

  /// Runs `make` once all dependencies of the recipe exist. The caller keeps the environment from being released.
  func untracked<R>(
    _ recipe: FrozenReference<Recipe>, _ make: (StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    try build(recipe, recipe.value.steps, isInside: true) { context in
      context.value.current.recipe = recipe
      return try make(context)
    }
  }

  /// Runs `make` once the steps have been built.
  @inline(__always)
  private func build<R>(
    _ recipe: FrozenReference<Recipe>, _ steps: FrozenSlice<Step>, isInside: Bool,
    _ make: (StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    if beans_stack_is_low() { throw tooDeep(recipe) }
    // A closure that captures the environment itself retains it: four atomic operations in each request.
    let own = Unretained(self)
    return try ResolutionContext.with(own, recipe) { context in
      try own.with { try $0.build(recipe, steps, context, isInside: isInside, make) }
    }
  }

  @inline(__always)
  private func build<R>(
    _ recipe: FrozenReference<Recipe>, _ steps: FrozenSlice<Step>, _ context: StackReference<ResolutionContext>,
    isInside: Bool, _ make: (StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    if !isComplete(recipe) { try ensure(recipe, context, isInside: isInside) }
    if steps.isEmpty {
      do { return try make(context) } catch { throw failure(error, of: recipe) }
    }
    guard core.lock.withLock({ begin(context, steps, isInside: isInside) }) else { throw finishedError() }
    let made: R
    do {
      try fill(context, steps)
      made = try make(context)
    } catch { throw giveUp(context, recipe, error) }
    let isLast = core.lock.withLock {
      log(context, before: context.value.own.load(ordering: .relaxed).known)
      return end(context)
    }
    if isLast { release() }
    return made
  }

  // MARK: under the lock

  /// Adds the build as a user, and claims the empty slots; returns false once lookups have ended.
  @inline(__always)
  private func begin(
    _ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>, isInside: Bool
  ) -> Bool {
    guard isInside || core.lifecycle.isOpen else { return false }
    core.change { $0.enter() }
    if core.builds != nil { logBuilds() }
    let (slots, mark) = (core.slots, Slot.Content.claimed(by: context))
    // In an environment that many threads use, lookups do not check whether a bean has been logged.
    var isAlone = !core.kind.contains(.plain)
    steps.forEach { step in
      let slot = slots[step.slot]
      if slot.content.isEmpty { slot.store(mark) } else { isAlone = false }
    }
    context.value.logged.store(steps.first, ordering: .relaxed)
    context.value.own.store(isAlone ? steps.end : steps.first, ordering: .relaxed)
    context.value.next = core.builds
    core.builds = context
    return true
  }

  /// Logs the slots that all builds in flight have filled, including builds of the calling thread. Beans that depend on
  /// these are then later in the log.
  @inline(never)
  func logBuilds() {
    var next = core.builds
    while let context = next {
      let left = FrozenSlice(
        from: context.value.logged.load(ordering: .relaxed).known, to: context.value.own.load(ordering: .relaxed).known)
      // Only up to the first slot that is not filled: the builder may continue meanwhile, so that a later slot could
      // appear filled although this one did not.
      let missing = left.first { !core.slots[$0.slot].content.isFilled }
      log(context, before: missing ?? left.end)
      next = context.value.next
    }
  }

  /// Logs the filled steps of a build, up to a step.
  @inline(__always)
  private func log(_ context: StackReference<ResolutionContext>, before end: FrozenReference<Step>) {
    let filled = FrozenSlice(from: context.value.logged.load(ordering: .relaxed).known, to: end)
    creationLog.extend { append in filled.forEach { append($0.slot) } }
    context.value.logged.store(end, ordering: .relaxed)
  }

  /// Removes the build from those in flight; returns true if the caller has to release the environment.
  @inline(__always)
  private func end(_ context: StackReference<ResolutionContext>) -> Bool {
    if core.builds == context {
      core.builds = context.value.next
    } else {
      var other = core.builds
      while let current = other, current.value.next != context { other = current.value.next }
      other?.value.next = context.value.next
    }
    return core.change { $0.leave() }
  }

  // MARK: building

  @inline(__always)
  private func fill(_ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>) throws {
    let (slots, recipes, mark) = (core.slots, recipe(0), Slot.Content.claimed(by: context))
    try steps.forEachReference { step in
      let recipe = recipes.sibling(step.value.slot, of: 0)
      let slot = slots[step.value.slot]
      // A thread that takes the step over observes `current` after it has changed the slot: one of the two threads sees
      // the other.
      context.value.current.announce(recipe)
      if slot.content != mark, try !takeOver(step.value, recipe, context) { return }
      let object = try make(recipe)
      if step.value.takers > 0 { object.retain(step.value.takers) }
      if step < context.value.own.load(ordering: .relaxed).known {
        slot.store(.filled(object))
      } else {
        publish(object, step.value.slot)
      }
      if core.isAwaited.load(ordering: .relaxed) { WaitForGraph.end(key(step.value.slot), nil) }
    }
  }

  /// The key of the build that fills a slot of this environment.
  private func key(_ slot: Int32) -> WaitForGraph.Key { WaitForGraph.Key(self, part: slot) }

  /// Stores a bean and logs it at once, for a build whose order other builds share.
  @inline(never)
  private func publish(_ object: ObjectReference, _ slot: Int32) {
    core.lock.withLock {
      logBuilds()
      core.slots[slot].store(.filled(object))
      creationLog.append(slot)
    }
  }

  /// Claims a step whose slot this build may not own; returns false if the step's bean exists already.
  @inline(never)
  private func takeOver(
    _ step: Step, _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) throws -> Bool {
    let slot = core.slots[step.slot]
    do {
      while true {
        if let isOwn = core.lock.withLock({ claim(slot, recipe, context) }) {
          if isOwn { return true }
          if step.takers > 0 { slot.content.object.retain(step.takers) }
          giveBack(recipe)
          return false
        }
        if context.value.outer?.value.isBuildingFurtherOut(recipe, in: self) == true {
          throw circle(closing: recipe, isInside: true)
        }
        core.isAwaited.store(true, ordering: .sequentiallyConsistent)
        context.value.isWaiting.store(true, ordering: .relaxed)
        defer { context.value.isWaiting.store(false, ordering: .relaxed) }
        do {
          try WaitForGraph.wait(
            for: key(step.slot), recipe.value.label, in: name, origin: recipe.value.origin,
            builder: { core.lock.withLock { claimant(slot.content)?.value.thread } })
        } catch let error as EnvironmentError {
          // A build that failed because an asynchronous bean was missing is no failure of this bean, once the missing
          // bean exists.
          guard (error.missing as? MissingBean)?.isThere == true else { throw error }
        }
      }
    } catch {
      giveBack(recipe)
      throw error
    }
  }

  /// Claims a slot that is empty, or whose build has claimed it and not begun. Under the lock.
  ///
  /// - Returns: true if this build has the claim now; false if the bean exists, nil while its factory runs.
  private func claim(
    _ slot: Slot, _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) -> Bool? {
    let mark = Slot.Content.claimed(by: context)
    while true {
      logBuilds()
      let content = slot.content
      if content.isFilled { return false }
      if content == mark { return true }
      guard let other = claimant(content) else {
        slot.store(mark)
        return true
      }
      if other.value.building == recipe { return nil }
      if other.value.thread == context.value.thread {
        slot.store(mark)
      } else {
        // The builder stores without the lock, and may have done so since.
        guard slot.replace(content, by: mark) else { continue }
        if other.value.current.observe() == recipe {
          // The builder may or may not have seen the loss of its claim, so the claim is restored, unless the slot is
          // filled.
          if slot.replace(mark, by: content) { return nil }
          continue
        }
        guard slot.content == mark else { continue }
      }
      other.value.giveAway(recipe.value.slot)
      return true
    }
  }

  /// Returns the build that has claimed a slot. Under the lock: the build does not end while its claim is in the slot.
  private func claimant(_ content: Slot.Content) -> StackReference<ResolutionContext>? {
    content.claimant.map { StackReference($0) }
  }

  /// Leaves the missing beans to other builds, and releases the references that were added for them.
  @inline(never)
  private func giveUp(
    _ context: StackReference<ResolutionContext>, _ asked: FrozenReference<Recipe>, _ error: any Error
  ) -> EnvironmentError {
    let (slots, steps) = (core.slots, asked.value.steps)
    let mark = Slot.Content.claimed(by: context)
    // The step that failed; the beans of earlier steps have all their references.
    let failed = context.value.building ?? asked
    let first = (0..<steps.count).first { steps[$0].slot == failed.value.slot } ?? steps.count
    let paid = Set((0..<first).map { steps[$0].slot })
    for index in stride(from: first + 1, to: steps.count, by: 1) { giveBack(recipe(steps[index].slot), of: paid) }
    if asked.value.kind != .slot, asked != failed { giveBack(asked, of: paid) }
    let ownFailure = failure(error, of: failed)
    let failure = ResolutionContext.chain(from: failed, to: asked).dropFirst().reduce(ownFailure) {
      self.failure($0, of: $1)
    }
    let isLast = core.lock.withLock {
      logBuilds()
      steps.forEach { if slots[$0.slot].content == mark { slots[$0.slot].store(.empty) } }
      return end(context)
    }
    if core.isAwaited.load(ordering: .relaxed), failed.value.slot >= 0 {
      WaitForGraph.end(key(failed.value.slot), ownFailure)
    }
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

/// A bean that does not exist yet, as part of an error.
struct MissingBean: Sendable {
  weak let environment: Environment?
  let slot: Int32

  /// Whether the bean exists by now.
  var isThere: Bool { environment?.core.slots[slot].content.isFilled == true }
}
