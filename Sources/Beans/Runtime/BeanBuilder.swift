import Synchronization
import BeansErrors
import BeansSupport
import CBeansRuntime

/// The one way to build beans.
///
/// A lookup that misses takes the lock once, to enter and to claim every empty slot of the bean's order; then it calls the
/// factories with nothing locked, storing each bean where others find it; then it takes the lock once more, to write down
/// what it has filled and to leave. Each bean gets a count for everyone who will take it as soon as it is there; a step
/// that finds its bean built by somebody else adds the same counts and gives back what it would have taken.
///
/// What is claimed and not begun may be taken over by whoever needs it, so that nobody waits but for a factory that runs.
extension Environment {
  /// The bean of a slot, with a count for the caller, who keeps the environment from being released.
  @inline(__always)
  func bean(_ slot: Int32) throws -> ObjectReference {
    core.slots[slot].content.isFilled ? keep(slot) : try build(slot, isInside: true)
  }

  /// A bean that stands, with a count for the caller.
  func keep(_ slot: Int32) -> ObjectReference {
    // What is built of it must not come before it in the log.
    if core.builds != nil { core.lock.withLock { logBuilds() } }
    let object = core.slots[slot].content.object
    object.retain()
    return object
  }

  @inline(__always)
  func recipe(_ slot: Int32) -> FrozenReference<Recipe> {
    // Whoever has a slot has a plan.
    core.compiledPlan.with { $0.recipe(slot) }
  }

  /// Builds the bean of a slot.
  ///
  /// - Parameters:
  ///   - slot: the bean's slot.
  ///   - isInside: whether the caller keeps the environment from being released. Others are refused with `.finished` where
  ///     nothing is looked up any more.
  /// - Returns: the bean, with a count for the caller.
  @inline(never)
  func build(_ slot: Int32, isInside: Bool) throws -> ObjectReference {
    let (recipe, slots) = (recipe(slot), core.slots)
    return try build(recipe, recipe.value.steps, isInside: isInside) { _ in slots[slot].content.object }
  }

