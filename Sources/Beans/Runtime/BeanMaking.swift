import BeansErrors
@_spi(BeansPackage) import BeansSupport

// Calls of factories, from dependencies that exist.

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
    if recipe.value.work.contains(.await) { throw notReady(recipe) }
    let log = recipe.value.work.contains(.trace) ? log : nil
    log?.creating(recipe.value.label, in: name)
    do {
      let object = try complete(callFactory(of: recipe), recipe).object
      log?.created(recipe.value.label, in: name)
      return object
    } catch {
      log?.failed(recipe.value.label, in: name, error)
      throw error
    }
  }

  /// Returns the object that a recipe's factory makes, before its completion.
  func callFactory(of recipe: FrozenReference<Recipe>) throws -> ObjectReference {
    // Slots hold no beans yet if a requirement has to be resolved first.
    let isCounted = recipe.value.requirements.isEmpty
    do { return try recipe.value.function.with { try make(recipe, isCounted: isCounted, $0.create) } } catch {
      if isCounted { giveBack(recipe.value.properties) }
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
  ///
  /// - Parameters:
  ///   - recipe: the recipe, with the operands.
  ///   - isCounted: whether `counted` operands have been retained for this call; otherwise all operands are evaluated.
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

  /// Returns the error of a build that cannot wait for an asynchronous creation: `.notReady`, or `.cyclicDependency`
  /// where the creation waits for the caller.
  private func notReady(_ recipe: FrozenReference<Recipe>) -> EnvironmentError {
    let slot = recipe.value.slot
    let creation = existingExtras?.builds.withLock { $0[slot] }
    // The last step is the bean itself.
    if let circle = creation?.circleOfLookup(between: { ResolutionContext.steps.dropLast() }) { return circle }
    var error = recipe.value.fault(
      .notReady,
      "\(recipe.value.label) is created asynchronously and is not there yet: call 'try await ready()' or "
        + "'try await readyBean(…)'")
    error.missing = MissingBean(environment: self, slot: slot)
    return error
  }

  func tooDeep(_ recipe: FrozenReference<Recipe>) -> EnvironmentError {
    recipe.value.fault(
      .deepBuild,
      "builds are nested too deeply: the thread has no stack left for \(recipe.value.label)")
  }

  /// - Parameters:
  ///   - recipe: the bean that this thread is building further out.
  ///   - isInside: whether the innermost context is the one that requests the bean again.
  func circle(closing recipe: FrozenReference<Recipe>, isInside: Bool = false) -> EnvironmentError {
    let steps = ResolutionContext.circle(closing: recipe, in: self, isInside: isInside)
    let path = steps.map(\.label).joined(separator: " → ")
    return recipe.value.fault(
      .circleOfLookups, "\(path); break the circle with a Provider that is called later", steps: steps)
  }

  /// Returns the error that a build throws: an error of the container with a longer path, any other error as
  /// `.creationFailed`.
  func failure(_ error: any Error, of recipe: FrozenReference<Recipe>) -> EnvironmentError {
    let label = recipe.value.label
    if let error = error as? EnvironmentError {
      // A circle names every bean on it; a longer path would hide where it closes.
      return error.code == .cyclicDependency || error.path.first == label
        ? error : error.within(label, declaredAt: recipe.value.origin)
    }
    return EnvironmentError(
      .creationFailed, "\(label) could not be created: \(error)", steps: [recipe.value.step],
      origin: recipe.value.origin, underlying: [error])
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
