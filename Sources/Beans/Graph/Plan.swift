import Synchronization

/// All recipes of one environment, or of all children of one factory: indexed by type and id, shared, and written only
/// by startup and, for lookups nobody foresaw, under `lock`.
@usableFromInline
final class Plan: @unchecked Sendable {  // see above; `index` may be read at any time
  let name: String
  /// The scope its environments open; nil for a plain environment, which holds singletons.
  let scopeName: String?
  /// Unowned, because a plan holds those of its factories. Whoever uses a plan holds its ancestors, too: an environment
  /// through its parent, a factory by itself.
  unowned let parent: Plan?

  // What was declared.
  var declarations: [BeanDeclaration] = []
  var factories: [Plan] = []
  var aliases: [Alias] = []
  private(set) var seed: Definition?
  /// Ordered by registration; a later one of the same name replaces an earlier.
  var scopes: [NamedScope] = []
  let configuration: ConfigurationManager

  /// The name is asked for once: it is user code, and compared under the plan's lock.
  struct NamedScope {
    let name: String
    let scope: any BeanScope
  }

  // What startup made of it.
  private(set) var definitions: [Definition] = []
  private var definitionsById: [String: Definition] = [:]
  private var declarationsById: [String: BeanDeclaration] = [:]
  /// From alias to id, for those whose bean there is.
  private var aliased: [(name: String, id: String)] = []
  private var definitionsByType: [ObjectIdentifier: [Definition]] = [:]
  private var candidatesByExistential: [ObjectIdentifier: [Definition]] = [:]
  private(set) var definitionsByDeclaration: [ObjectIdentifier: Definition] = [:]
  /// By slot.
  private(set) var slotRecipes: [Recipe] = []
  /// In order of creation; holds them all.
  private(set) var recipes: [Recipe] = []
  private var recipesByDefinition: [ObjectIdentifier: Recipe] = [:]
  /// Dependencies first.
  var sorted: [Recipe] = []
  /// Those of ancestors first.
  var processors: [Edge] = []
  /// Those of ancestors first.
  var injections: [Edge] = []
  /// Retained. Not a strong field, because reading one costs a retain and a release.
  let index = Unmanaged.passRetained(EdgeIndex())
  /// By slot, flat, for the request path: written by `freeze`.
  private(set) var flat = UnsafeMutablePointer<UnsafeMutablePointer<SlotPlan>>.allocate(capacity: 0)
  /// Of the one environment of a plain plan, once it has started.
  private(set) var slots: UnsafeMutablePointer<Slot>?

  /// Guards everything a lookup may add after startup. Never held while user code runs.
  private let lock: Lock

  /// One for a plan and all its descendants, because connecting a lookup writes to the ancestors' tables, too.
  private final class Lock: Sendable {
    let mutex = Locked<Void>(())
  }

  init(name: String, scopeName: String?, parent: Plan?, hasSeed: Bool = false) {
    self.hasSeed = hasSeed
    self.name = name
    self.scopeName = scopeName
    self.parent = parent
    self.configuration = ConfigurationManager(parent: parent?.configuration)
    self.lock = parent?.lock ?? Lock()
    self.homeHops = !Environment.canLend ? -1 : scopeName == nil ? 0 : (parent?.homeHops ?? -2) + 1
    self.log = parent?.log ?? .shared
  }

  deinit {
    index.release()
    flat.deallocate()
    slots?.deallocate()
  }

  let hasSeed: Bool
  /// Final once the plan is frozen.
  private(set) var slotCount = 0
  /// Of the children that a factory opens.
  private(set) var initialState: UInt = 0
  /// How far out the nearest plain environment is; -1 where beans cannot be lent.
  let homeHops: Int
  private(set) var tail = Tail(slots: 0, hasScope: false, hasSeed: false)
  /// Whether the factory makes a scope object for each child.
  var hasScopeObject = false
  /// Whether its environments speak of single beans. Settled by `freeze`.
  private(set) var isFollowed = false
  /// Where its environments speak of themselves; changed before startup only.
  var log: ContainerLog

