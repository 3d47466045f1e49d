import Synchronization

/// Evaluation of operands, for callers that prevent the release of the environment.
extension Environment {
  /// Returns the argument of an operand.
  ///
  /// - Parameters:
  ///   - operand: the origin of the argument.
  ///   - isCounted: whether the object of a `counted` operand has been retained already for this call.
  func argument(_ operand: Operand, isCounted: Bool = false) throws -> Argument {
    switch operand.place {
    case .counted(let slot) where isCounted: return Argument(core.slots[slot].content.object, operand.reading)
    case .counted(let slot), .own(let slot): return Argument(try bean(slot), operand.reading)
    case .outer(let slot): return Argument(try object(at: slot), operand.reading)
    case .computed(let number): return Argument(try evaluate(number).object, operand.reading)
    }
  }

  /// Returns a bean: a new instance, or the one that this environment or a user's scope keeps.
  func instance(of recipe: FrozenReference<Recipe>) throws -> AnyObject {
    let object: ObjectReference =
      switch recipe.value.kind {
      case .slot: try bean(recipe.value.slot)
      case .scoped: try ScopedBean(recipe, in: self).askScope()
      case .prototype, .product: try buildUntracked(recipe).object
      }
    return object.take(as: AnyObject.self)
  }

  func evaluate(_ number: Int32) throws -> Argument {
    try core.compiledPlan.with { try evaluate($0.computations[Int(number)]) }
  }

  func evaluate(_ computation: Computation) throws -> Argument {
    switch computation {
    case .outer(let hops, let slot):
      return Argument(try ancestor(hops).with { try $0.bean(slot) }, .reference)
    case .slot(let slot): return Argument(try object(at: slot), .reference)
    case .prototype(let number): return Argument(try buildUntracked(recipe(number)).object, .reference)
    case .scoped(let number, let hops):
      return Argument(try ancestor(hops).with { try ScopedBean($0.recipe(number), in: $0).askScope() }, .reference)
    case .collected(let computations, let ids, let parameter):
      if let type = parameter.assembled {
        return Argument(CollectedObjects(try objects(of: computations), type), .assembled)
      }
      let beans = try computations.map { try evaluate($0).takeAny() }
      return try boxed(.beans(ids.isEmpty ? beans : zip(ids, beans).flatMap { [$0, $1] }), as: parameter)
    case .deferred(let computation, let reading, let parameter):
      return try boxed(.deferred(Deferral(self, computation, reading)), as: parameter)
    case .owned(let number, let parameter): return try own(number, as: parameter)
    case .absent(let parameter):
      return parameter.isReference ? .none : try boxed(.beans([]), as: parameter)
    case .provider(let parameter, let id, let module):
      let isCurrent = if case .current = parameter.kind { true } else { false }
      let isOfTaker = parameter.providesOwned
      let lookup: any BeanLookup =
        isCurrent || isOfTaker || module != nil
        ? LimitedLookup(self, module, inCurrentChild: isCurrent, ownedByTaker: isOfTaker) : self
      return try boxed(.lookup(lookup, id: id), as: parameter)
    case .part(.environment): return Argument(self, .reference)
    case .part(.configuration): return Argument(configuration, .reference)
    case .injection(let inject, let property, let parameter):
      return try compute(inject, property, parameter)
    case .composed(let operands, let type, let parameter):
      let parts = try operands.map { try argument($0).takeAny() }
      guard let value = type.assemble(parts), let argument = parameter.argument(given: value) else {
        throw EnvironmentError(cause: .repeatedKey, "two entries of a \(parameter.wanted) have the same key")
      }
      return argument
    case .products(let number):
      return Argument(ValueBox<any ProductBuilder>(ProductAssembly(self, recipe(number))), .boxed)
    }
  }

  /// Returns the objects of beans of classes, retained for the caller.
  private func objects(of computations: [Computation]) throws -> [ObjectReference] {
    var objects: [ObjectReference] = []
    objects.reserveCapacity(computations.count)
    do {
      for computation in computations { if let object = try evaluate(computation).object { objects.append(object) } }
    } catch {
      for object in objects { object.release() }
      throw error
    }
    return objects
  }

  private func boxed(_ source: BeanSource, as parameter: Parameter) throws -> Argument {
    if let box = parameter.box(source) { return Argument(box, .boxed) }
    let types = source.beans.map { "\(type(of: $0))" }.joined(separator: ", ")
    throw EnvironmentError(.typeMismatch, "\(types) is not a \(parameter.element)")
  }

