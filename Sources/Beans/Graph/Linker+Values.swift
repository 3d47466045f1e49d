/// Settling what declarations say about parameters and properties.
extension Linker {
  /// What a declaration says about one parameter or property, as an edge.
  ///
  /// Values are settled later, when no lock is held: conversions are the user's code. See `ValueSettler`.
  mutating func settle(_ value: BeanValue, as dependency: Dependency, of recipe: Recipe, _ place: Place) -> Edge? {
    if case .reference(let id) = value { return connect(dependency, id: IdKey(id), of: recipe, place) }
    if let fixed = recipe.definition.fixedValue(value, as: dependency, at: place) {
      return Edge(dependency, .fixed(fixed))
    }
    switch value {
    case .inject(let inject): return connect(dependency, id: inject.id.map { IdKey($0) }, of: recipe, place)
    case .bean(let bean): return connect(dependency, to: bean, of: recipe, place)
    case .list, .map: return compose(value, as: dependency, of: recipe, place)
    case .null, .value, .text, .reference:
      recipe.faults.append(recipe.definition.fault(.typeMismatch, "\(place): nil is not a \(dependency.wanted)"))
      return nil
    }
  }

  /// A collection with beans in it, put together anew for each owner.
  private mutating func compose(
    _ value: BeanValue, as dependency: Dependency, of recipe: Recipe, _ place: Place
  ) -> Edge? {
    guard let collection = value.collection(as: dependency) else {
      let kind = if case .map = value { "map" } else { "list" }
      recipe.faults.append(
        recipe.definition.fault(.typeMismatch, "\(place): a \(kind) is not a \(dependency.wanted)"))
      return nil
    }
    let parts = value.parts(of: collection, at: place.description)
    // All of them are looked at, so that all faults are found.
    var edges: [Edge] = []
    for part in parts {
      if let edge = settle(part.value, as: part.dependency, of: recipe, .other(part.place)) { edges.append(edge) }
    }
    guard edges.count == parts.count else { return nil }
    return Edge(dependency, .composed(Composition(parts: edges, type: collection)))
  }
}
