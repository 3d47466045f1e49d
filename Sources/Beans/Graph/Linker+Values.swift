/// Settling what declarations say about parameters and properties.
extension Linker {
  /// What a declaration says about one parameter or property, as an edge.
  mutating func settle(
    _ value: BeanValue, as dependency: Dependency, of recipe: Recipe, _ place: String
  ) -> Edge? {
    switch value {
    case .value(let value): fixed(.value(value), dependency, of: recipe, place)
    case .text(let text): fixed(.text(text), dependency, of: recipe, place)
    case .null: null(dependency, of: recipe, place)
    case .reference(let id): connect(dependency, id: id, of: recipe, place)
    case .inject(let inject): connect(dependency, id: inject.id, of: recipe, place)
    case .bean(let bean): connect(dependency, to: bean, of: recipe, place)
    case .list(let elements): collect(elements.map { (nil, $0) }, dependency, of: recipe, place)
    case .map(let entries): collect(entries.map { ($0.key, $0.value) }, dependency, of: recipe, place)
    }
  }

  /// A collection, element by element: fixed where all elements are, else put together anew for each bean.
  private mutating func collect(
    _ entries: [(key: BeanValue?, value: BeanValue)], _ dependency: Dependency, of recipe: Recipe, _ place: String
  ) -> Edge? {
    let isMap = entries.contains { $0.key != nil }
    guard let collection = dependency.wanted as? any CollectionType.Type,
      entries.isEmpty || isMap == (collection.key != nil)
    else {
      recipe.faults.append(
        recipe.definition.fault(.typeMismatch, "\(place): a \(isMap ? "map" : "list") is not a \(dependency.wanted)"))
      return nil
    }
    var parts: [Edge] = []
    for (index, entry) in entries.enumerated() {
      if let key = entry.key, let type = collection.key {
        guard let part = settle(key, as: type, of: recipe, "\(place), key \(index)") else { continue }
        parts.append(part)
      }
      let part = settle(entry.value, as: collection.element, of: recipe, "\(place), element \(index)")
      if let part { parts.append(part) }
    }
    guard parts.count == entries.count * (isMap ? 2 : 1) else { return nil }
    let values = parts.compactMap(\.fixedValue)
    if values.count == parts.count { return fixed(.parts(values, collection), dependency, of: recipe, place) }
    return Edge(dependency, .composed(Composition(parts: parts, type: collection)))
  }

  /// Settled later, when no lock is held: conversions are the user's code. See `ValueSettler`.
  func fixed(_ given: FixedValue.Given, _ dependency: Dependency, of recipe: Recipe, _ place: String) -> Edge {
    Edge(dependency, .fixed(recipe.definition.fixedValue(given, dependency, at: place)))
  }

  private func null(_ dependency: Dependency, of recipe: Recipe, _ place: String) -> Edge? {
    let null = Any?.none as Any
    guard let argument = dependency.argument(fixed: null) else {
      recipe.faults.append(recipe.definition.fault(.typeMismatch, "\(place): nil is not a \(dependency.wanted)"))
      return nil
    }
    argument.release()
    return fixed(.value(null), dependency, of: recipe, place)
  }

  /// How a property is set; nil, and a fault, where the bean's class has none of that name.
  func access(to property: PropertyInjection, of recipe: Recipe) -> PropertyAccess? {
    if let access = property.access { return access }
    guard case .text(let name) = property.name else { return nil }
    do { return try PropertyAccess.named(name, of: recipe.definition.type) } catch {
      recipe.report(error)
      return nil
    }
  }
}

extension Edge {
  fileprivate var fixedValue: FixedValue? { if case .fixed(let value) = source { value } else { nil } }
}