  /// A new instance that no slot keeps, with one count, for a caller who keeps the environment from being released.
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
      let object = try core.kind.contains(.scoped) ? makeWithCare(recipe) : make(recipe)
      if context.value.outer != nil { noteForTaker(object, recipe, context) }
      note(context.value.isFace)
      return object
    }
  }

  /// Calls the factory of a bean that has to be awaited, for a caller who keeps the environment from being released.
  func begin(_ recipe: FrozenReference<Recipe>) throws -> AnyObject {
    if ResolutionContext.isBuilding(recipe, in: self) { throw circle(closing: recipe) }
    return try build(recipe, recipe.value.steps[0..<0], isInside: true) { context in
      context.value.current.store(recipe.address, ordering: .relaxed)
      if recipe.value.work.contains(.trace) { log.creating(recipe.value.entry.label, in: name) }
      return try recipe.value.function.with { try make(recipe, isCounted: false, $0.create) }
        .take(as: AnyObject.self)
    }
  }

  /// Runs `make` where everything stands that the recipe takes, for a caller who keeps the environment from being released.
  func untracked<R>(
    _ recipe: FrozenReference<Recipe>, _ make: (StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    let steps = recipe.value.steps
    // A scope object that is asked for beans has none of them stand in slots.
    return try build(recipe, core.kind.contains(.scoped) ? steps[0..<0] : steps, isInside: true) { context in
      context.value.current.store(recipe.address, ordering: .relaxed)
      return try make(context)
    }
  }

  /// Runs `make` when the steps have been built.
  @inline(__always)
  private func build<R>(
    _ recipe: FrozenReference<Recipe>, _ steps: FrozenSlice<Step>, isInside: Bool,
    _ make: (StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    if beans_stack_is_low() { throw tooDeep(recipe) }
    // A closure that has the environment itself counts it: four atomic steps of a request.
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
      log(context, before: context.value.own.load(ordering: .relaxed))
      return end(context)
    }
    if isLast { release() }
    return made
  }

  // MARK: under the lock

  /// Counts the build as a user, and claims what is empty; false where nothing is looked up any more.
  @inline(__always)
  private func begin(
    _ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>, isInside: Bool
  ) -> Bool {
    guard isInside || core.lifecycle.isOpen else { return false }
    core.change { $0.enter() }
    if core.builds != nil { logBuilds() }
    let (slots, mark) = (core.slots, Slot.Content.claimed(context.address))
    // Lookups in an environment that many threads use do not look whether a bean has been written down.
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

  /// Writes down what all builds under way have filled; they may be the calling thread's own. What is built of that comes
  /// later in the log, then.
  @inline(never)
  func logBuilds() {
    var next = core.builds
    while let context = next {
      let left = FrozenSlice<Step>(
        from: context.value.logged.load(ordering: .relaxed), to: context.value.own.load(ordering: .relaxed))
      // As far as it has come: its builder may go on meanwhile, so that what follows could be seen although this was not.
      let missing = left.first { !core.slots[$0.slot].content.isFilled }
      log(context, before: missing?.address ?? left.end)
      next = context.value.next
    }
  }

  /// Writes down the steps of a build that stand before an address, and have been filled.
  @inline(__always)
  private func log(_ context: StackReference<ResolutionContext>, before end: UInt) {
    let filled = FrozenSlice<Step>(from: context.value.logged.load(ordering: .relaxed), to: end)
    creationLog.extend { append in filled.forEach { append($0.slot) } }
    context.value.logged.store(end, ordering: .relaxed)
  }

  /// Takes the build from those under way; true where the caller has to release the environment.
  @inline(__always)
  private func end(_ context: StackReference<ResolutionContext>) -> Bool {
    if core.builds?.address == context.address {
      core.builds = context.value.next
    } else {
      var other = core.builds
      while let current = other, current.value.next?.address != context.address { other = current.value.next }
      other?.value.next = context.value.next
    }
    return core.change { $0.leave() }
  }

  // MARK: building

  @inline(__always)
  private func fill(_ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>) throws {
    let (slots, recipes, mark) = (core.slots, recipe(0), Slot.Content.claimed(context.address))
    try steps.forEachReference { step in
      let recipe = recipes.sibling(step.value.slot, of: 0)
      let slot = slots[step.value.slot]
      // Whoever takes the step over looks at this after it has changed the slot: one of the two sees the other.
      _ = context.value.current.exchange(recipe.address, ordering: .sequentiallyConsistent)
      if slot.content != mark, try !takeOver(step.value, recipe, context) { return }
      let object = try make(recipe)
      if step.value.takers > 0 { object.retain(step.value.takers) }
      if step.address < context.value.own.load(ordering: .relaxed) {
        slot.store(.filled(object))
      } else {
        publish(object, step.value.slot)
      }
      if core.isAwaited.load(ordering: .relaxed) { WaitForGraph.end(slot.address, nil) }
    }
  }

  /// Stores a bean and writes it down at once, for a build whose order others share.
  @inline(never)
  private func publish(_ object: ObjectReference, _ slot: Int32) {
    core.lock.withLock {
      logBuilds()
      core.slots[slot].store(.filled(object))
      creationLog.append(slot)
    }
  }

  /// Makes a step this build's own whose slot is not, or not for certain; false where its bean stands already.
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
            for: slot.address, recipe.value.entry.label, in: name, origin: recipe.value.entry.location.origin,
            builder: { core.lock.withLock { claimant(slot.content)?.value.thread } })
        } catch let error as EnvironmentError {
          // A build that has not waited for what had to be awaited is no failure of the bean, when that is there.
          guard (error.missing as? MissingBean)?.isThere == true else { throw error }
        }
      }
    } catch {
      giveBack(recipe)
      throw error
    }
  }

  /// Under the lock: takes what is empty, and what has been claimed and not begun.
  ///
  /// - Returns: whether the slot is this build's now; false where the bean stands, nil where its factory runs.
  private func claim(
    _ slot: Slot, _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) -> Bool? {
    let mark = Slot.Content.claimed(context.address)
    while true {
      logBuilds()
      let content = slot.content
      if content.isFilled { return false }
      if content == mark { return true }
      guard let other = claimant(content) else {
        slot.store(mark)
        return true
      }
      let isBegun = { other.value.current.load(ordering: .sequentiallyConsistent) == recipe.address }
      if isBegun() { return nil }
      if other.value.thread == context.value.thread {
        slot.store(mark)
      } else {
        // Its builder stores without the lock, and may have done so since.
        guard slot.replace(content, by: mark) else { continue }
        if isBegun() {
          // It may or may not have seen that the bean is no longer its own, so it is again, unless it is filled.
          if slot.replace(mark, by: content) { return nil }
          continue
        }
        guard slot.content == mark else { continue }
      }
      other.value.giveAway(recipe.value.slot)
      return true
    }
  }

  /// Under the lock: the build that has claimed a slot. It is not gone while its claim is there.
  private func claimant(_ content: Slot.Content) -> StackReference<ResolutionContext>? {
    content.claimant.flatMap { StackReference(address: $0) }
  }

  /// Leaves what is missing to others, and gives back the counts that were added for it.
  @inline(never)
  private func giveUp(
    _ context: StackReference<ResolutionContext>, _ asked: FrozenReference<Recipe>, _ error: any Error
  ) -> EnvironmentError {
    let (slots, steps) = (core.slots, asked.value.steps)
    let mark = Slot.Content.claimed(context.address)
    // The step that failed; those before it have given their beans all counts.
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
      WaitForGraph.end(slots[failed.value.slot].address, ownFailure)
    }
    if isLast { release() }
    return failure
  }

  /// Gives back the counts of arguments that a step does not take.
  ///
  /// - Parameters:
  ///   - recipe: what would have taken them.
  ///   - paid: the slots whose beans have been given counts; nil for all.
  private func giveBack(_ recipe: FrozenReference<Recipe>, of paid: Set<Int32>? = nil) {
    giveBack(recipe.value.operands, of: paid)
    giveBack(recipe.value.properties, of: paid)
  }

  func giveBack(_ operands: FrozenSlice<Operand>, from index: Int = 0, of paid: Set<Int32>? = nil) {
    operands[index..<operands.count].forEach {
      if case .counted(let slot) = $0.place, paid?.contains(slot) != false { core.slots[slot].content.object.release() }
    }
  }

  // MARK: what stands further out

  /// Whether everything stands that the bean's order takes from where it may not.
  @inline(__always)
  func isComplete(_ recipe: FrozenReference<Recipe>) -> Bool {
    recipe.value.needs.first { need in
      if case .outer(let slot) = need.place { !slot.content.isFilled } else { true }
    } == nil
  }

  /// Has it built.
  ///
  /// A list, not a recursion: chains of beans may be as long as memory allows.
  @inline(never)
  private func ensure(
    _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>, isInside: Bool
  ) throws {
    if !isInside { return try using { try ensure(recipe, context, isInside: true) } }
    if context.value.outer?.value.isBuildingFurtherOut(recipe, in: self) == true { throw circle(closing: recipe) }
    defer { context.value.current.store(0, ordering: .relaxed) }
    var stack = [recipe]
    while let top = stack.last {
      context.value.current.store(top.address, ordering: .relaxed)
      do {
        if let next = try missing(top) {
          stack.append(next)
        } else {
          stack.removeLast()
          guard let dependent = stack.last else { continue }
          context.value.current.store(dependent.address, ordering: .relaxed)
          try build(top.value.slot, isInside: true).release()
        }
      } catch { throw stack.reversed().reduce(error) { failure($0, of: $1) } }
    }
  }

  /// The next bean of this environment that has to be built for another one; what stands further out is built there.
  private func missing(_ recipe: FrozenReference<Recipe>) throws -> FrozenReference<Recipe>? {
    let needs = recipe.value.needs
    for index in 0..<needs.count {
      switch needs[index].place {
      case .outer(let slot) where slot.content.isFilled: continue
      // A scope object is asked by whoever takes the bean.
      case .own(let slot) where core.slots[slot].content.isFilled || core.kind.contains(.scoped): continue
      case .own(let slot): return self.recipe(slot)
      case .outer(let slot):
        if let own = ownSlot(slot) { return self.recipe(own) }
        try outer(slot, for: recipe, needs[index]).release()
      case .counted, .computed: continue
      }
    }
    return nil
  }

  /// Has the child's scope object answer for what the bean only requires; what it takes is asked for when it is taken.
  private func askForRequirements(of recipe: FrozenReference<Recipe>) throws {
    try recipe.value.needs.forEach { need in
      if case .own(let slot) = need.place, !recipe.value.takes(need) { try askedOrBuilt(slot).release() }
    }
  }

  /// A bean that stands further out, for the one of the order that takes it.
  private func outer(
    _ slot: Slot, for recipe: FrozenReference<Recipe>, _ need: Operand
  ) throws -> ObjectReference {
    do { return try object(at: slot) } catch {
      let taker = taker(of: need, in: recipe)
      throw taker == recipe
        ? error : ResolutionContext.chain(from: taker, to: recipe).dropLast().reduce(error) { failure($0, of: $1) }
    }
  }

  /// Which bean of an order takes something.
  private func taker(of need: Operand, in recipe: FrozenReference<Recipe>) -> FrozenReference<Recipe> {
    let steps = recipe.value.steps
    return (0..<steps.count).map { self.recipe(steps[$0].slot) }.first { $0.value.takes(need) } ?? recipe
  }

  /// The object of a slot further out, built if need be, with a count for the caller.
  func object(at slot: Slot) throws -> ObjectReference {
    let content = slot.content
    if content.isFilled {
      content.object.retain()
      return content.object
    }
    var next = Optional(Unretained(self))
    while let environment = next {
      let found = environment.with { $0.ownSlot(slot) }
      if let found { return try environment.with { try $0.bean(found) } }
      next = environment.with { $0.core.parent }
    }
    throw EnvironmentError(
      .unresolvedPlaceholder, "a value is needed by a configuration source, before the configuration is complete")
  }

  /// The number of a slot, where that is one of this environment's.
  func ownSlot(_ slot: Slot) -> Int32? {
    core.plan.flatMap { plan in
      plan.with { $0.isPlain ? core.slots.number(of: slot, among: $0.layout.slots) : nil }
    }
  }

  // MARK: one bean

  /// A new instance, with one count, made of what stands.
  @inline(__always)
  private func make(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    if !recipe.value.work.isEmpty { return try makeWithCare(recipe) }
    let object = try recipe.value.function.with { try $0.create(Arguments(recipe.value.operands, core.slots)) }
    let reference = ObjectReference(object)
    if reference.identity != recipe.value.identity { try completeUnforeseen(reference, recipe) }
    return reference
  }

  @inline(never)
  private func makeWithCare(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    if recipe.value.work == .own { return try makeOwn(recipe) }
    if recipe.value.work.contains(.await) { return try takeAwaited(recipe) }
    // Nothing stands in slots where the child's scope object keeps beans, and nothing yet where a requirement is asked for first.
    let isCounted = !core.kind.contains(.scoped) && recipe.value.requirements.isEmpty
    let log = recipe.value.work.contains(.trace) ? log : nil
    log?.creating(recipe.value.entry.label, in: name)
    do {
      let made: ObjectReference
      do {
        made = try recipe.value.function.with { try make(recipe, isCounted: isCounted, $0.create) }
      } catch {
        if isCounted { giveBack(recipe.value.properties) }
        throw error
      }
      let object = try complete(made, recipe).object
      log?.created(recipe.value.entry.label, in: name)
      return object
    } catch {
      log?.failed(recipe.value.entry.label, in: name, error)
      throw error
    }
  }

  /// A new instance for which nothing is done but to find out whether it is a bean already.
  @inline(__always)
  private func makeOwn(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    let isScoped = core.kind.contains(.scoped)
    let made = try recipe.value.function.with {
      isScoped
        ? try make(recipe, isCounted: false, $0.create)
        : ObjectReference(try $0.create(Arguments(recipe.value.operands, core.slots)))
    }
    if made.identity == recipe.value.identity, made.isUnshared { return made }
    return try complete(made, recipe).object
  }

  /// What `create` makes of a recipe's arguments, of which those that stand in no slot are evaluated beforehand.
  ///
  /// - Parameters:
  ///   - recipe: says where the arguments come from.
  ///   - isCounted: whether the counts of `counted` operands have been added for this; all are evaluated otherwise.
  ///   - create: the factory.
  func make(
    _ recipe: FrozenReference<Recipe>, isCounted: Bool, _ create: (Arguments) throws -> AnyObject
  ) throws -> ObjectReference {
    let operands = recipe.value.operands
    return try EvaluatedArguments.with(operands.count) { evaluated in
      var count = 0
      do {
        if let refusal = recipe.value.code.with({ $0.refusal }) { throw refusal }
        try recipe.value.requirements.forEach { try argument($0).release() }
        if core.kind.contains(.scoped) { try askForRequirements(of: recipe) }
        while count < operands.count {
          var isMissing = !isCounted
          if case .computed = operands[count].place { isMissing = true }
          evaluated[count] = isMissing ? try argument(operands[count]).object : nil
          count += 1
        }
      } catch {
        evaluated.release(count)
        if isCounted { giveBack(operands) }
        throw error
      }
      if isCounted { return ObjectReference(try create(Arguments(operands, core.slots, evaluated))) }
      var taken = FrozenArray<Operand>(capacity: operands.count)
      operands.forEach { taken.append(Operand(.computed(-1), $0.reading)) }
      return ObjectReference(try create(Arguments(taken.all, core.slots, evaluated)))
    }
  }

  // MARK: failures

  func tooDeep(_ recipe: FrozenReference<Recipe>) -> EnvironmentError {
    recipe.value.entry.fault(
      .deepBuild,
      "builds are nested too deeply: the thread has no stack left for \(recipe.value.entry.label)")
  }

  /// - Parameters:
  ///   - recipe: what is being built further out on this thread.
  ///   - isInside: whether the innermost context is the one that asks for it again.
  func circle(closing recipe: FrozenReference<Recipe>, isInside: Bool = false) -> EnvironmentError {
    let steps = ResolutionContext.circle(closing: recipe, in: self, isInside: isInside)
    let path = steps.map(\.label).joined(separator: " → ")
    return recipe.value.entry.fault(
      .circleOfLookups, "\(path); break the circle with a Provider that is called later", steps: steps)
  }

  /// What a build throws: the container's own errors with a longer path, everything else as `.creationFailed`.
  func failure(_ error: any Error, of recipe: FrozenReference<Recipe>) -> EnvironmentError {
    let label = recipe.value.entry.label
    if let error = error as? EnvironmentError {
      // A circle names every bean on it; a longer path would hide where it closes.
      return error.code == .cyclicDependency || error.path.first == label
        ? error : error.within(label, declaredAt: recipe.value.entry.location.origin)
    }
    return EnvironmentError(
      .creationFailed, "\(label) could not be created: \(error)", steps: [recipe.value.entry.step],
      origin: recipe.value.entry.location.origin, underlying: [error])
  }
}

/// Which bean is not there yet; what an error carries.
struct MissingBean: Sendable {
  weak let environment: Environment?
  let slot: Int32

  /// Whether it has come since.
  var isThere: Bool { environment?.core.slots[slot].content.isFilled == true }
}
