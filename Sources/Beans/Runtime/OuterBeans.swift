import BeansSupport
import Synchronization

// The beans further out that a build needs, and the beans that requirements name.

extension Environment {
  /// Whether the beans that the recipe's steps need beforehand all exist further out; false if some are in this
  /// environment.
  @inline(__always)
  func isComplete(_ recipe: FrozenReference<Recipe>) -> Bool {
    recipe.value.needs.first { need in
      if case .outer(let slot) = need.place { !slot.content.isFilled } else { true }
    } == nil
  }

  /// Builds the missing beans that a recipe's steps need beforehand.
  ///
  /// A list, not a recursion: a chain of beans may be as long as memory allows.
  ///
  /// - Parameter record: receives the times of the builds; nil where none is kept.
  @inline(never)
  func ensure(
    _ recipe: FrozenReference<Recipe>, _ context: StackReference<ResolutionContext>, isInside: Bool,
    _ record: StartupRecord? = nil
  ) throws {
    if !isInside { return try using { try ensure(recipe, context, isInside: true) } }
    if context.value.outer?.value.isBuildingFurtherOut(recipe, in: self) == true { throw circle(closing: recipe) }
    defer { context.value.current = nil }
    var stack = [recipe]
    while let top = stack.last {
      context.value.current = top
      do {
        if let next = try missing(top) {
          stack.append(next)
        } else {
          stack.removeLast()
          guard let dependent = stack.last else { continue }
          context.value.current = dependent
          if let record {
            try build(top, for: dependent, record)
          } else {
            try build(top.value.slot, isInside: true).release()
          }
        }
      } catch { throw stack.reversed().reduce(error) { failure($0, of: $1) } }
    }
  }

  /// Returns the next bean of this environment that has to be built for another one; builds a missing bean of an
  /// ancestor at once.
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

  /// Returns a bean of an ancestor, for the bean of the order that takes it.
  private func outer(
    _ slot: Slot, for recipe: FrozenReference<Recipe>, _ need: Operand
  ) throws -> ObjectReference {
    do { return try object(at: slot) } catch {
      let taker = taker(of: need, in: recipe)
      throw taker == recipe
        ? error : ResolutionContext.chain(from: taker, to: recipe).dropLast().reduce(error) { failure($0, of: $1) }
    }
  }

  /// Returns the bean of an order that takes an operand.
  private func taker(of need: Operand, in recipe: FrozenReference<Recipe>) -> FrozenReference<Recipe> {
    let steps = recipe.value.steps
    return (0..<steps.count).map { self.recipe(steps[$0].slot) }.first { $0.value.takes(need) } ?? recipe
  }

  /// Returns the object of a slot further out, built if need be, and retained for the caller.
  func object(at slot: Slot) throws -> ObjectReference {
    let content = slot.content
    if content.isFilled {
      content.object.retain()
      return content.object
    }
    if let (owner, number) = owner(of: slot) { return try owner.with { try $0.bean(number) } }
    throw EnvironmentError(
      .unresolvedPlaceholder, "a value is needed by a configuration source, before the configuration is complete")
  }

  /// Returns the environment of a slot, which is this one or further out, and the slot's number; nil for the place of a
  /// value.
  func owner(of slot: Slot) -> (environment: Unretained<Environment>, number: Int32)? {
    var next = Optional(Unretained(self))
    while let environment = next {
      if let number = environment.with({ $0.ownSlot(slot) }) { return (environment, number) }
      next = environment.with { $0.core.parent }
    }
    return nil
  }

  /// Returns the number of a slot of this environment; nil for other slots.
  func ownSlot(_ slot: Slot) -> Int32? {
    core.plan.flatMap { plan in
      plan.with { $0.isPlain ? core.slots.number(of: slot, among: $0.layout.slots) : nil }
    }
  }

  // MARK: the record of a startup

  /// Builds a bean, unless it exists, and records its time, and those of its dependencies, in a startup record.
  func build(_ recipe: FrozenReference<Recipe>, _ record: StartupRecord) throws {
    if core.slots[recipe.value.slot].content.isFilled { return }
    try ResolutionContext.with(Unretained(self), recipe) { try ensure(recipe, $0, isInside: true, record) }
    try build(recipe, for: nil, record)
  }

  /// Builds a bean whose dependencies exist, and records its time and those of the beans that its factory looks up.
  private func build(
    _ recipe: FrozenReference<Recipe>, for taker: FrozenReference<Recipe>?, _ record: StartupRecord
  ) throws {
    let logged = core.lock.withLock { createdBeans }
    let began = ContinuousClock.now
    try bean(recipe.value.slot).release()
    let duration = ContinuousClock.now - began
    let created = core.lock.withLock { (logged..<createdBeans).map { creationLog[$0] } }
    record.add(
      created.map { built in
        let isOwn = built == recipe.value.slot
        return self.recipe(built).time(isOwn ? duration : nil, for: isOwn ? taker : recipe)
      })
  }
}

extension FrozenReference<Recipe> {
  /// Returns the entry of a bean in a startup record.
  func time(_ duration: Duration?, for parent: FrozenReference<Recipe>? = nil) -> StartupTime {
    StartupTime(
      bean: value.entry.label, origin: value.entry.location.origin, duration: duration,
      parent: parent?.value.label)
  }
}
