/// From declarations to a plan, or to every fault at once. No user code runs here.
struct GraphCompiler {
  private let plan: Plan
  private var linker: Linker
  private var faults: [EnvironmentError] = []

  /// Compiles the plan of a plain environment and of all factories below it. The plans of ancestors are compiled.
  static func compile(_ plan: Plan) throws {
    var compiler = GraphCompiler(plan)
    let plans = [plan] + plan.descendants
    plans.forEach { compiler.collect($0) }
    plans.forEach { compiler.define($0) }
    plans.forEach { compiler.checkScopes($0) }
    plans.forEach { compiler.link($0) }
    compiler.judge(plans)
    let fault = EnvironmentError.combining(compiler.faults, code: .startupFailed) {
      "\($0) faults in environment '\(plan.name)'"
    }
    if let fault { throw fault }
  }

  private init(_ plan: Plan) {
    self.plan = plan
    self.linker = Linker(expectsScopes: true)
  }

  /// Embedded declarations become beans of their own; ids become known.
  private mutating func collect(_ plan: Plan) {
    var all: [BeanDeclaration] = []
    var rest = Array(plan.declarations.reversed())
    while let declaration = rest.popLast() {
      all.append(declaration)
      for property in declaration.properties.reversed() {
        guard case .declaration(let embedded) = property.source, !embedded.isDefined else { continue }
        embedded.isDefined = true
        rest.append(embedded)
      }
    }
    plan.declarations = all
    for declaration in all {
      guard let earlier = plan.register(declaration), let id = declaration.id else { continue }
      faults.append(
        EnvironmentError(
          .duplicateId, "the id '\(id)' is taken by \(earlier.origin)", path: ["'\(id)'"], origin: declaration.origin))
    }
  }

  private mutating func define(_ plan: Plan) {
    var templates = TemplateResolver(plan)
    for (ordinal, declaration) in plan.declarations.enumerated() {
      guard let definition = templates.define(declaration, ordinal: ordinal) else { continue }
      if definition.product != nil, let earlier = plan.candidates(for: definition.type).first {
        faults.append(
          definition.fault(
            .invalidDeclaration, "a factory is bound once per tag, and \(earlier.label) is bound at \(earlier.origin)"))
      } else {
        plan.add(definition)
      }
    }
    faults += templates.faults
  }

  private mutating func checkScopes(_ plan: Plan) {
    let names = ScopeNames(plan, expectsScopes: true)
    let outer = plan.chain.dropFirst().compactMap(\.plan.scopeName) + ["singleton"]
    for definition in plan.definitions {
      if !names.isKnown(definition.scopeName) {
        faults.append(definition.fault(.unknownScope, "no scope is called '\(definition.scopeName)'"))
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

  private mutating func link(_ plan: Plan) {
    for definition in plan.definitions { _ = linker.recipe(for: definition, from: plan) }
    if let scope = plan.scopeName {
      // What ancestors declare for this scope must work in the children of every factory.
      for (home, hops) in plan.chain where hops > 0 {
        for definition in home.definitions where definition.scopeName == scope {
          _ = linker.recipe(for: definition, from: plan)
        }
      }
    }
    linker.linkPending()
    connectProcessors(plan)
  }

  private mutating func connectProcessors(_ plan: Plan) {
    for (home, _) in plan.chain.reversed() {
      for definition in home.definitions where definition.isProcessor {
        guard let (recipe, hops) = linker.recipe(for: definition, from: plan) else { continue }
        linker.linkPending()
        let dependency = Dependency.of((any BeanPostProcessor).self)
        plan.processors.append(Edge(dependency, .bean(recipe, hops: hops)))
        markInfrastructure(recipe)
      }
    }
  }

  private func markInfrastructure(_ recipe: Recipe) {
    var rest = [recipe]
    while let next = rest.popLast() {
      if next.isInfrastructure { continue }
      next.isInfrastructure = true
      rest += next.dependencies
    }
  }

  private mutating func judge(_ plans: [Plan]) {
    // A recipe belongs to one plan; what it needs may belong to any of its ancestors.
    let (sorted, cycles) = Sorter.sort(plans.flatMap(\.recipes))
    Sorter.judgeLifetimes(of: sorted)
    for recipe in sorted.reversed() where recipe.slot >= 0 || recipe.isNeeded {
      for dependency in recipe.dependencies { dependency.isNeeded = true }
    }
    let unusable = plan.recipes.filter {
      $0.definition.scopeName == "prototype" && !$0.isNeeded && !$0.faults.isEmpty && worksBelow($0)
    }
    let forgiven = Set(unusable.map { ObjectIdentifier($0) })
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
    faults += cycles
    for plan in plans {
      plan.sorted = sorted.filter { $0.plan === plan }
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
