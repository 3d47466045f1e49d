@_spi(BeansPackage) import BeansErrors
import Synchronization

// Calls of factories, and the dependencies that have to exist before them.

extension Environment {
  /// Returns a new instance, with one reference, from dependencies that exist.
  @inline(__always)
  func make(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    if !recipe.value.work.isEmpty { return try makeWithCare(recipe) }
    let object = try recipe.value.function.with { try $0.create(Arguments(recipe.value.operands, core.slots)) }
    let reference = ObjectReference(object)
    if reference.identity != recipe.value.identity { try completeUnforeseen(reference, recipe) }
    return reference
  }

  @inline(never)
  func makeWithCare(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    if recipe.value.work == .own { return try makeOwn(recipe) }
    if recipe.value.work.contains(.await) { throw try notReady(recipe) }
    let log: ContainerLog? = if recipe.value.work.contains(.trace) { log } else { nil }
    log?.creating(recipe.value.definition.label, in: name)
    do {
      let object = try complete(callFactory(of: recipe), recipe).object
      log?.created(recipe.value.definition.label, in: name)
      return object
    } catch {
      log?.failed(recipe.value.definition.label, in: name, error)
      throw error
    }
  }

  /// Returns the object that a recipe's factory makes, before its completion.
  func callFactory(of recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    do { return try recipe.value.function.with { try make(recipe, $0.create) } } catch {
      giveBack(recipe.value.properties)
      throw error
    }
  }

  /// Returns an instance that needs no completion, except the check whether it is a bean already.
  @inline(__always)
  private func makeOwn(_ recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    let made = try recipe.value.function.with {
      ObjectReference(try $0.create(Arguments(recipe.value.operands, core.slots)))
    }
    if made.identity == recipe.value.identity, made.isUnshared { return made }
    return try complete(made, recipe).object
  }

  /// Returns the object that `create` makes from a recipe's arguments. Evaluates arguments that are not in slots
  /// beforehand.
  func make(
    _ recipe: FrozenReference<Recipe>, _ create: (Arguments) throws -> AnyObject
  ) throws -> ObjectReference {
    let (operands, requirements) = (recipe.value.operands, recipe.value.requirements)
    return try EvaluatedArguments.with(operands.count) { evaluated in
      do {
        if let refusal = recipe.value.code.with({ $0.refusal }) { throw refusal }
        try requirements.forEach { try object(of: $0.place)?.release() }
        for index in 0..<operands.count {
          let place = operands[index].place
          if case .computed = place {
            evaluated.set(try object(of: place), at: index)
          } else if !requirements.isEmpty {
            // The slot may be empty if a requirement had to be resolved first; then no step counts the operand.
            try object(of: place)?.release()
          }
        }
      } catch {
        evaluated.release()
        giveBack(operands)
        throw error
      }
      return ObjectReference(try create(Arguments(operands.first, core.slots, evaluated.first)))
    }
  }

  // MARK: dependencies

