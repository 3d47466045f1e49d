/// Connecting properties: those of the declaration, and those the class itself has injections for.
extension Linker {
  /// A property of the declaration, connected.
  private typealias Declared = (injection: PropertyInjection, property: Recipe.Property)

  mutating func linkProperties(of recipe: Recipe) {
    if recipe.definition.properties.isEmpty, recipe.definition.injections.isEmpty { return }
    var declared: [Declared] = []
    for property in recipe.definition.properties {
      guard let access = property.access,
        let edge = settle(property.value, as: access.dependency, of: recipe, .property(property.name))
      else { continue }
      declared.append((property, Recipe.Property(.edge(edge), access)))
    }
    if recipe.definition.injections.isEmpty {
      recipe.properties = declared.map(\.property)
      return
    }
    let injected = linkInjections(of: recipe, &declared)
    // A key path may lead to an injected property: the declaration has the last word.
    recipe.properties =
      declared.filter { !$0.injection.isPath }.map(\.property) + injected
      + declared.filter(\.injection.isPath).map(\.property)
  }

  private mutating func linkInjections(of recipe: Recipe, _ declared: inout [Declared]) -> [Recipe.Property] {
    recipe.definition.injections.compactMap { injection in
      guard let stopgap = injection.stopgap, declared.contains(where: { $0.injection.sets(injection) == .maybe }) else {
        return property(for: injection, of: recipe)
      }
      let (faults, inactive) = (recipe.faults, recipe.inactive)
      recipe.inactive = nil
      let property = property(for: injection, of: recipe)
      let fault = recipe.faults.count > faults.count ? recipe.faults.last : recipe.inactive
      // What is wrong with it does not matter where the declaration sets the property; that shows when it does.
      (recipe.faults, recipe.inactive) = (faults, inactive)
      if let fault { guess(injection, stopgap, fault, &declared) }
      return property
    }
  }

  /// Has the key paths that may lead to the property set it; where none did, the fault is a fault after all.
  private func guess(
    _ injection: ClassInjection, _ stopgap: ClassInjection.Stopgap, _ fault: EnvironmentError,
    _ declared: inout [Declared]
  ) {
    let candidates = declared.indices.filter { declared[$0].injection.sets(injection) == .maybe }
    for index in candidates {
      let set = declared[index].property.set
      declared[index].property = declared[index].property.setting { object, argument in
        if index == candidates.first { stopgap.set(object, argument) }
        try set(object, argument)
        if index == candidates.last, stopgap.isLeft(object) { throw fault }
      }
    }
  }

  private mutating func property(for injection: ClassInjection, of recipe: Recipe) -> Recipe.Property? {
    let dependency = injection.access.dependency
    let edge: Edge?
    switch injection.source {
    case .bean(let id): edge = connect(dependency, id: id.map { IdKey($0) }, of: recipe, .other(injection.place))
    case .named(let id):
      guard hasCandidateWithId(for: dependency, recipe.plan) else {
        recipe.faults.append(
          recipe.definition.fault(
            .unknownBean, "\(injection.place): no bean of type \(dependency.element) has an id"))
        return nil
      }
      return Recipe.Property(.named(id, dependency, at: injection.place), injection.access)
    case .configuration(let value):
      let fixed = recipe.definition.fixedValue(.configuration(value), dependency, at: injection.place)
      edge = Edge(dependency, .fixed(fixed))
    case .custom(let inject): edge = computed(inject, injection, of: recipe)
    }
    return edge.map { Recipe.Property(.edge($0), injection.access) }
  }

  private func hasCandidateWithId(for dependency: Dependency, _ plan: Plan) -> Bool {
    // A provider may reach into scopes that open later.
    if case .provider = dependency.shape { return true }
    return plan.chain.contains { $0.plan.candidates(for: dependency.element).contains { $0.id != nil } }
  }

  private func computed(_ inject: Inject, _ injection: ClassInjection, of recipe: Recipe) -> Edge? {
    guard recipe.plan.chain.contains(where: { $0.plan.hasInjectionBean }) else {
      recipe.faults.append(
        recipe.definition.fault(
          .invalidDeclaration, "\(injection.place): no Injection is defined that serves \(type(of: inject))"))
      return nil
    }
    return Edge(injection.access.dependency, .computed(inject, injection.property))
  }
}

extension PropertyInjection {
  fileprivate var isPath: Bool { if case .path = name { true } else { false } }
}
