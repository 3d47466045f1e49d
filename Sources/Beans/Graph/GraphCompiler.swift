/// From declarations to a plan and everything that is wrong with it. No user code runs here.
struct GraphCompiler {
  private let plan: Plan
  private var linker: Linker
  private var faults: [EnvironmentError] = []

  /// Compiles the plan of a plain environment and of all factories below it. The plans of ancestors are compiled.
  ///
  /// - Returns: all faults; the plan is of no use unless there are none.
  static func compile(_ plan: Plan) -> [EnvironmentError] {
    var compiler = GraphCompiler(plan)
    let plans = [plan] + plan.descendants
    plans.forEach { compiler.collect($0) }
    plans.forEach { compiler.define($0) }
    plans.forEach { compiler.checkScopes($0) }
    plans.forEach { compiler.checkSources($0) }
    plans.forEach { compiler.link($0) }
    compiler.judge(plans)
    return compiler.faults
  }

  private init(_ plan: Plan) {
    self.plan = plan
    self.linker = Linker(expectsScopes: true)
  }

  /// Embedded declarations become beans of their own; ids become known.
  private mutating func collect(_ plan: Plan) {
    plan.reserve(plan.declarations.count)
    var all: [BeanDeclaration] = []
    all.reserveCapacity(plan.declarations.count)
    var rest: [BeanDeclaration] = []
    for declared in plan.declarations {
      // As nearly always.
      if !declared.mayHaveEmbedded {
        all.append(declared)
        register(declared, in: plan)
        continue
      }
      rest.append(declared)
      while let declaration = rest.popLast() {
        all.append(declaration)
        register(declaration, in: plan)
        for embedded in declaration.embedded.reversed() where !embedded.isDefined {
          embedded.isDefined = true
          rest.append(embedded)
        }
      }
    }
    plan.declarations = all
    faults += Alias.enter(in: plan)
  }

  private mutating func define(_ plan: Plan) {
    var templates = TemplateResolver(plan)
    var factories: [BeanDeclaration] = []
    for declaration in plan.declarations {
      templates.define(declaration) { definition in
        if definition.product != nil, let earlier = plan.candidates(for: definition.type).first {
          faults.append(
            definition.fault(
              .invalidDeclaration, "a factory is bound once per tag, and \(earlier.label) is bound at \(earlier.origin)"
            ))
        } else {
          definition.prepareValues()
          plan.add(definition)
          if let factory = definition.maker?.declaration { factories.append(factory) }
        }
      }
    }
    faults += templates.faults
    // Not earlier: what is a factory is known only with its templates.
    for factory in factories { register(factory, in: plan) }
    plan.defineAliases()
  }

  private mutating func register(_ declaration: BeanDeclaration, in plan: Plan) {
    guard let earlier = plan.register(declaration), let id = declaration.id else { return }
    faults.append(
      EnvironmentError(
        .duplicateId, "the id '\(id)' is taken by \(earlier.origin)", path: ["'\(id)'"], origin: declaration.origin))
  }

  private mutating func checkScopes(_ plan: Plan) {
    let names = ScopeNames(plan, expectsScopes: true)
    let outer = plan.chain.dropFirst().compactMap(\.plan.scopeName) + ["singleton"]
    // A factory bean and its product are declared at once: one fault for both.
    for definition in plan.scoped where definition.maker == nil {
      if !names.isKnown(definition.scopeName) {
        faults.append(definition.fault(.unknownScope, names.unknown(definition.scopeName)))
      } else if let own = plan.scopeName ?? (definition.scopeName == "singleton" ? nil : plan.name),
        outer.contains(definition.scopeName)
      {
        faults.append(
          definition.fault(
            .invalidDeclaration,
            "a bean of scope '\(definition.scopeName)' outlives the children of '\(own)': declare it further out"))
      }
    }
  }

  /// Sources belong to an environment, which is there before any child: none can be built for each of them.
  private mutating func checkSources(_ plan: Plan) {
    let names = ScopeNames(plan, expectsScopes: true)
    for definition in plan.special.sources where plan.scopeName != nil || names.isFactoryScope(definition.scopeName) {
      faults.append(
        definition.fault(
          .invalidDeclaration,
          "a configuration source cannot be built for each child: declare it further out, or add it with "
            + "addConfigurationSource"))
    }
  }