  /// Whether the beans that the recipe's steps need beforehand all exist further out; false if some are in this
  /// environment.
  @inline(__always)
  func isComplete(_ recipe: FrozenReference<Recipe>) -> Bool {
    !recipe.value.needs.contains { need in
      if case .outer(let slot) = need.place { !slot.content.isFilled } else { true }
    }
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
          try build(top, for: dependent, record)
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
      case .own(let slot):
        if !core.slots[slot].content.isFilled { return self.recipe(slot) }
      case .outer(let slot):
        if slot.content.isFilled { continue }
        if let own = ownSlot(slot) { return self.recipe(own) }
        try outer(slot, for: recipe).release()
      case .counted, .computed: break
      }
    }
    return nil
  }

  /// Returns a bean of an ancestor, for the bean of the order that takes it.
  private func outer(_ slot: Slot, for recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    do { return try object(at: slot) } catch {
      let steps = recipe.value.steps
      let taker = (0..<steps.count).map { self.recipe(steps[$0].slot) }.first { $0.value.takes(slot) } ?? recipe
      throw ResolutionContext.chain(from: taker, to: recipe).dropLast().reduce(error) { failure($0, of: $1) }
    }
  }

  /// Returns the object of a slot further out, built if need be, and retained for the caller.
  func object(at slot: Slot) throws -> ObjectReference {
    if let bean = slot.retainedBean { return bean }
    if let (owner, number) = owner(of: slot) { return try owner.with { try $0.bean(number) } }
    throw EnvironmentError(
      .unresolvedPlaceholder, "a value is needed by a configuration source, before the configuration is complete")
  }

  /// Returns the environment of a slot, which is this one or further out, and the slot's number; nil for the place of a
  /// value.
  func owner(of slot: Slot) -> (environment: Unretained<Environment>, number: Int32)? {
    for environment in outwards {
      if let number = environment.with({ $0.ownSlot(slot) }) { return (environment, number) }
    }
    return nil
  }

  /// This environment, and those further out.
  var outwards: some Sequence<Unretained<Environment>> {
    sequence(first: Unretained(self)) { $0.with { $0.core.parent } }
  }

  /// Returns the number of a slot of this environment; nil for other slots.
  func ownSlot(_ slot: Slot) -> Int32? {
    core.plan.flatMap { plan in
      plan.with { if $0.isPlain { core.slots.number(of: slot, among: $0.layout.slots) } else { nil } }
    }
  }

  // MARK: the record of a startup

  /// Builds a bean, unless it exists.
  ///
  /// - Parameter record: receives the time of the build, and those of its dependencies; nil where none is kept.
  func build(_ recipe: FrozenReference<Recipe>, _ record: StartupRecord?) throws {
    guard let record else { return try bean(recipe.value.slot).release() }
    if core.slots[recipe.value.slot].content.isFilled { return }
    try ResolutionContext.with(Unretained(self), recipe) { try ensure(recipe, $0, isInside: true, record) }
    try build(recipe, for: nil, record)
  }

  /// Builds a bean whose dependencies exist, and records its time and those of the beans that its factory looks up.
  private func build(
    _ recipe: FrozenReference<Recipe>, for taker: FrozenReference<Recipe>?, _ record: StartupRecord?
  ) throws {
    guard let record else { return try bean(recipe.value.slot).release() }
    let logged = core.lock.withLock { createdBeans }
    let began = ContinuousClock.now
    try bean(recipe.value.slot).release()
    let duration = ContinuousClock.now - began
    let created = core.lock.withLock { (logged..<createdBeans).map { creationLog[$0] } }
    record.add(
      created.map { built in
        let isOwn = built == recipe.value.slot
        return if isOwn { recipe.time(duration, for: taker) } else { self.recipe(built).time(nil, for: recipe) }
      })
  }

  // MARK: failures

  /// Returns the error of a build that cannot wait for an asynchronous creation: `.notReady`, or `.cyclicDependency`
  /// where the creation waits for the caller.
  private func notReady(_ recipe: FrozenReference<Recipe>) throws -> EnvironmentError {
    let slot = recipe.value.slot
    let creation = existingExtras?.builds.withLock { $0[slot] }
    // The last step is the bean itself.
    try creation?.checkWait(between: { ResolutionContext.steps.dropLast() })
    var error = recipe.value.definition.fault(
      .notReady,
      "\(recipe.value.definition.label) is created asynchronously and is not there yet: call 'try await ready()' or "
        + "'try await getBean(awaiting: …)'")
    error.missing = MissingBean(environment: self, slot: slot)
    return error
  }

  func tooDeep(_ recipe: FrozenReference<Recipe>) -> EnvironmentError {
    recipe.value.definition.fault(
      .deepBuild,
      "builds are nested too deeply: the thread has no stack left for \(recipe.value.definition.label)")
  }

  /// - Parameters:
  ///   - recipe: the bean that this thread is building further out.
  ///   - isInside: whether the innermost context is the one that requests the bean again.
  func circle(closing recipe: FrozenReference<Recipe>, isInside: Bool = false) -> EnvironmentError {
    let steps = ResolutionContext.circle(closing: recipe, in: self, isInside: isInside)
    let path = steps.map(\.label).joined(separator: " → ")
    return recipe.value.definition.fault(
      .circleOfLookups, "\(path); break the circle with a Provider that is called later", steps: steps)
  }

  /// Returns the error that a build throws: an error of the container with a longer path, any other error as
  /// `.creationFailed`.
  func failure(_ error: any Error, of recipe: FrozenReference<Recipe>) -> EnvironmentError {
    let bean = recipe.value.definition
    let label = bean.label
    if let error = error as? EnvironmentError {
      // A circle names every bean on it; a longer path would hide where it closes.
      if error.code == .cyclicDependency || error.path.first == label { return error }
      return error.within(label, declaredAt: bean.location.origin)
    }
    return EnvironmentError(
      .creationFailed, "\(label) could not be created: \(error)", steps: [bean.step],
      origin: bean.location.origin, underlying: [error])
  }
}

/// A bean that does not exist yet, as part of an error.
struct MissingBean: Sendable {
  weak let environment: Environment?
  let slot: Int32

  /// Whether the bean exists by now.
  var isThere: Bool { environment?.core.slots[slot].content.isFilled == true }
}

extension EnvironmentError {
  /// The bean whose creation a build would have to await.
  var missingBean: MissingBean? { missing as? MissingBean }
}

extension FrozenReference<Recipe> {
  /// Returns the entry of a bean in a startup record.
  func time(_ duration: Duration?, for parent: FrozenReference<Recipe>? = nil) -> StartupTime {
    StartupTime(
      bean: value.definition.label, origin: value.definition.location.origin, duration: duration,
      parent: parent?.value.definition.label)
  }
}
