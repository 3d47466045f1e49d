import CBeansRuntime

/// Making one instance, once what it needs can be had. Everything here runs between `enter` and `leave`.
extension Environment {
  /// A new instance that nobody keeps.
  func buildUntracked(_ recipe: Recipe) throws -> AnyObject {
    if Frame.isBuilding(recipe, in: self) { throw cycle(closing: recipe) }
    do {
      if beans_stack_is_low() { throw tooDeep(.passUnretained(recipe)) }
      return try make(recipe)
    } catch { throw failure(error, of: recipe) }
  }

  /// The same for what takes nothing but beans in plain environments, while those stand.
  @inline(__always)
  func buildRooted(_ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    let recipe = settled.pointee.recipe
    // From a factory, it may be about to close a circle.
    if Frame.innermost != nil || beans_stack_is_low() || !settled.pointee.isStanding {
      return try recipe._withUnsafeGuaranteedRef { try buildUntracked($0) }
    }
    do {
      return try Frame.with(self, recipe, leads: false) { try call(settled, slots) }
    } catch { throw failure(error, of: recipe.takeUnretainedValue()) }
  }

  func make(_ recipe: Recipe) throws -> AnyObject {
    try Frame.with(self, .passUnretained(recipe), leads: false) {
      // Every recipe of a plan that environments use is frozen.
      try make(recipe.flat.unsafelyUnwrapped)
    }
  }

  @inline(__always)
  func make(_ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    let care = settled.pointee.care
    guard care == .plain else {
      return try care == .full ? makeWithCare(settled) : makeFollowed(settled)
    }
    return try checked(try callFactory(settled), settled)
  }

  /// What a factory has made, where that is all there is to be done.
  @inline(__always)
  private func checked(_ object: AnyObject, _ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    if UInt(bitPattern: ObjectIdentifier(type(of: object))) == settled.pointee.identity { return object }
    return try completeUnforeseen(object, settled.pointee.recipe.takeUnretainedValue())
  }

  /// The bean of a direct plan that stands.
  @inline(__always)
  func call(_ settled: UnsafeMutablePointer<SlotPlan>, _ slots: UnsafeMutablePointer<Slot>) throws -> AnyObject {
    try checked(create(settled, settled.pointee.arguments(slots)), settled)
  }

  /// Says what it does.
  @inline(never)
  private func makeFollowed(_ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    let (log, recipe) = (plan.log, settled.pointee.recipe.takeUnretainedValue())
    log.creating(recipe, in: name)
    do {
      let object = try makeWithCare(settled)
      log.created(recipe, in: name)
      return object
    } catch {
      log.failed(recipe, in: name, error)
      throw error
    }
  }

  @inline(never)
  private func makeWithCare(_ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    try settled.pointee.recipe._withUnsafeGuaranteedRef { recipe in
      if recipe.isInactive, let inactive = recipe.inactive { throw inactive }
      for edge in recipe.prerequisites { try prepare(edge) }
      let object = try callFactory(settled)
      return try complete(object, recipe, recipe.traits(of: object))
    }
  }

  /// Follows an edge for its effect.
  private func prepare(_ edge: Edge) throws {
    if case .bean(let recipe, let hops) = edge.source { _ = try instance(of: recipe, hops: hops) }
  }

  /// The factory has made an instance of a subclass, or of a type that no plan could know.
  @inline(never)
  private func completeUnforeseen(_ object: AnyObject, _ recipe: Recipe) throws -> AnyObject {
    let traits = recipe.traits(of: object)
    return traits.isDisjoint(with: [.aware, .bean, .injected]) ? object : try complete(object, recipe, traits)
  }

  @inline(__always)
  private func callFactory(_ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    try ResolvedArguments.with(settled.pointee.stepCount) { arguments in
      try arguments.resolve(settled.pointee.stepCount) { index in
        let step = settled.pointee.steps + index
        guard let access = step.pointee.access else {
          return try step.pointee.edge._withUnsafeGuaranteedRef { try convertedArgument(for: $0) }
        }
        let object =
          try settled.pointee.places[index].slot?.pointee.object
          ?? object(Int(step.pointee.slot), Int(step.pointee.hops))
        return Argument(object: object, access: access, isOwned: false)
      }
      return try create(settled, Arguments(arguments))
    }
  }

  /// Calls the factory, which takes its arguments over.
  @inline(__always)
  private func create(_ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: Arguments) throws -> AnyObject {
    try settled.pointee.constructor._withUnsafeGuaranteedRef { try $0.create(arguments) }
  }
}