  /// Makes a bean that its taker owns, for callers that prevent the release of the environment.
  func own(_ number: Int32, as parameter: Parameter) throws -> Argument {
    let recipe = recipe(number)
    let owned = try ResolutionContext.with(Unretained(self), nil) { context in
      let notes = context.value.notes
      notes.parts = []
      do {
        let object = try buildUntracked(recipe).object.take(as: AnyObject.self)
        let owned = own(object, notes.parts ?? [])
        context.value.outer?.value.collection?.parts?.append(.owned(owned))
        return owned
      } catch {
        // The parts that were made before the failure have no owner.
        own(nil, notes.parts ?? []).releaseWhatNeedNotBeAwaited()
        throw error
      }
    }
    return try boxed(.owned(owned), as: parameter)
  }

  /// Makes the content of an `Owned` from the objects that were made for it.
  ///
  /// - Parameters:
  ///   - object: the bean; nil where its build has failed.
  ///   - parts: all objects that were made for it, oldest first. The bean is one of them, unless it is a face of another
  ///     bean.
  private func own(_ object: AnyObject?, _ parts: [BuildNotes.Part]) -> OwnedBean {
    let position = core.lock.withLock { createdBeans }
    let extras = extras
    extras.needsCare.store(true, ordering: .relaxed)
    func add(_ bean: OwnedBean) -> OwnedBean {
      extras.add(owned: bean)
      return bean
    }
    var ending: BeanEnding?
    let inner = parts.compactMap { part -> OwnedBean? in
      switch part {
      case .owned(let bean): return bean
      case .prototype(let made, let recipe) where made === object:
        ending = BeanEnding(made, of: recipe)
        return nil
      case .prototype(let made, let recipe):
        return BeanEnding(made, of: recipe).map { add(OwnedBean(made, $0, in: self, position: position)) }
      }
    }
    let owned = OwnedBean(object, ending, and: inner, in: self, position: position)
    // Without a bean, the environment has only the parts to release.
    return object == nil ? owned : add(owned)
  }
}

extension Argument {
  func release() { object?.release() }
}

/// Builds the products of one factory bean.
final class ProductAssembly: ProductBuilder {
  private let environment: Environment
  private let recipe: FrozenReference<Recipe>
  /// Whether a product is complete when its function has been called with the content of slots.
  private let isPlain: Bool

  init(_ environment: Environment, _ recipe: FrozenReference<Recipe>) {
    self.environment = environment
    self.recipe = recipe
    isPlain =
      recipe.value.work.isEmpty && recipe.value.identity != Recipe.unknownClass
      && environment.core.compiledPlan.with { $0.isPlain }
  }

  func begin() throws -> (arguments: Arguments, use: HazardPointer)? {
    guard isPlain, let use = HazardPointer.protecting(Unretained(environment)) else { return nil }
    if environment.core.lifecycle.isOpen, environment.isComplete(recipe) {
      return (Arguments(recipe.value.operands, environment.core.slots), use)
    }
    end(use)
    return nil
  }

  func end(_ use: HazardPointer) { environment.endUse(use) }

  func build(_ create: (Arguments) throws -> AnyObject) throws -> AnyObject {
    try using {
      defer { environment.used() }
      return try environment.untracked(recipe) { _, _ in
        let made = try environment.make(recipe, isCounted: false, create)
        return try environment.complete(made, recipe).object.take(as: AnyObject.self)
      }
    }
  }

  /// Runs `body` while nothing is released. If the environment has ended, the error names the factory that was called.
  private func using<R>(_ body: () throws -> R) throws -> R {
    do { try environment.enter() } catch let error as EnvironmentError {
      let factory = recipe.value.step
      throw error.origin == nil ? error.within(factory.label, declaredAt: factory.origin) : error
    }
    defer { environment.leave() }
    return try body()
  }

  func complete(_ object: AnyObject) throws -> AnyObject {
    try using {
      try environment.untracked(recipe) { _, _ in
        let reference = ObjectReference(object)
        try environment.completeUnforeseen(reference, recipe)
        return reference.take(as: AnyObject.self)
      }
    }
  }

  func failure(_ error: any Error) -> EnvironmentError { environment.failure(error, of: recipe) }
}
