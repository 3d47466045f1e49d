/// Following edges. Everything here runs between `enter` and `leave`.
extension Environment {
  /// What an edge stands for in this environment. Not owned where a slot holds it.
  func argument(for edge: Edge) throws -> Argument {
    guard edge.slot >= 0, let access = edge.direct else { return try convertedArgument(for: edge) }
    return Argument(object: try object(edge.slot, edge.hops), access: access, isOwned: false)
  }

  /// The bean in a slot so many environments further out, built if need be.
  @inline(__always)
  func object(_ slot: Int, _ hops: Int) throws -> UnsafeRawPointer {
    if hops == 0 { return try slots[slot].object ?? build(slot) }
    return try ancestor(hops)._withUnsafeGuaranteedRef { owner in
      try owner.slots[slot].object ?? owner.build(slot)
    }
  }

  /// The same for edges that are not just a filled slot.
  @inline(never)
  func convertedArgument(for edge: Edge) throws -> Argument {
    if let prototype = edge.prototype, let access = edge.direct {
      let object = try prototype._withUnsafeGuaranteedRef { try buildUntracked($0) }
      return Argument(object: Unmanaged.passRetained(object).toOpaque(), access: access, isOwned: true)
    }
    if let form = edge.form {
      let object = try object(edge.slot, edge.hops)
      if form.fits(object) {
        return Argument(object: object, access: .existential, isOwned: false, form: .passUnretained(form))
      }
    }
    let dependency = edge.dependency
    switch edge.source {
    case .absent:
      if dependency.isReference { return Argument(object: nil, access: .reference, isOwned: false) }
      return try box([], for: edge)
    case .provider(let id):
      // `.provider` edges are only made for dependencies that have one.
      return Argument(owning: dependency.provider(in: self, id: id).unsafelyUnwrapped, access: .boxed)
    case .environment:
      return Argument(borrowing: self, access: .reference)
    case .configuration:
      return Argument(borrowing: plan.configuration, access: .reference)
    case .fixed(let value):
      return try value.borrowed()
    case .computed(let inject, let property):
      return try compute(inject, property, dependency)
    case .composed(let composition):
      return try compose(composition, for: edge)
    case .assembly(let product):
      return Argument(owning: Assembly(of: product, in: self), access: .reference)
    case .bean(let recipe, let hops):
      let object = try instance(of: recipe, hops: hops)
      if let access = edge.direct { return Argument(owning: object, access: access) }
      return try box([Box.open(object)], for: edge)
    case .all(let targets):
      return try box(targets.map { Box.open(try instance(of: $0.recipe, hops: $0.hops)) }, for: edge)
    }
  }

  private func compose(_ composition: Composition, for edge: Edge) throws -> Argument {
    let parts = try composition.parts.map { part in
      let argument = try argument(for: part)
      defer { argument.release() }
      return argument.any
    }
    guard let value = composition.type.assemble(parts), let argument = edge.dependency.argument(fixed: value) else {
      throw EnvironmentError(.invalidDeclaration, "two entries of a \(edge.dependency.wanted) have the same key")
    }
    return argument
  }

  private func box(_ beans: [Any], for edge: Edge) throws -> Argument {
    guard let box = edge.dependency.box(beans) else {
      let types = beans.map { "\(type(of: $0))" }.joined(separator: ", ")
      throw EnvironmentError(.typeMismatch, "\(types) is not a \(edge.dependency.element)")
    }
    return Argument(owning: box, access: .boxed)
  }

  /// The bean of a recipe: kept, new, or as its scope decides.
  func instance(of recipe: Recipe, hops: Int) throws -> AnyObject {
    switch recipe.kind {
    case .slot(let index):
      return Unmanaged<AnyObject>.fromOpaque(try object(index, hops)).takeUnretainedValue()
    case .prototype: return try buildUntracked(recipe)
    case .custom: return try ancestor(hops)._withUnsafeGuaranteedRef { try $0.askScope(for: recipe) }
    }
  }
}