  /// Settles what startup has written; from now on environments may be opened.
  func freeze() {
    isFollowed = log.followsBeans
    recipes.forEach { $0.freeze() }
    initialState = Environment.initialState(slots: slotCount)
    tail = Tail(slots: slotCount, hasScope: hasScopeObject, hasSeed: hasSeed)
    flat.deallocate()
    flat = .allocate(capacity: slotCount)
    for (slot, recipe) in slotRecipes.enumerated() {
      guard let settled = recipe.flat else { continue }
      (flat + slot).initialize(to: settled)
    }
  }

  /// For the one environment of a plain plan.
  func allocateSlots() {
    slots = .allocate(capacity: slotCount)
    for index in 0..<slotCount { slots.map { ($0 + index).initialize(to: Slot()) } }
  }

  /// The plan itself and its ancestors, nearest first, with their distance.
  var chain: some Sequence<(plan: Plan, hops: Int)> {
    sequence(first: (plan: self, hops: 0)) { next in next.plan.parent.map { ($0, next.hops + 1) } }
  }

  /// All plans of factories below, at any depth.
  var descendants: [Plan] { factories + factories.flatMap(\.descendants) }

  // MARK: declarations

  /// `identity`: the class of what the slot will hold.
  func setSeed(_ type: Any.Type, identity: ObjectIdentifier, origin: EnvironmentError.Origin) {
    let definition = Definition(seed: type, scopeName: scopeName ?? "singleton", identity: identity, origin: origin)
    seed = definition
    definitionsByType[ObjectIdentifier(type), default: []].append(definition)
    // The first slot of every child; filled when it opens, so released last.
    _ = recipe(for: definition, kind: .slot(0))
  }

  func register(_ declaration: BeanDeclaration) -> BeanDeclaration? {
    guard let id = declaration.id else { return nil }
    if let earlier = declarationsById[id] { return earlier }
    declarationsById[id] = declaration
    return nil
  }

  /// Where an id is declared in this very plan.
  func ownOrigin(ofId id: String) -> EnvironmentError.Origin? { declarationsById[id]?.origin }

  /// Makes a declaration known by another id; false where there is none.
  func enter(alias: String, of id: String) -> Bool {
    guard let found = find(id: id) else { return false }
    declarationsById[alias] = found.declaration
    aliased.append((alias, id))
    return true
  }

  /// The same for what became of the declarations: the bean, and the factory behind it.
  func defineAliases() {
    for (alias, id) in aliased {
      definitionsById[alias] = find(id: id)?.definition
      guard let factory = find(id: "&\(id)") else { continue }
      declarationsById["&\(alias)"] = factory.declaration
      definitionsById["&\(alias)"] = factory.definition
    }
  }

  /// Whether a bean declared here is a scope.
  private(set) var hasScopeBean = false
  /// Whether a bean declared here is an injection.
  private(set) var hasInjectionBean = false

  /// Beans declared here that bring configuration.
  private(set) var sources: [Definition] = []

  func add(_ definition: Definition) {
    if definition.isScope { hasScopeBean = true }
    if definition.isInjection { hasInjectionBean = true }
    if definition.isSource { sources.append(definition) }
    definitions.append(definition)
    if let id = definition.id, definitionsById[id] == nil { definitionsById[id] = definition }
    if let declaration = definition.declaration { definitionsByDeclaration[ObjectIdentifier(declaration)] = definition }
    let classes = TypeRelation.classes(of: definition.type)
    for type in classes { definitionsByType[ObjectIdentifier(type), default: []].append(definition) }
    if classes.isEmpty { definitionsByType[ObjectIdentifier(definition.type), default: []].append(definition) }
  }

  /// The nearest declaration with that id. One that names its own id as its template means the next one further out.
  func declaration(byId id: String, otherThan declaration: BeanDeclaration) -> BeanDeclaration? {
    for (plan, _) in chain {
      if let found = plan.declarationsById[id], found !== declaration || declaration.id != id { return found }
    }
    return nil
  }

  /// The nearest environment's word on an id: a definition, or an abstract declaration that hides those further out.
  func find(id: String) -> (definition: Definition?, declaration: BeanDeclaration)? {
    for (plan, _) in chain {
      if let declaration = plan.declarationsById[id] { return (plan.definitionsById[id], declaration) }
    }
    return nil
  }

