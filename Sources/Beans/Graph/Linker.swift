/// Connects recipes: finds for each dependency the bean, the environment it lives in, and what is wrong with that.
struct Linker {
  /// Recipes whose dependencies are still unknown. A list, not a recursion: chains may be as long as memory allows.
  /// Held by their plans.
  private var pending: [Unmanaged<Recipe>] = []
  /// Whether scope names may belong to scope beans that do not exist yet.
  let expectsScopes: Bool
  /// Whether each recipe so far needs only such as stand before it in its plan: where beans are declared after those they
  /// need, nothing has to be sorted.
  private(set) var isInOrder = true
  /// Where the recipe that is being linked stands.
  private var position = Int.max

  init(expectsScopes: Bool) { self.expectsScopes = expectsScopes }

  /// A lookup from outside. Under the plan's lock.
  static func lookup(_ dependency: Dependency, id: String?, in plan: Plan) throws -> Edge {
    var linker = Linker(expectsScopes: true)
    let known = plan.recipes.count
    let edge = try linker.connect(dependency, id: id.map { IdKey($0) }, in: plan)
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

  /// The recipe for a definition as seen from a plan; nil where its scope is not open there.
  mutating func recipe(for definition: Definition, from plan: Plan) -> (recipe: Recipe, hops: Int)? {
    // Most beans are looked for where they are declared, and most have been found there before.
    let isHome = definition.isDeclared(in: plan)
    if isHome, let recipe = definition.recipe {
      checkOrder(recipe)
      return (recipe, 0)
    }
    guard let home = isHome ? (plan, 0) : plan.chain.first(where: { definition.isDeclared(in: $0.plan) }) else {
      return nil
    }
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
    let known = plan.recipe(of: definition)
    let recipe = known ?? plan.recipe(for: definition, kind: kind ?? .slot(plan.slotCount))
    if known == nil { pending.append(.passUnretained(recipe)) }
    checkOrder(recipe)
    return recipe
  }

  private mutating func checkOrder(_ needed: Recipe) {
    if needed.number >= position { isInOrder = false }
  }

  mutating func linkPending() {
    let isLarge = ReadAhead.isWorthwhile(pending.count)
    while let next = pending.last {
      if isLarge, pending.count % ReadAhead.count == 0 { ReadAhead.toLink(pending.suffix(ReadAhead.count)) }
      pending.removeLast()
      let recipe = next.takeUnretainedValue()
      position = recipe.number
      link(recipe)
    }
    position = .max
  }

  // MARK: one recipe

  private mutating func link(_ recipe: Recipe) {
    let definition = recipe.definition
    if definition.hasDetails, !definition.requirements.isEmpty {
      recipe.prerequisites = definition.requirements.compactMap { prerequisite($0, of: recipe) }
    }
    let parameters = recipe.constructor._withUnsafeGuaranteedRef { $0.dependencies }
    let pinned = definition.pinned
    for index in pinned.indices(beyond: parameters.count) {
      recipe.faults.append(
        definition.fault(
          .invalidDeclaration, "argument \(index) does not exist: the factory takes \(parameters.count), counted from 0"
        ))
    }
    if !parameters.isEmpty { recipe.arguments.reserveCapacity(parameters.count) }
    for index in parameters.indices {
      let dependency = parameters[index]
      if definition.hasDetails, definition.product != nil, isSeed(dependency, at: index, of: recipe) { continue }
      if let edge = argument(index, as: dependency, pinned, of: recipe) { recipe.arguments.append(consume edge) }
    }
    if !definition.hasDetails { return }
    linkProperties(of: recipe)
    guard let product = definition.product.map(recipe.assemble) else { return }
    linkProperties(of: product)
    // What is wrong with the product is wrong with what makes it.
    recipe.faults += product.faults
    recipe.inactive = recipe.inactive ?? product.inactive
    (product.faults, product.inactive) = ([], nil)
  }

  private mutating func argument(
    _ index: Int, as dependency: Dependency, _ pinned: PinnedArguments, of recipe: Recipe
  ) -> Edge? {
    if let id = pinned.id(at: index) { return connect(dependency, id: id, of: recipe, .parameter(index)) }
    guard let value = pinned[index] else { return connect(dependency, of: recipe, .parameter(index)) }
    return settle(value, as: dependency, of: recipe, .parameter(index))
  }

  /// Whether a parameter is left to whoever calls the factory bean.
  private func isSeed(_ dependency: Dependency, at index: Int, of recipe: Recipe) -> Bool {
    guard case .assisted = dependency.shape else { return false }
    if recipe.definition.pinned[index] != nil {
      recipe.faults.append(
        recipe.definition.fault(.invalidDeclaration, "argument \(index) is the seed, which cannot be pinned"))
    }
    return true
  }

  private mutating func prerequisite(_ requirement: BeanDeclaration.Requirement, of recipe: Recipe) -> Edge? {
    switch requirement {
    case .id(let id): connect(Requirement(Any.self), id: IdKey(id), of: recipe, .requirement)
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
    _ dependency: Dependency, id: IdKey? = nil, of recipe: Recipe, _ place: Place
  ) -> Edge? {
    do throws(EnvironmentError) { return try connect(dependency, id: id, in: recipe.plan) } catch {
      note(error, of: recipe, place)
      return nil
    }
  }

  mutating func connect(
    _ dependency: Dependency, to declaration: BeanDeclaration, of recipe: Recipe, _ place: Place
  ) -> Edge? {
    do throws(EnvironmentError) {
      if let definition = recipe.plan.definition(of: declaration) {
        return try connect(dependency, definition, in: recipe.plan)
      }
      let name = declaration.type.map { "\($0)" } ?? "bean"
      throw EnvironmentError(
        .unknownBean, "the declaration of \(name) was never defined in an environment that can be seen here")
    } catch {
      note(error, of: recipe, place)
      return nil
    }
  }

  /// Turns why there is no edge into a fault that names the recipe.
  private func note(_ fault: EnvironmentError, of recipe: Recipe, _ place: Place) {
    var named = EnvironmentError(
      fault.code, "\(place): \(fault.message)", path: [recipe.label] + fault.path, origin: recipe.definition.origin)
    named.scope = fault.scope
    guard fault.code == .scopeNotActive else {
      recipe.faults.append(named)
      return
    }
    // Whether that is a fault depends on who holds the recipe: see `Sorter.judgeLifetimes`.
    recipe.inactive = recipe.inactive ?? named
  }

  // MARK: one dependency

  mutating func connect(
    _ dependency: Dependency, id: IdKey? = nil, in plan: Plan
  ) throws(EnvironmentError) -> Edge {
    var element: String { "\(dependency.element)" }
    switch dependency.shape {
    case .invalid(let reason): throw EnvironmentError(.invalidDeclaration, reason, path: [element])
    case .environment: return Edge(dependency, .environment)
    case .configuration: return Edge(dependency, .configuration)
    case .assisted: throw misplacedSeed(dependency)
    case .one where id == nil, .optional where id == nil, .all:
      // A seed is found by its own type, even one that asks for something else when it is no seed.
      if let (seed, _) = plan.chain.lazy.compactMap({ plan, hops in plan.seed.map { ($0, hops) } })
        .first(where: { $0.0.type == dependency.wanted }), Dependency.isWrapper(dependency.wanted)
      {
        return try connect(dependency, seed, in: plan)
      }
    default: break
    }
    if case .provider = dependency.shape {
      try check(provided: dependency.provided ?? dependency, id: id?.id, in: plan)
      return Edge(dependency, .provider(id: id?.id))
    }
    if let id { return try connect(dependency, toId: id, in: plan) }
    if case .all = dependency.shape { return try connectAll(dependency, in: plan) }
    if let definition = try select(dependency.element, in: plan) {
      return try connect(dependency, definition, in: plan)
    }
    if case .optional = dependency.shape { return Edge(dependency, .absent) }
    throw EnvironmentError(
      .unknownBean, "no bean of type \(element) can be seen from '\(plan.name)'\(whereElse(dependency.element, plan))",
      path: [element])
  }

  private mutating func connect(
    _ dependency: Dependency, toId key: IdKey, in plan: Plan
  ) throws(EnvironmentError) -> Edge {
    guard let definition = plan.bean(byId: key) else { throw unusable(key.id, in: plan) }
    return try connect(dependency, definition, in: plan)
  }

  private func unusable(_ id: String, in plan: Plan) -> EnvironmentError {
    guard let declaration = plan.find(id: id)?.declaration else {
      return EnvironmentError(.unknownBean, "no bean has the id '\(id)'\(plan.hint(forId: id))", path: ["'\(id)'"])
    }
    let reason = declaration.isAbstract ? "is abstract: a template, not a bean" : "is at fault itself"
    return EnvironmentError(.unknownBean, "'\(id)' \(reason)", path: ["'\(id)'"], origin: declaration.origin)
  }

  private mutating func connect(
    _ dependency: Dependency, _ definition: Definition, in plan: Plan
  ) throws(EnvironmentError) -> Edge {
    let wanted = definition.isSeed ? dependency.wanted : dependency.element
    guard definition.type == dependency.element || TypeRelation.isUsable(definition.type, as: wanted) else {
      throw definition.fault(.typeMismatch, "\(definition.label) is a \(definition.type), not a \(dependency.element)")
    }
    guard let (recipe, hops) = recipe(for: definition, from: plan) else { throw notOpen(definition) }
    if hops > 0 || plan.slots != nil { return Edge(dependency, .bean(recipe, hops: hops)) }
    // One for all that need the bean in the same way. A lookup's has to know where the bean stands.
    if let known = recipe.edge, known.dependency === dependency { return known }
    let edge = Edge(dependency, .bean(recipe, hops: 0))
    recipe.edge = edge
    return edge
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
  private mutating func connectAll(_ dependency: Dependency, in plan: Plan) throws(EnvironmentError) -> Edge {
    var targets: [(recipe: Recipe, hops: Int)] = []
    for (home, hops) in plan.chain {
      for definition in home.candidates(for: dependency.element)
      where !definition.isSeed && !plan.hides(definition, hops: hops) {
        guard let target = recipe(for: definition, from: plan) else { throw notOpen(definition) }
        targets.append(target)
      }
    }
    return Edge(dependency, .all(targets))
  }

  /// The bean for a type: the nearest environment that has any candidate decides.
  private func select(_ type: Any.Type, in plan: Plan) throws(EnvironmentError) -> Definition? {
    for (home, hops) in plan.chain {
      var candidates = home.candidates(for: type)
      if hops > 0 { candidates.removeAll { plan.hides($0, hops: hops) } }
      if candidates.count < 2 {
        if let only = candidates.first { return only }
        continue
      }
      let exact = candidates.filter { $0.type == type }
      let best = exact.isEmpty ? candidates : exact
      if best.count < 2 {
        if let only = best.first { return only }
        continue
      }
      let primary = best.filter(\.isPrimary)
      if primary.count == 1 { return primary[0] }
      let list = best.map { "\($0.label) (\($0.origin))" }.joined(separator: ", ")
      throw EnvironmentError(
        .ambiguousBean,
        "\(best.count) beans answer to \(type)\(primary.isEmpty ? "" : ", \(primary.count) of them primary"): \(list); "
          + "make one primary, or ask by id", path: ["\(type)"])
    }
    return nil
  }

  /// A provider may reach into scopes that open later, so a candidate anywhere below is good enough.
  private func check(provided dependency: Dependency, id: String?, in plan: Plan) throws(EnvironmentError) {
    if let id, plan.find(id: id) == nil, !plan.descendants.contains(where: { $0.find(id: id) != nil }) {
      throw EnvironmentError(.unknownBean, "no bean has the id '\(id)'\(plan.hint(forId: id))", path: ["'\(id)'"])
    }
    switch dependency.shape {
    case .invalid(let reason): throw EnvironmentError(.invalidDeclaration, reason)
    case .provider: if let inner = dependency.provided { try check(provided: inner, id: id, in: plan) }
    case .assisted: throw misplacedSeed(dependency)
    case .environment, .configuration, .optional, .all: break
    case .one where id != nil: break
    case .one:
      let visible = plan.chain.contains { !$0.plan.candidates(for: dependency.element).isEmpty }
      if visible || plan.descendants.contains(where: { !$0.candidates(for: dependency.element).isEmpty }) { return }
      throw EnvironmentError(
        .unknownBean, "no bean of type \(dependency.element), neither here nor in a scope below",
        path: ["\(dependency.element)"])
    }
  }

  /// "; children of … have one", where the bean exists but further in.
  private func whereElse(_ type: Any.Type, _ plan: Plan) -> String {
    let holders = plan.descendants.filter { !$0.candidates(for: type).isEmpty }.map { "'\($0.name)'" }
    return holders.isEmpty ? "" : "; children of scope \(holders.joined(separator: ", ")) have one, use a Provider"
  }
}
