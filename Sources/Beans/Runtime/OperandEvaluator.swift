import Synchronization

/// Evaluation of operands, for callers that prevent the release of the environment.
extension Environment {
  /// Returns the argument of an operand.
  func argument(_ operand: Operand) throws -> Argument {
    Argument(try object(of: operand.place), operand.reading)
  }

  /// Returns the object at the place of an operand, retained for the caller; nil for an optional without a bean.
  func object(of place: Operand.Place) throws -> ObjectReference? {
    switch place {
    // The step that filled the slot has retained the object.
    case .counted(let slot): return core.slots[slot].content.object
    case .own(let slot): return try bean(slot)
    case .outer(let slot): return try object(at: slot)
    case .computed(let number): return try core.compiledPlan.with { try evaluate($0.computations[Int(number)]) }
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

  /// Returns the object of a computation, retained for the caller; nil for an optional without a bean.
  func evaluate(_ computation: Computation) throws -> ObjectReference? {
    switch computation {
    case .outer(let hops, let slot): return try ancestor(hops).with { try $0.bean(slot) }
    case .slot(let slot): return try object(at: slot)
    case .prototype(let number): return try buildUntracked(recipe(number)).object
    case .scoped(let number, let hops):
      return try ancestor(hops).with { try ScopedBean($0.recipe(number), in: $0).askScope() }
    case .collected(let computations, let ids, let parameter):
      if let type = parameter.assembled {
        return ObjectReference(CollectedObjects(try objects(of: computations), type))
      }
      let beans = try computations.map { try evaluate($0).takeAny() }
      return try boxed(.beans(ids.isEmpty ? beans : zip(ids, beans).flatMap { [$0, $1] }), as: parameter)
    case .deferred(let computation, let reading, let parameter):
      return try boxed(.deferred(Deferral(self, computation, reading)), as: parameter)
    case .owned(let number, let parameter): return try own(number, as: parameter)
    case .absent(let parameter):
      return if parameter.isReference { nil } else { try boxed(.beans([]), as: parameter) }
    case .provider(let parameter, let id, let module):
      let isCurrent = if case .current = parameter.kind { true } else { false }
      let isLimited = isCurrent || parameter.providesOwned || module != nil
      let lookup: any BeanLookup = if isLimited { LimitedLookup(self, module, parameter) } else { self }
      return try boxed(.lookup(lookup, id: id), as: parameter)
    case .part(.environment): return ObjectReference(self)
    case .part(.configuration): return ObjectReference(configuration)
    case .injection(let request, let property, let parameter):
      return try compute(request, property, parameter).object
    case .composed(let operands, let type, let parameter):
      let parts = try operands.map { try object(of: $0.place).takeAny() }
      guard let value = type.assemble(parts), let argument = parameter.argument(given: value) else {
        throw EnvironmentError(cause: .repeatedKey, "two entries of a \(parameter.wanted) have the same key")
      }
      return argument.object
    case .products(let number):
      return ObjectReference(ValueBox<any ProductBuilder>(ProductAssembly(self, recipe(number))))
    }
  }

  /// Returns the objects of beans of classes.
  private func objects(of computations: [Computation]) throws -> [AnyObject] {
    var objects: [AnyObject] = []
    objects.reserveCapacity(computations.count)
    for computation in computations {
      if let object = try evaluate(computation) { objects.append(object.take(as: AnyObject.self)) }
    }
    return objects
  }

  private func boxed(_ source: BeanSource, as parameter: Parameter) throws -> ObjectReference {
    if let box = parameter.box(source) { return ObjectReference(box) }
    let types = source.beans.map { "\(type(of: $0))" }.joined(separator: ", ")
    throw EnvironmentError(.typeMismatch, "\(types) is not a \(parameter.element)")
  }

  /// Makes a bean that its taker owns, for callers that prevent the release of the environment.
  private func own(_ number: Int32, as parameter: Parameter) throws -> ObjectReference {
    let recipe = recipe(number)
    let owned = try ResolutionContext.with(Unretained(self), nil) { context in
      let notes = context.value.notes
      notes.parts = []
      do {
        let object = try buildUntracked(recipe).object.take(as: AnyObject.self)
        let owned = OwnedBean(object, madeOf: notes.parts ?? [], in: self)
        context.value.outer?.value.collection?.parts?.append(.owned(owned))
        return owned
      } catch {
        // The parts that were made before the failure have no owner.
        OwnedBean(nil, madeOf: notes.parts ?? [], in: self).releaseWhatNeedNotBeAwaited()
        throw error
      }
    }
    return try boxed(.owned(owned), as: parameter)
  }
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
        let made = try environment.make(recipe, create)
        return try environment.complete(made, recipe).object.take(as: AnyObject.self)
      }
    }
  }

  /// Runs `body` while nothing is released. If the environment has ended, the error names the factory that was called.
  private func using<R>(_ body: () throws -> R) throws -> R {
    do { try environment.enter() } catch let error as EnvironmentError {
      let factory = recipe.value.definition.step
      if error.origin == nil { throw error.within(factory.label, declaredAt: factory.origin) }
      throw error
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
