/// Connects recipes: finds for each dependency the bean, the environment it lives in, and what is wrong with that.
struct Linker {
  /// Recipes whose dependencies are still unknown. A list, not a recursion: chains may be as long as memory allows.
  private var pending: [Recipe] = []
  /// Whether scope names may belong to scope beans that do not exist yet.
  let expectsScopes: Bool

  init(expectsScopes: Bool) { self.expectsScopes = expectsScopes }

  /// A lookup from outside. Under the plan's lock.
  static func lookup(_ dependency: Dependency, id: String?, in plan: Plan) throws -> Edge {
    var linker = Linker(expectsScopes: true)
    let known = plan.recipes.count
    switch linker.connect(dependency, id: id, in: plan) {
    case .failure(let fault): throw fault
    case .success(let edge):
      // A prototype of an ancestor that nobody here has asked for before.
      linker.linkPending()
      let added = plan.recipes[known...]
      let faults = added.flatMap(\.faults) + Sorter.sort(Array(added)).faults
      Sorter.judgeLifetimes(of: Array(added))
      for recipe in added {
        // It stays in the plan, where the next lookup finds it.
        if let fault = recipe.faults.first { recipe.inactive = fault }
      }
      plan.settle(added)
      if let fault = EnvironmentError.combining(faults, code: .startupFailed, { "\($0) faults" }) { throw fault }
      return edge
    }
  }

  /// The recipe for a definition as seen from a plan; nil where its scope is not open there.
  mutating func recipe(for definition: Definition, from plan: Plan) -> (recipe: Recipe, hops: Int)? {
    // Most beans are looked for where they are declared, and most have been found there before.
    let isHome = definition.home === plan
    if isHome, let recipe = definition.recipe { return (recipe, 0) }
    guard let home = isHome ? (plan, 0) : plan.chain.first(where: { $0.plan === definition.home }) else { return nil }
    switch definition.scopeName {
    case "singleton": return (recipe(definition, nil, in: home.plan), home.hops)
    case "prototype": return (recipe(definition, .prototype, in: plan), 0)
    case let name:
      if let open = plan.chain.first(where: { $0.plan.scopeName == name }) {
        return (recipe(definition, nil, in: open.plan), open.hops)
      }
      if ScopeNames(home.plan, expectsScopes: expectsScopes).isCustom(name) {
        return (recipe(definition, .custom, in: home.plan), home.hops)
      }
      return nil
    }
  }

  private mutating func recipe(_ definition: Definition, _ kind: Recipe.Kind?, in plan: Plan) -> Recipe {
    if let known = plan.recipe(of: definition) { return known }
    let recipe = plan.recipe(for: definition, kind: kind ?? .slot(plan.slotCount))
    pending.append(recipe)
    return recipe
  }

  mutating func linkPending() {
    while let recipe = pending.popLast() { link(recipe) }
  }

  // MARK: one recipe

  private mutating func link(_ recipe: Recipe) {
    let definition = recipe.definition
    if !definition.requirements.isEmpty {
      recipe.prerequisites = definition.requirements.compactMap { prerequisite($0, of: recipe) }
    }
    let (parameters, pinned) = (definition.constructor?.dependencies ?? [], definition.pinned)
    for index in pinned.indices(beyond: parameters.count) {
      recipe.faults.append(
        definition.fault(
          .invalidDeclaration, "argument \(index) does not exist: the factory takes \(parameters.count), counted from 0"
        ))
    }
    var arguments: [Edge] = []
    if !parameters.isEmpty { arguments.reserveCapacity(parameters.count) }
    for (index, dependency) in parameters.enumerated() where !isSeed(dependency, at: index, of: recipe) {
      let edge =
        if let value = pinned[index] {
          settle(value, as: dependency, of: recipe, .parameter(index))
        } else {
          connect(dependency, of: recipe, .parameter(index))
        }
      if let edge { arguments.append(edge) }
    }
    recipe.arguments = arguments
    linkProperties(of: recipe)
    guard let product = definition.product.map(recipe.assemble) else { return }
    linkProperties(of: product)
    // What is wrong with the product is wrong with what makes it.
    recipe.faults += product.faults
    recipe.inactive = recipe.inactive ?? product.inactive
    (product.faults, product.inactive) = ([], nil)
  }

  /// Whether a parameter is left to whoever calls the factory bean.
  private func isSeed(_ dependency: Dependency, at index: Int, of recipe: Recipe) -> Bool {
    guard recipe.definition.product != nil, case .assisted = dependency.shape else { return false }
    if recipe.definition.pinned[index] != nil {
      recipe.faults.append(
        recipe.definition.fault(.invalidDeclaration, "argument \(index) is the seed, which cannot be pinned"))
    }
    return true
  }