  func definition(of declaration: BeanDeclaration) -> Definition? {
    chain.lazy.compactMap { $0.plan.definitionsByDeclaration[ObjectIdentifier(declaration)] }.first
  }

  /// Beans declared here that can be used as `type`, in order of definition; the seed only by its own type.
  func candidates(for type: Any.Type) -> [Definition] {
    let key = ObjectIdentifier(type)
    guard TypeRelation.isExistential(type) else { return definitionsByType[key] ?? [] }
    if let known = candidatesByExistential[key] { return known }
    let found =
      definitions.filter { TypeRelation.isUsable($0.type, as: type) } + (definitionsByType[key] ?? []).filter(\.isSeed)
    candidatesByExistential[key] = found
    return found
  }

  /// Whether a nearer environment than the one `hops` out uses the id for something else.
  func hides(_ definition: Definition, hops: Int) -> Bool {
    guard let id = definition.id else { return false }
    return chain.prefix(while: { $0.hops < hops }).contains { $0.plan.declarationsById[id] != nil }
  }

  /// ", did you mean …" for an id that is almost one.
  private var hintsLeft = 20

  func hint(forId id: String) -> String {
    // Each hint costs a walk over all ids: the first ones help, a thousand of them only take time.
    hintsLeft -= 1
    guard hintsLeft >= 0 else { return "" }
    let known = chain.flatMap { $0.plan.declarationsById.keys }
    guard let near = known.filter({ EditDistance.isSmall($0, id) }).min() else { return "" }
    return "; did you mean '\(near)'?"
  }

  // MARK: recipes

  func recipe(of definition: Definition) -> Recipe? { recipesByDefinition[ObjectIdentifier(definition)] }

  func recipe(for definition: Definition, kind: Recipe.Kind) -> Recipe {
    let recipe = Recipe(definition, kind: kind, plan: self)
    recipes.append(recipe)
    recipesByDefinition[ObjectIdentifier(definition)] = recipe
    if case .slot = kind {
      slotRecipes.append(recipe)
      slotCount += 1
    }
    return recipe
  }

  /// Keeps lookups out of the tables, which compiling a plan further in reads and extends.
  func exclusively<R>(_ body: () throws -> R) rethrows -> R { try lock.mutex.withLock { _ in try body() } }

  // MARK: lookups and the end

  /// Lets go of what users gave: their closures may hold the environment. After the end, nothing is looked up any more.
  func dismantle() {
    for plan in [self] + descendants {
      plan.configuration.close()
      plan.lock.mutex.withLock { _ in
        plan.declarations.forEach { $0.instance = nil }
        plan.declarations = []
        plan.aliases = []
        plan.scopes = []
        plan.definitions = []
        plan.sources = []
        plan.definitionsById = [:]
        plan.declarationsById = [:]
        plan.definitionsByType = [:]
        plan.candidatesByExistential = [:]
        plan.definitionsByDeclaration = [:]
        plan.recipesByDefinition = [:]
        plan.recipes.forEach { $0.dismantle() }
        plan.recipes = []
        plan.sorted = []
        plan.processors = []
        plan.injections = []
        plan.index.takeUnretainedValue().removeAll()
      }
    }
  }

  /// What was declared, while no environment is being dismantled.
  var declared: [(declaration: BeanDeclaration, definition: Definition?)] {
    lock.mutex.withLock { _ in
      declarations.map { ($0, definitionsByDeclaration[ObjectIdentifier($0)]) }
    }
  }

  /// The edge for a lookup from outside; the first one by a type connects it, the later ones find it in the index.
  func edge(for dependency: Dependency, id: String?) throws -> Edge {
    let index = index.takeUnretainedValue()
    return try lock.mutex.withLock { _ in
      let key = ObjectIdentifier(dependency.wanted)
      if let id {
        if let known = index.find(key, id) { return known.takeUnretainedValue() }
      } else if let known = index.find(key) {
        return known.takeUnretainedValue()
      }
      hintsLeft = 20
      let found = try Linker.lookup(dependency, id: id, in: self)
      let edge = id == nil ? found : Edge(dependency, found.source, asked: id)
      index.insert(key, edge, id: id)
      return edge
    }
  }
}
