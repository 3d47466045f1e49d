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
    if Frame.innermost != nil || beans_stack_is_low() || settled.pointee.stepCount > SlotPlan.fewArguments {
      return try recipe._withUnsafeGuaranteedRef { try buildUntracked($0) }
    }
    return try withUnsafeTemporaryAllocation(of: Argument.self, capacity: SlotPlan.fewArguments) { buffer in
      // There is room for some.
      let arguments = buffer.baseAddress.unsafelyUnwrapped
      for index in 0..<settled.pointee.stepCount {
        let step = settled.pointee.steps + index
        guard let access = step.pointee.access, let object = step.pointee.fixed?.pointee.object else {
          return try recipe._withUnsafeGuaranteedRef { try buildUntracked($0) }
        }
        (arguments + index).initialize(to: Argument(object: object, access: access, isOwned: false))
      }
      do {
        return try Frame.with(self, recipe, leads: false) { try call(settled, arguments) }
      } catch { throw failure(error, of: recipe.takeUnretainedValue()) }
    }
  }

  func make(_ recipe: Recipe) throws -> AnyObject {
    try Frame.with(self, .passUnretained(recipe), leads: false) {
      try withUnsafeTemporaryAllocation(of: Argument.self, capacity: SlotPlan.fewArguments) {
        // Every recipe of a plan that environments use is frozen.
        try make(recipe.flat.unsafelyUnwrapped, $0)
      }
    }
  }

  @inline(__always)
  func make(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    let care = settled.pointee.care
    guard care == .plain else {
      return try care == .full ? makeWithCare(settled, arguments) : makeFollowed(settled, arguments)
    }
    return try checked(try callFactory(settled, arguments), settled)
  }

  /// What a factory has made, where that is all there is to be done.
  @inline(__always)
  private func checked(_ object: AnyObject, _ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    if UInt(bitPattern: ObjectIdentifier(type(of: object))) == settled.pointee.identity { return object }
    return try completeUnforeseen(object, settled.pointee.recipe.takeUnretainedValue())
  }

  @inline(__always)
  func call(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutablePointer<Argument>
  ) throws -> AnyObject {
    try checked(create(settled, arguments), settled)
  }

  /// Says what it does.
  @inline(never)
  private func makeFollowed(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    let (log, recipe) = (plan.log, settled.pointee.recipe.takeUnretainedValue())
    log.creating(recipe, in: name)
    do {
      let object = try makeWithCare(settled, arguments)
      log.created(recipe, in: name)
      return object
    } catch {
      log.failed(recipe, in: name, error)
      throw error
    }
  }

  @inline(never)
  private func makeWithCare(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    try settled.pointee.recipe._withUnsafeGuaranteedRef { recipe in
      if recipe.isInactive, let inactive = recipe.inactive { throw inactive }
      for edge in recipe.prerequisites { try prepare(edge) }
      let object = try callFactory(settled, arguments)
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

  /// `few` has room for a factory's arguments if there are not many.
  @inline(__always)
  private func callFactory(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ few: UnsafeMutableBufferPointer<Argument>
  ) throws -> AnyObject {
    settled.pointee.stepCount <= SlotPlan.fewArguments
      ? try callFactory(settled, few.baseAddress.unsafelyUnwrapped) : try callFactoryWithMany(settled)
  }

  @inline(never)
  private func callFactoryWithMany(_ settled: UnsafeMutablePointer<SlotPlan>) throws -> AnyObject {
    try withUnsafeTemporaryAllocation(of: Argument.self, capacity: settled.pointee.stepCount) {
      try callFactory(settled, $0.baseAddress.unsafelyUnwrapped)
    }
  }

  @inline(__always)
  private func callFactory(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutablePointer<Argument>
  ) throws -> AnyObject {
    let (steps, count) = (settled.pointee.steps, settled.pointee.stepCount)
    var resolved = 0
    do {
      while resolved < count {
        let step = steps + resolved
        let argument: Argument
        if let access = step.pointee.access {
          let object = try step.pointee.fixed?.pointee.object ?? object(step.pointee.slot, Int(step.pointee.hops))
          argument = Argument(object: object, access: access, isOwned: false)
        } else {
          argument = try step.pointee.edge._withUnsafeGuaranteedRef { try convertedArgument(for: $0) }
        }
        (arguments + resolved).initialize(to: argument)
        resolved += 1
      }
    } catch {
      for index in 0..<resolved { arguments[index].release() }
      throw error
    }
    return try create(settled, arguments)
  }

  /// Calls the factory, which takes its arguments over.
  @inline(__always)
  private func create(
    _ settled: UnsafeMutablePointer<SlotPlan>, _ arguments: UnsafeMutablePointer<Argument>
  ) throws -> AnyObject {
    try settled.pointee.constructor._withUnsafeGuaranteedRef { try $0.create(Arguments(UnsafePointer(arguments))) }
  }
}