  private mutating func prerequisite(_ requirement: BeanDeclaration.Requirement, of recipe: Recipe) -> Edge? {
    switch requirement {
    case .id(let id): connect(Requirement(Any.self), id: id, of: recipe, .requirement)
    case .type(let type): connect(Requirement(type), of: recipe, .requirement)
    case .declaration(let bean): connect(Requirement(Any.self), to: bean, of: recipe, .requirement)
    }
  }

  /// A dependency on a bean's existence alone.
  private final class Requirement: Dependency, @unchecked Sendable {
    init(_ type: Any.Type) { super.init(wanted: type, element: type, shape: .one, isReference: true) }
    override func box(_ beans: [Any]) -> AnyObject? { ValueBox(()) }
  }

  mutating func connect(
    _ dependency: Dependency, id: String? = nil, of recipe: Recipe, _ place: Place
  ) -> Edge? {
    accept(connect(dependency, id: id, in: recipe.plan), of: recipe, place)
  }

  mutating func connect(
    _ dependency: Dependency, to declaration: BeanDeclaration, of recipe: Recipe, _ place: Place
  ) -> Edge? {
    guard let definition = recipe.plan.definition(of: declaration) else {
      let name = declaration.type.map { "\($0)" } ?? "bean"
      let fault = EnvironmentError(
        .unknownBean, "the declaration of \(name) was never defined in an environment that can be seen here")
      return accept(.failure(fault), of: recipe, place)
    }
    return accept(connect(dependency, definition, in: recipe.plan), of: recipe, place)
  }

  /// Turns what was found into an edge of the recipe, or into a fault that names the recipe.
  private func accept(_ result: Result<Edge, EnvironmentError>, of recipe: Recipe, _ place: Place) -> Edge? {
    switch result {
    case .success(let edge): return edge
    case .failure(let fault):
      var named = EnvironmentError(
        fault.code, "\(place): \(fault.message)", path: [recipe.label] + fault.path, origin: recipe.definition.origin)
      named.scope = fault.scope
      guard fault.code == .scopeNotActive else {
        recipe.faults.append(named)
        return nil
      }
      // Whether that is a fault depends on who holds the recipe: see `Sorter.judgeLifetimes`.
      recipe.inactive = recipe.inactive ?? named
      return nil
    }
  }

  // MARK: one dependency

  mutating func connect(_ dependency: Dependency, id: String? = nil, in plan: Plan) -> Result<Edge, EnvironmentError> {
    var element: String { "\(dependency.element)" }
    switch dependency.shape {
    case .invalid(let reason): return .failure(EnvironmentError(.invalidDeclaration, reason, path: [element]))
    case .environment: return .success(Edge(dependency, .environment))
    case .configuration: return .success(Edge(dependency, .configuration))
    case .assisted: return .failure(misplacedSeed(dependency))
    case .one where id == nil, .optional where id == nil, .all:
      // A seed is found by its own type, even one that asks for something else when it is no seed.
      if let (seed, _) = plan.chain.lazy.compactMap({ plan, hops in plan.seed.map { ($0, hops) } })
        .first(where: { $0.0.type == dependency.wanted }), Dependency.isWrapper(dependency.wanted)
      {
        return connect(dependency, seed, in: plan)
      }
    default: break
    }
    if case .provider = dependency.shape {
      return check(provided: dependency.provided ?? dependency, id: id, in: plan)
        .map { Edge(dependency, .provider(id: id)) }
    }
    if let id { return connect(dependency, toId: id, in: plan) }
    if case .all = dependency.shape { return connectAll(dependency, in: plan) }
    switch select(dependency.element, in: plan) {
    case .failure(let fault): return .failure(fault)
    case .success(let definition?): return connect(dependency, definition, in: plan)
    case .success(nil):
      if case .optional = dependency.shape { return .success(Edge(dependency, .absent)) }
      return .failure(
        EnvironmentError(
          .unknownBean,
          "no bean of type \(element) can be seen from '\(plan.name)'\(whereElse(dependency.element, plan))",
          path: [element]))
    }
  }

  private mutating func connect(_ dependency: Dependency, toId id: String, in plan: Plan)
    -> Result<Edge, EnvironmentError>
  {
    guard let found = plan.find(id: id) else {
      return .failure(
        EnvironmentError(.unknownBean, "no bean has the id '\(id)'\(plan.hint(forId: id))", path: ["'\(id)'"]))
    }
    guard let definition = found.definition else {
      let reason = found.declaration.isAbstract ? "is abstract: a template, not a bean" : "is at fault itself"
      return .failure(
        EnvironmentError(.unknownBean, "'\(id)' \(reason)", path: ["'\(id)'"], origin: found.declaration.origin))
    }
    return connect(dependency, definition, in: plan)
  }