  private mutating func link(_ plan: Plan) {
    for (number, definition) in plan.definitions.enumerated() {
      ReadAhead.toMakeRecipes(of: plan.definitions, from: number)
      _ = linker.recipe(for: definition, from: plan)
    }
    if let scope = plan.scopeName {
      // What ancestors declare for this scope must work in the children of every factory.
      for (home, hops) in plan.chain where hops > 0 {
        for definition in home.definitions where definition.scopeName == scope {
          _ = linker.recipe(for: definition, from: plan)
        }
      }
    }
    linker.linkPending()
    plan.injections = infrastructure(\.injections, Dependency.of(Injection.self), plan)
    plan.processors = infrastructure(\.processors, Dependency.of((any BeanPostProcessor).self), plan)
    // Processors may need configuration, so sources come first.
    for definition in plan.special.sources + plan.special.scopes {
      if let recipe = plan.recipe(of: definition) { markInfrastructure(recipe, in: plan) }
    }
  }

  /// Beans that serve the plan's environments, those of ancestors first.
  private mutating func infrastructure(
    _ kind: (Plan.Special) -> [Definition], _ dependency: Dependency, _ plan: Plan
  ) -> [Edge] {
    var edges: [Edge] = []
    for (home, _) in plan.chain.reversed() {
      for definition in kind(home.special) {
        guard let (recipe, hops) = linker.recipe(for: definition, from: plan) else { continue }
        linker.linkPending()
        edges.append(Edge(dependency, .bean(recipe, hops: hops)))
        markInfrastructure(recipe)
      }
    }
    return edges
  }

  /// Marks the recipe and all it is made of, or what of that belongs to `home`.
  private func markInfrastructure(_ recipe: Recipe, in home: Plan? = nil) {
    var rest = [recipe]
    while let next = rest.popLast() {
      if next.isInfrastructure || home != nil && next.plan !== home { continue }
      next.isInfrastructure = true
      next.forEachDependency { rest.append($0) }
    }
  }

  private mutating func judge(_ plans: [Plan]) {
    // A recipe belongs to one plan; what it needs may belong to any of its ancestors.
    let recipes = plans.count == 1 ? plan.recipes : plans.flatMap(\.recipes)
    let (sorted, cycles) = plans.count == 1 && linker.isInOrder ? (recipes, []) : Sorter.sort(recipes)
    if plans.contains(where: { $0.chain.contains { $0.plan.hasInactive } }) { Sorter.judgeLifetimes(of: sorted) }
    if plans.contains(where: \.hasFaults) { judge(plans, sorted) }
    faults += cycles
    for plan in plans {
      plan.sorted = plans.count == 1 ? sorted : sorted.filter { $0.plan === plan }
    }
  }

  /// Which faults are faults of this startup.
  private mutating func judge(_ plans: [Plan], _ sorted: [Recipe]) {
    for recipe in sorted.reversed() where recipe.slot >= 0 || recipe.isNeeded {
      recipe.forEachDependency { $0.isNeeded = true }
    }
    let unusable = plan.recipes.filter {
      !$0.faults.isEmpty && $0.definition.scopeName == "prototype" && !$0.isNeeded && worksBelow($0)
    }
    let forgiven = Set(unusable.map { ObjectIdentifier($0) })
    // With those that have just been tried.
    for recipe in plans.flatMap(\.recipes) where !recipe.faults.isEmpty {
      let isTried =
        recipe.definition.scopeName == "prototype" && !recipe.isNeeded && recipe.plan !== plan
        && recipe.plan.definitions.allSatisfy { $0 !== recipe.definition }
      if isTried || forgiven.contains(ObjectIdentifier(recipe)) {
        // A lookup may still ask for it here.
        recipe.inactive = recipe.faults.first
      } else {
        faults += recipe.faults
      }
    }
  }

  /// A prototype is built for the environment that asks: it may need what only children have.
  private mutating func worksBelow(_ recipe: Recipe) -> Bool {
    plan.descendants.contains { descendant in
      guard let (found, _) = linker.recipe(for: recipe.definition, from: descendant) else { return false }
      linker.linkPending()
      return found.faults.isEmpty && found.inactive == nil
    }
  }
}
