/// Settling what declarations say about parameters and properties.
extension Linker {
  /// What a declaration says about one parameter or property, as an edge.
  mutating func settle(
    _ value: BeanValue, as dependency: Dependency, of recipe: Recipe, _ place: String
  ) -> Edge? {
    switch value {
    case .value(let value): fixed(value, dependency, of: recipe, place)
    case .text(let text): fixed(text, dependency, of: recipe, place)
    case .null: fixed(Any?.none as Any, dependency, of: recipe, place)
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
    let composition = Composition(parts: parts, type: collection)
    guard composition.isFixed else { return Edge(dependency, .composed(composition)) }
    guard let fixed = composition.fixed else {
      recipe.faults.append(recipe.definition.fault(.invalidDeclaration, "\(place): two entries have the same key"))
      return nil
    }
    return self.fixed(fixed, dependency, of: recipe, place)
  }

  func fixed(_ value: Any, _ dependency: Dependency, of recipe: Recipe, _ place: String) -> Edge? {
    if let argument = dependency.argument(fixed: value) { return Edge(dependency, .fixed(argument)) }
    recipe.faults.append(
      recipe.definition.fault(
        .typeMismatch, "\(place): \(Self.name(of: value)) is not a \(dependency.wanted)"))
    return nil
  }

  func configured(_ value: InjectConfigurationValue, _ dependency: Dependency, of recipe: Recipe, _ place: String)
    -> Edge?
  {
    recipe.faults.append(recipe.definition.fault(.missingConfiguration, place))
    return nil
  }

  private static func name(of value: Any) -> String { "\(type(of: value))" }

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