  private mutating func connect(_ dependency: Dependency, _ definition: Definition, in plan: Plan)
    -> Result<Edge, EnvironmentError>
  {
    let wanted = definition.isSeed ? dependency.wanted : dependency.element
    guard TypeRelation.isUsable(definition.type, as: wanted) || definition.type == dependency.element else {
      return .failure(
        definition.fault(.typeMismatch, "\(definition.label) is a \(definition.type), not a \(dependency.element)"))
    }
    guard let (recipe, hops) = recipe(for: definition, from: plan) else {
      return .failure(notOpen(definition))
    }
    return .success(Edge(dependency, .bean(recipe, hops: hops)))
  }

  private func misplacedSeed(_ dependency: Dependency) -> EnvironmentError {
    EnvironmentError(
      .invalidDeclaration,
      "\(dependency.wanted) is a seed, which only the factory given to bindFactory(…).to(factory:) can take",
      path: ["\(dependency.wanted)"])
  }

  private func notOpen(_ definition: Definition) -> EnvironmentError {
    var error = definition.fault(
      .scopeNotActive, "\(definition.label) lives in scope '\(definition.scopeName)', which is not open here")
    error.scope = definition.scopeName
    return error
  }

  /// Nearest environment first, then in order of definition.
  private mutating func connectAll(_ dependency: Dependency, in plan: Plan) -> Result<Edge, EnvironmentError> {
    var targets: [(recipe: Recipe, hops: Int)] = []
    for (home, hops) in plan.chain {
      for definition in home.candidates(for: dependency.element)
      where !definition.isSeed && !plan.hides(definition, hops: hops) {
        guard let target = recipe(for: definition, from: plan) else {
          return .failure(notOpen(definition))
        }
        targets.append(target)
      }
    }
    return .success(Edge(dependency, .all(targets)))
  }

  /// The bean for a type: the nearest environment that has any candidate decides.
  private func select(_ type: Any.Type, in plan: Plan) -> Result<Definition?, EnvironmentError> {
    for (home, hops) in plan.chain {
      var candidates = home.candidates(for: type)
      if hops > 0 { candidates.removeAll { plan.hides($0, hops: hops) } }
      if candidates.count < 2 {
        if let only = candidates.first { return .success(only) }
        continue
      }
      let exact = candidates.filter { $0.type == type }
      let best = exact.isEmpty ? candidates : exact
      if best.count < 2 {
        if let only = best.first { return .success(only) }
        continue
      }
      let primary = best.filter(\.isPrimary)
      if primary.count == 1 { return .success(primary[0]) }
      let list = best.map { "\($0.label) (\($0.origin))" }.joined(separator: ", ")
      return .failure(
        EnvironmentError(
          .ambiguousBean,
          "\(best.count) beans answer to \(type)\(primary.isEmpty ? "" : ", \(primary.count) of them primary"): \(list); "
            + "make one primary, or ask by id", path: ["\(type)"]))
    }
    return .success(nil)
  }

  /// A provider may reach into scopes that open later, so a candidate anywhere below is good enough.
  private func check(provided dependency: Dependency, id: String?, in plan: Plan) -> Result<Void, EnvironmentError> {
    if let id, plan.find(id: id) == nil, !plan.descendants.contains(where: { $0.find(id: id) != nil }) {
      return .failure(
        EnvironmentError(.unknownBean, "no bean has the id '\(id)'\(plan.hint(forId: id))", path: ["'\(id)'"]))
    }
    switch dependency.shape {
    case .invalid(let reason): return .failure(EnvironmentError(.invalidDeclaration, reason))
    case .provider: return dependency.provided.map { check(provided: $0, id: id, in: plan) } ?? .success(())
    case .assisted: return .failure(misplacedSeed(dependency))
    case .environment, .configuration, .optional, .all: return .success(())
    case .one where id != nil: return .success(())
    case .one:
      let visible = plan.chain.contains { !$0.plan.candidates(for: dependency.element).isEmpty }
      if visible || plan.descendants.contains(where: { !$0.candidates(for: dependency.element).isEmpty }) {
        return .success(())
      }
      return .failure(
        EnvironmentError(
          .unknownBean, "no bean of type \(dependency.element), neither here nor in a scope below",
          path: ["\(dependency.element)"]))
    }
  }

  /// "; children of … have one", where the bean exists but further in.
  private func whereElse(_ type: Any.Type, _ plan: Plan) -> String {
    let holders = plan.descendants.filter { !$0.candidates(for: type).isEmpty }.map { "'\($0.name)'" }
    return holders.isEmpty ? "" : "; children of scope \(holders.joined(separator: ", ")) have one, use a Provider"
  }
}
