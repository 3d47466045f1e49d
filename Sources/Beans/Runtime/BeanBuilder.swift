import Synchronization
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
    let content = core.slots[slot].content
    guard content.isFilled else { return try build(slot) }
    return keep(slot)
  }

  /// A bean that stands, with a count for the caller.
  func keep(_ slot: Int32) -> ObjectReference {
    let content = core.slots[slot].content
    // What is built of it must not come before it in the log.
    if content.isUnlogged { core.lock.withLock { logBuilds() } }
    content.object.retain()
    return content.object
  }

  /// Builds the bean of a slot, for a caller who keeps the environment from being released.
  @inline(never)
  func build(_ slot: Int32) throws -> ObjectReference {
    try build(self.recipe(slot)) { _ in core.change { $0.enter() } }
  }

  /// Builds the bean of a slot for a lookup from outside; `.finished` where nothing is looked up any more.
  @inline(never)
  func buildEntering(_ slot: Int32) throws -> ObjectReference {
    try build(self.recipe(slot)) { isRefused in
      core.change { lifecycle in
        if lifecycle.isOpen { lifecycle.enter() } else { isRefused = true }
      }
    }
  }

  @inline(__always)
  func recipe(_ slot: Int32) -> FrozenReference<Recipe> {
    // Whoever has a slot has a plan.
    core.compiledPlan.with { $0.recipe(slot) }
  }

  @inline(__always)
  private func build(
    _ recipe: FrozenReference<Recipe>, _ enter: (inout Bool) -> Void
  ) throws -> ObjectReference {
    if beans_stack_is_low() { throw tooDeep(recipe) }
    return try ResolutionContext.with(Unretained(self), recipe) { context in
      var isRefused = false
      if !isComplete(recipe) {
        core.lock.withLock { enter(&isRefused) }
        if isRefused { throw finishedError() }
        defer { leave() }
        try ensure(recipe, context)
      }
      core.lock.withLock {
        enter(&isRefused)
        if !isRefused { begin(context, recipe.value.steps) }
      }
      if isRefused { throw finishedError() }
      do {
        try fill(context, recipe.value.steps)
        return end(context, recipe)
      } catch { throw giveUp(context, recipe, error) }
    }
  }

  // MARK: under the lock

  @inline(__always)
  private func begin(_ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>) {
    if core.builds != nil { logBuilds() }
    let (slots, mark) = (core.slots, Slot.Content.claimed(context.address))
    // Lookups in an environment that many threads use do not look whether a bean has been written down.
    if core.kind.contains(.plain) { context.value.isAlone = false }
    steps.forEach { step in
      let slot = slots[step.slot]
      let content = slot.content
      if content.isEmpty { slot.store(mark) } else if content.claimant != nil { context.value.isAlone = false }
    }
    context.value.next = core.builds
    core.builds = context
  }

  /// Writes down what a build has filled since: after this whatever others build of it comes later in the log.
  @inline(__always)
  private func log(_ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>) {
    let slots = core.slots
    creationLog.extend { append in
      steps.forEach { step in
        let slot = slots[step.slot]
        let content = slot.content
        if content.isUnlogged {
          slot.store(.logged(content.object))
          append(step.slot)
        }
      }
    }
  }

  /// Writes down what all builds under way have filled; they may be the calling thread's own.
  @inline(never)
  private func logBuilds() {
    var next = core.builds
    while let context = next {
      if let asked = context.value.asked { logProgress(context, asked.value.steps) }
      next = context.value.next
    }
  }

  /// As far as it has come: its builder may go on meanwhile, so that what follows could be seen although this was not.
  private func logProgress(_ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>) {
    let slots = core.slots
    for index in 0..<steps.count {
      let content = slots[steps[index].slot].content
      if content.isUnlogged {
        slots[steps[index].slot].store(.logged(content.object))
        creationLog.append(steps[index].slot)
      } else if !content.isFilled {
        return
      }
    }
  }

  @inline(__always)
  private func unlink(_ context: StackReference<ResolutionContext>) {
    if core.builds?.address == context.address { return core.builds = context.value.next }
    var other = core.builds
    while let current = other, current.value.next?.address != context.address { other = current.value.next }
    other?.value.next = context.value.next
  }

  // MARK: building

  @inline(__always)
  private func fill(_ context: StackReference<ResolutionContext>, _ steps: FrozenSlice<Step>) throws {
    let (slots, recipes, mark) = (core.slots, recipe(0), Slot.Content.claimed(context.address))
    try steps.forEachReference { step in
      let recipe = recipes.sibling(step.value.slot, of: 0)
      let slot = slots[step.value.slot]
      // Whoever takes the step over looks at this after it has changed the slot: one of the two sees the other.
      // Releasing, so that who sees the next step sees the bean of the one before.
      context.value.current.store(recipe.address, ordering: .releasing)
      beans_compiler_fence()
      guard slot.content == mark else {
        return try fillAmongOthers(step.value, recipe, context)
      }
      let object = try make(recipe, context)
      if step.value.takers > 0 { object.retain(step.value.takers) }
      if context.value.isAlone { slot.store(.unlogged(object)) } else { publish(object, step.value.slot) }
      if core.isAwaited.load(ordering: .relaxed) { wake(slot, nil) }
    }
  }

  /// Stores a bean and writes it down at once, for a build whose order others share.
  private func publish(_ object: ObjectReference, _ slot: Int32) {
    core.lock.withLock {
      logBuilds()
      core.slots[slot].store(.logged(object))
      creationLog.append(slot)
    }
  }

  /// A step whose slot is not this build's, or not for certain.
  @inline(never)
  private func fillAmongOthers(
    _ step: Step, _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) throws {
    let slot = core.slots[step.slot]
    while true {
      switch core.lock.withLock({ claim(slot, recipe, context) }) {
      case .own:
        let object = try make(recipe, context)
        if step.takers > 0 { object.retain(step.takers) }
        publish(object, step.slot)
        if core.isAwaited.load(ordering: .relaxed) { wake(slot, nil) }
        return
      case .filled(let object):
        if step.takers > 0 { object.retain(step.takers) }
        return giveBack(recipe)
      case .circle:
        giveBack(recipe)
        throw circle(closing: recipe, isInside: true)
      case .begun:
        core.isAwaited.store(true, ordering: .sequentiallyConsistent)
        context.value.isWaiting = true
        defer { context.value.isWaiting = false }
        do {
          try WaitForGraph.wait(
            for: slot.address, recipe.value.label.text, in: name, origin: recipe.value.label.location.origin,
            builder: { self.builder(of: slot, recipe) })
        } catch {
          giveBack(recipe)
          throw error
        }
      }
    }
  }

  private enum Claim {
    case own
    case filled(ObjectReference)
    /// This thread is building the bean further out.
    case circle
    /// Another thread is building it.
    case begun
  }

  /// Under the lock: takes what is empty, and what has been claimed and not begun.
  private func claim(
    _ slot: SlotReference, _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) -> Claim {
    logBuilds()
    let content = slot.content
    let mark = Slot.Content.claimed(context.address)
    if content.isFilled { return .filled(content.object) }
    context.value.isAlone = false
    if content == mark { return .own }
    // Not gone while its claim is there.
    if let address = content.claimant, let other = StackReference<ResolutionContext>(address: address) {
      let isBegun = { other.value.current.load(ordering: .acquiring) == recipe.address }
      if other.value.thread == context.value.thread {
        if isBegun() { return .circle }
      } else {
        if isBegun() || !beans_has_barrier_on_all_threads() { return .begun }
        // Its builder stores without the lock, and may have done so since.
        guard slot.replace(content, by: mark) else { return claim(slot, recipe, context) }
        beans_barrier_on_all_threads()
        // Begun just now: it may or may not have seen that it is no longer its own, so it is again, unless it is filled.
        if isBegun() { return slot.replace(mark, by: content) ? .begun : claim(slot, recipe, context) }
        return slot.content == mark ? .own : claim(slot, recipe, context)
      }
    }
    slot.store(mark)
    return .own
  }

  /// The thread that builds the bean of a slot now.
  private func builder(of slot: SlotReference, _ recipe: FrozenReference<Recipe>) -> UInt? {
    core.lock.withLock {
      guard let address = slot.content.claimant, let other = StackReference<ResolutionContext>(address: address) else {
        return nil
      }
      return other.value.thread
    }
  }

  @inline(never)
  private func wake(_ slot: SlotReference, _ failure: EnvironmentError?) { WaitForGraph.end(slot.address, failure) }

  /// The step does not take its arguments.
  private func giveBack(_ recipe: FrozenReference<Recipe>) {
    giveBack(recipe.value.operands, from: 0)
    giveBack(recipe.value.completion.properties, from: 0)
  }

  @inline(__always)
  private func end(
    _ context: StackReference<ResolutionContext>, _ recipe: FrozenReference<Recipe>
  ) -> ObjectReference {
    let object = core.slots[recipe.value.slot].content.object
    let action = core.lock.withLock {
      log(context, recipe.value.steps)
      unlink(context)
      return core.change { $0.leave() }
    }
    if action == .release { release() }
    return object
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
    for index in stride(from: first + 1, to: steps.count, by: 1) { giveBack(recipe(steps[index].slot), paid) }
    if asked.value.slot < 0, asked != failed { giveBack(asked, paid) }
    let failure = failure(error, building: failed, for: asked)
    var isAwaited = false
    let action = core.lock.withLock {
      log(context, steps)
      for index in 0..<steps.count where slots[steps[index].slot].content == mark {
        slots[steps[index].slot].store(.empty)
      }
      unlink(context)
      isAwaited = core.isAwaited.load(ordering: .relaxed)
      return core.change { $0.leave() }
    }
    if isAwaited, failed.value.slot >= 0 { wake(slots[failed.value.slot], self.failure(error, of: failed)) }
    if action == .release { release() }
    return failure
  }

  /// A step that has not been begun takes nothing of what has been paid for it.
  private func giveBack(_ recipe: FrozenReference<Recipe>, _ paid: Set<Int32>) {
    func release(_ operands: FrozenSlice<Operand>) {
      operands.forEach {
        if case .counted(let slot) = $0.place, paid.contains(slot) { core.slots[slot].content.object.release() }
      }
    }
    release(recipe.value.operands)
    release(recipe.value.completion.properties)
  }

  // MARK: what stands further out

  /// Whether everything stands that the bean's order takes from where it may not.
  @inline(__always)
  private func isComplete(_ recipe: FrozenReference<Recipe>) -> Bool {
    recipe.value.needs.allMeet { need in
      if case .outer(let slot) = need.place { slot.content.isFilled } else { false }
    }
  }

  /// Has it built, for a caller who keeps the environment from being released.
  ///
  /// A list, not a recursion: chains of beans may be as long as memory allows.
  @inline(never)
  private func ensure(
    _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) throws {
    if let outer = context.value.outer, outer.value.isBuildingFurtherOut(recipe, in: self) {
      throw circle(closing: recipe)
    }
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
          try build(top.value.slot).release()
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
      case .own(let slot) where core.slots[slot].content.isFilled: continue
      case .own(let slot): return self.recipe(slot)
      case .outer(let slot):
        if let own = ownSlot(slot) { return self.recipe(own) }
        try outer(slot, for: recipe, needs[index]).release()
      case .counted, .computed: continue
      }
    }
    return nil
  }

  /// A bean that stands further out, for the one of the order that takes it.
  private func outer(
    _ slot: SlotReference, for recipe: FrozenReference<Recipe>, _ need: Operand
  ) throws -> ObjectReference {
    do { return try existing(need) } catch {
      let taker = taker(of: need, in: recipe)
      throw taker == recipe
        ? error : ResolutionContext.chain(from: taker, to: recipe).dropLast().reduce(error) { failure($0, of: $1) }
    }
  }

  /// Which bean of an order takes something.
  private func taker(of need: Operand, in recipe: FrozenReference<Recipe>) -> FrozenReference<Recipe> {
    func isTaken(by recipe: FrozenReference<Recipe>) -> Bool {
      var isTaken = false
      for operands in [recipe.value.operands, recipe.value.completion.properties] {
        operands.forEach { if $0.isSame(as: need) { isTaken = true } }
      }
      return isTaken
    }
    let steps = recipe.value.steps
    return (0..<steps.count).map { self.recipe(steps[$0].slot) }.first(where: isTaken) ?? recipe
  }

  /// The object of an operand that leads to a slot, built if need be, with a count for the caller.
  func existing(_ operand: Operand) throws -> ObjectReference {
    switch operand.place {
    case .own(let slot), .counted(let slot): return try askedOrBuilt(slot)
    case .outer(let slot):
      let content = slot.content
      if content.isFilled, !content.isUnlogged {
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
        .unresolvedPlaceholder,
        "a value is needed by a configuration source, before the configuration is complete")
    case .computed(let number):
      guard let object = try evaluate(number).object else {
        throw EnvironmentError(.unknownBean, "there is no such bean")
      }
      return object
    }
  }

  /// The number of a slot, where that is one of this environment's.
  private func ownSlot(_ slot: SlotReference) -> Int32? {
    core.plan.flatMap { plan in
      plan.with { $0.isPlain ? core.slots.number(of: slot, among: $0.layout.slots) : nil }
    }
  }

  // MARK: one bean

  /// A new instance, with one count, made of what stands.
  @inline(__always)
  func make(
    _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>
  ) throws -> ObjectReference {
    if !recipe.value.work.isEmpty { return try makeWithCare(recipe) }
    let object = try recipe.value.function.with { try $0.create(Arguments(recipe.value.operands, core.slots)) }
    let reference = ObjectReference(object)
    if reference.identity != recipe.value.identity { try completeUnforeseen(reference, recipe) }
    return reference
  }

  @inline(never)
  private func makeWithCare(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    guard recipe.value.work.contains(.trace) else { return try makeUntraced(recipe) }
    let (log, label) = (log, recipe.value.label.text)
    log.creating(label, in: name)
    do {
      let object = try makeUntraced(recipe)
      log.created(label, in: name)
      return object
    } catch {
      log.failed(label, in: name, error)
      throw error
    }
  }

  private func makeUntraced(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    let isAsking = core.kind.contains(.scoped)
    let operands = recipe.value.operands
    var hasTaken = false
    let object: ObjectReference
    do {
      if let inactive = recipe.value.inactive { throw inactive }
      try recipe.value.completion.requirements.forEach { try argument($0).release() }
      object = try recipe.value.function.with { code in
        // Where the child's scope object keeps beans, nothing stands in slots.
        if isAsking { return try make(evaluating: operands, code.create) }
        if operands.hasComputed { return try make(operands, of: operands, &hasTaken, code.create) }
        hasTaken = true
        return ObjectReference(try code.create(Arguments(operands, core.slots)))
      }
    } catch {
      if !isAsking {
        if !hasTaken { giveBack(operands, from: 0) }
        giveBack(recipe.value.completion.properties, from: 0)
      }
      throw error
    }
    return try complete(object, recipe)
  }

  /// What `create` makes of arguments that are all evaluated beforehand.
  func make(
    evaluating operands: FrozenSlice<Operand>, _ create: (Arguments) throws -> AnyObject
  ) throws -> ObjectReference {
    var taken: [Operand] = []
    operands.forEach { taken.append(Operand(.computed(-1), $0.reading)) }
    let frozen = FrozenArray(taken)
    var hasTaken = false
    return try make(frozen.all, of: operands, &hasTaken, create)
  }

  /// What `create` makes of arguments of which those that are computed are evaluated beforehand.
  ///
  /// - Parameters:
  ///   - arguments: how they are taken.
  ///   - operands: where they come from.
  ///   - hasTaken: whether `create` has been called, which takes all of them.
  ///   - create: the factory.
  private func make(
    _ arguments: FrozenSlice<Operand>, of operands: FrozenSlice<Operand>, _ hasTaken: inout Bool,
    _ create: (Arguments) throws -> AnyObject
  ) throws -> ObjectReference {
    try EvaluatedArguments.with(operands.count) { evaluated in
      for index in 0..<operands.count {
        evaluated[index] = nil
        guard case .computed = arguments[index].place else { continue }
        do { evaluated[index] = try argument(operands[index]).object } catch {
          evaluated.release(index)
          throw error
        }
      }
      hasTaken = true
      return ObjectReference(try create(Arguments(arguments, core.slots, evaluated)))
    }
  }

  /// Gives back the counts of operands that nobody takes any more.
  func giveBack(_ operands: FrozenSlice<Operand>, from index: Int) {
    for index in stride(from: index, to: operands.count, by: 1) {
      if case .counted(let slot) = operands[index].place { core.slots[slot].content.object.release() }
    }
  }

  // MARK: what no slot keeps

  /// A new instance that no slot keeps, with one count, for a caller who keeps the environment from being released.
  @inline(never)
  func buildUntracked(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    try untracked(recipe) { context in
      try core.kind.contains(.scoped) ? makeWithCare(recipe) : make(recipe, context)
    }
  }

  /// Runs `make` where everything stands that the recipe takes.
  @inline(__always)
  func untracked<R>(
    _ recipe: FrozenReference<Recipe>, mayNest: Bool = false, _ make: (StackReference<ResolutionContext>) throws -> R
  ) throws -> R {
    if beans_stack_is_low() { throw tooDeep(recipe) }
    if !mayNest, ResolutionContext.innermost != nil, ResolutionContext.isBuilding(recipe, in: self) {
      throw circle(closing: recipe)
    }
    return try ResolutionContext.with(Unretained(self), recipe) { context in
      if !isComplete(recipe) { try ensure(recipe, context) }
      if recipe.value.steps.isEmpty || core.kind.contains(.scoped) {
        context.value.current.store(recipe.address, ordering: .relaxed)
        do { return try make(context) } catch { throw failure(error, of: recipe) }
      }
      core.lock.withLock {
        core.change { $0.enter() }
        begin(context, recipe.value.steps)
      }
      let made: R
      do {
        try fill(context, recipe.value.steps)
        context.value.current.store(recipe.address, ordering: .relaxed)
        made = try make(context)
      } catch { throw giveUp(context, recipe, error) }
      let action = core.lock.withLock {
        log(context, recipe.value.steps)
        unlink(context)
        return core.change { $0.leave() }
      }
      if action == .release { release() }
      return made
    }
  }

  // MARK: failures

  func tooDeep(_ recipe: FrozenReference<Recipe>) -> EnvironmentError {
    recipe.value.fault(
      .creationFailed,
      "builds are nested too deeply: the thread has no stack left for \(recipe.value.label.text)")
  }

  /// - Parameters:
  ///   - recipe: what is being built further out on this thread.
  ///   - isInside: whether the innermost context is the one that asks for it again.
  func circle(closing recipe: FrozenReference<Recipe>, isInside: Bool = false) -> EnvironmentError {
    let path = ResolutionContext.circle(closing: recipe, in: self, isInside: isInside)
    return recipe.value.fault(
      .cyclicDependency, "\(path.joined(separator: " → ")); break the circle with a Provider", path: path)
  }

  /// What a build throws: the container's own errors with a longer path, everything else as `.creationFailed`.
  func failure(_ error: any Error, of recipe: FrozenReference<Recipe>) -> EnvironmentError {
    let label = recipe.value.label.text
    if let error = error as? EnvironmentError {
      // A circle names every bean on it; a longer path would hide where it closes.
      return error.code == .cyclicDependency || error.path.first == label
        ? error : error.within(label, declaredAt: recipe.value.label.location.origin)
    }
    return EnvironmentError(
      .creationFailed, "\(label) could not be created: \(error)", path: [label],
      origin: recipe.value.label.location.origin, underlying: [error])
  }

  /// The failure of one bean, as what was asked for sees it.
  private func failure(
    _ error: any Error, building failed: FrozenReference<Recipe>, for asked: FrozenReference<Recipe>
  ) -> EnvironmentError {
    ResolutionContext.chain(from: failed, to: asked).dropFirst().reduce(failure(error, of: failed)) {
      failure($0, of: $1)
    }
  }
}
