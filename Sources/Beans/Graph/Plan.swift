@_spi(BeansPackage) import BeansSupport
import Synchronization

/// All recipes of one environment, or of all children of one factory: indexed by type and id, shared, and written only
/// by startup and, for lookups nobody foresaw, under `lock`.
///
/// What the compiler reads and writes for each bean is not checked for overlapping accesses; nor is it in the classes
/// of which a plan consists.
@usableFromInline
final class Plan: @unchecked Sendable {  // see above; `index` may be read at any time
  let name: String
  /// The scope its environments open; nil for a plain environment, which holds singletons.
  let scopeName: String?
  /// Not held, because a plan holds those of its factories. Whoever uses a plan holds its ancestors, too: an environment
  /// through its parent, a factory by itself.
  unowned(unsafe) let parent: Plan?

  // What was declared.
  @exclusivity(unchecked) var declarations: [BeanDeclaration] = []
  @exclusivity(unchecked) var factories: [Plan] = []
  var aliases: [Alias] = []
  @exclusivity(unchecked) private(set) var seed: Definition?
  /// Ordered by registration; a later one of the same name replaces an earlier.
  var scopes: [NamedScope] = []
  let configuration: ConfigurationManager

  /// The name is asked for once: it is user code, and compared under the plan's lock.
  struct NamedScope {
    let name: String
    let scope: any BeanScope
  }

  // What startup made of it.
  @exclusivity(unchecked) private(set) var definitions: [Definition] = []
  @exclusivity(unchecked) private(set) var ids = IdTable()
  /// From alias to id, for those whose bean there is.
  private var aliased: [(name: String, id: String)] = []
  @exclusivity(unchecked) private var definitionsByType: [AddressKey: [Definition]] = [:]
  private var candidatesByExistential: [AddressKey: [Definition]] = [:]
  /// By slot.
  @exclusivity(unchecked) private(set) var slotRecipes: [Recipe] = []
  /// In order of creation; holds them all.
  @exclusivity(unchecked) private(set) var recipes: [Recipe] = []
  /// Of definitions whose home is another plan.
  @exclusivity(unchecked) private var foreignRecipes: [AddressKey: Recipe] = [:]
  /// Dependencies first.
  var sorted: [Recipe] = []
  /// Those of ancestors first.
  @exclusivity(unchecked) var processors: [Edge] = []
  /// Those of ancestors first.
  @exclusivity(unchecked) var injections: [Edge] = []
  /// Of lookups from outside.
  @usableFromInline let index = EdgeIndex()
  /// What recipes settle to.
  private var settled: [SlotPlanMemory] = []
  /// By slot, flat, for the request path: written by `freeze`.
  @exclusivity(unchecked) private(set) var flat = UnsafeMutablePointer<UnsafeMutablePointer<SlotPlan>>.allocate(
    capacity: 0)
  /// Of the one environment of a plain plan, once it has started.
  @exclusivity(unchecked) private(set) var slots: UnsafeMutablePointer<Slot>?

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
    self.home = parent?.home
    self.log = parent?.log ?? .shared
  }

  deinit {
    flat.deallocate()
    slots?.deallocate()
  }

  let hasSeed: Bool
  /// Final once the plan is frozen.
  @exclusivity(unchecked) private(set) var slotCount = 0
  /// Of the children that a factory opens.
  private(set) var initialState: UInt = 0
  /// The nearest plain environment, which every environment of this plan is, or holds through its parent; nil where
  /// beans cannot be lent. Written before a plain plan's environment, or a factory's plan, is known to anybody.
  @exclusivity(unchecked) @usableFromInline var home: Unmanaged<Environment>?
  private(set) var tail = Tail(slots: 0, hasScope: false, hasSeed: false)
  /// Whether the factory makes a scope object for each child.
  var hasScopeObject = false
  /// Whether its environments speak of single beans. Settled by `freeze`.
  @exclusivity(unchecked) private(set) var isFollowed = false
  /// Where its environments speak of themselves; changed before startup only.
  var log: ContainerLog

  /// Settles what startup has written; from now on environments may be opened.
  func freeze() {
    isFollowed = log.followsBeans
    initialState = Environment.initialState(slots: slotCount)
    tail = Tail(slots: slotCount, hasScope: hasScopeObject, hasSeed: hasSeed)
    flat.deallocate()
    flat = .allocate(capacity: slotCount)
    // A few at a time: what is looked at twice is near, then.
    for first in stride(from: 0, to: recipes.count, by: 256) {
      let some = recipes[first..<min(first + 256, recipes.count)]
      settle(some)
      for recipe in some where recipe.slot >= 0 {
        if let settled = recipe.flat { (flat + recipe.slot).initialize(to: settled) }
      }
    }
  }

  /// The same for recipes that a lookup has added.
  func settle(_ recipes: ArraySlice<Recipe>) {
    if !recipes.isEmpty { settled.append(SlotPlanMemory(recipes, in: self)) }
  }

  /// For the one environment of a plain plan.
  func allocateSlots() {
    slots = .allocate(capacity: slotCount)
    for index in 0..<slotCount { slots.map { ($0 + index).initialize(to: Slot()) } }
  }

  /// The plan itself and its ancestors, nearest first, with their distance.
  var chain: PlanChain { PlanChain(from: self) }

  /// All plans of factories below, at any depth.
  var descendants: [Plan] { factories + factories.flatMap(\.descendants) }

  // MARK: declarations

  /// `identity`: the class of what the slot will hold.
  func setSeed(_ type: Any.Type, identity: ObjectIdentifier, origin: EnvironmentError.Origin) {
    let definition = Definition(seed: type, scopeName: scopeName ?? "singleton", identity: identity, at: .known(origin))
    definition.settle(in: self)
    seed = definition
    definitionsByType[AddressKey(type), default: []].append(definition)
    // The first slot of every child; filled when it opens, so released last.
    _ = recipe(for: definition, kind: .slot(0))
  }

  /// Answers the declaration that has taken the id before.
  func register(_ declaration: BeanDeclaration) -> BeanDeclaration? {
    guard let key = declaration.key else { return nil }
    let number = ids.enter(key)
    if let earlier = ids[number].declaration { return earlier.takeUnretainedValue() }
    ids[number].declaration = .passUnretained(declaration)
    declaration.nameNumber = number
    return nil
  }

  /// Makes room for so many declarations.
  func reserve(_ count: Int) {
    ids.reserve(count)
    definitions.reserveCapacity(count)
    recipes.reserveCapacity(recipes.count + count)
    slotRecipes.reserveCapacity(slotRecipes.count + count)
  }

  /// Where an id is declared in this very plan.
  func ownOrigin(ofId id: String) -> EnvironmentError.Origin? { ids[id]?.declaration?.takeUnretainedValue().origin }

  /// Makes a declaration known by another id; false where there is none.
  func enter(alias: String, of id: String) -> Bool {
    guard let found = find(id: id) else { return false }
    enter(alias, found.declaration, nil)
    aliased.append((alias, id))
    return true
  }

  /// The same for what became of the declarations: the bean, and the factory behind it.
  func defineAliases() {
    for (alias, id) in aliased {
      let bean = find(id: id)
      enter(alias, bean?.declaration, bean?.definition)
      guard let factory = find(id: "&\(id)") else { continue }
      enter("&\(alias)", factory.declaration, factory.definition)
    }
  }

  private func enter(_ alias: String, _ declaration: BeanDeclaration?, _ definition: Definition?) {
    let number = ids.enter(IdKey(alias))
    ids[number].declaration = declaration.map { .passUnretained($0) }
    ids[number].definition = definition.map { .passUnretained($0) }
  }

  /// Beans declared here that serve the container; in order of definition.
  struct Special {
    var scopes: [Definition] = []
    var injections: [Definition] = []
    var processors: [Definition] = []
    /// Those that bring configuration.
    var sources: [Definition] = []
  }

  // Usually there are few of them: nobody has to look for them among all.
  @exclusivity(unchecked) private(set) var special = Special()
  /// Beans declared here that are no singletons of a plain environment.
  @exclusivity(unchecked) private(set) var scoped: [Definition] = []
  /// Beans declared here that may have values for startup to settle.
  @exclusivity(unchecked) private(set) var valued: [Definition] = []

  var hasScopeBean: Bool { !special.scopes.isEmpty }
  var hasInjectionBean: Bool { !special.injections.isEmpty }
  var hasProcessorBean: Bool { !special.processors.isEmpty }

  func add(_ definition: Definition) {
    if !definition.traits.isDisjoint(with: [.scope, .injection, .processor, .source]) {
      if definition.isScope { special.scopes.append(definition) }
      if definition.isInjection { special.injections.append(definition) }
      if definition.isProcessor { special.processors.append(definition) }
      if definition.isSource { special.sources.append(definition) }
    }
    if scopeName != nil || definition.scopeName != "singleton" { scoped.append(definition) }
    if definition.mayHaveValues { valued.append(definition) }
    definitions.append(definition)
    definition.settle(in: self)
    name(definition)
    if definition.isClass {
      var next: AnyClass? = definition.type as? AnyClass
      while let type = next {
        definitionsByType[AddressKey(type), default: []].append(definition)
        next = _getSuperclass(type)
      }
    } else {
      definitionsByType[AddressKey(definition.type), default: []].append(definition)
    }
  }

  private func name(_ definition: Definition) {
    guard let id = definition.id else { return }
    if let number = definition.declaration?.nameNumber {
      ids[number].definition = .passUnretained(definition)
    } else {
      // Of the next declaration of the same id, or of a factory, whose declaration is registered later.
      let number = ids.enter(IdKey(id))
      if ids[number].definition == nil { ids[number].definition = .passUnretained(definition) }
    }
  }

  /// The nearest declaration with that id. One that names its own id as its template means the next one further out.
  func declaration(byId id: String, otherThan declaration: BeanDeclaration) -> BeanDeclaration? {
    for (plan, _) in chain {
      if let found = plan.ids[id]?.declaration?.takeUnretainedValue(), found !== declaration || declaration.id != id {
        return found
      }
    }
    return nil
  }

  /// The nearest environment's word on an id: a definition, or an abstract declaration that hides those further out.
  func find(id: String) -> (definition: Definition?, declaration: BeanDeclaration)? {
    guard let found = ids[id], let declaration = found.declaration else { return parent?.find(id: id) }
    return (found.definition?.takeUnretainedValue(), declaration.takeUnretainedValue())
  }

  /// The bean of that id alone.
  func bean(byId key: IdKey) -> Definition? {
    guard let number = ids.number(of: key), ids[number].declaration != nil else { return parent?.bean(byId: key) }
    return ids[number].definition?.takeUnretainedValue()
  }

  func definition(of declaration: BeanDeclaration) -> Definition? {
    guard let definition = declaration.definition, chain.contains(where: { definition.isDeclared(in: $0.plan) }) else {
      return nil
    }
    return definition
  }

  /// Beans declared here that can be used as `type`, in order of definition; the seed only by its own type.
  func candidates(for type: Any.Type) -> [Definition] {
    let key = AddressKey(type)
    guard TypeRelation.isExistential(type) else { return definitionsByType[key] ?? [] }
    if let known = candidatesByExistential[key] { return known }
    let found =
      definitions.filter { TypeRelation.isUsable($0.type, as: type) } + (definitionsByType[key] ?? []).filter(\.isSeed)
    candidatesByExistential[key] = found
    return found
  }

  /// Whether a nearer environment than the one `hops` out uses the id for something else.
  func hides(_ definition: Definition, hops: Int) -> Bool {
    guard hops > 0, let id = definition.id else { return false }
    return chain.prefix(hops).contains { $0.plan.ids[id]?.declaration != nil }
  }

  /// ", did you mean …" for an id that is almost one.
  private var hintsLeft = 20

  func hint(forId id: String) -> String {
    // Each hint costs a walk over all ids: the first ones help, a thousand of them only take time.
    hintsLeft -= 1
    guard hintsLeft >= 0 else { return "" }
    let known = chain.flatMap { $0.plan.ids.names.filter { $0.declaration != nil }.map(\.id) }
    guard let near = known.filter({ EditDistance.isSmall($0, id) }).min() else { return "" }
    return "; did you mean '\(near)'?"
  }

  // MARK: recipes

  /// Whether there is, or was, a recipe that cannot be built from here.
  @exclusivity(unchecked) var hasInactive = false
  /// Whether the linker has found anything wrong.
  @exclusivity(unchecked) var hasFaults = false

  func recipe(of definition: Definition) -> Recipe? {
    definition.isDeclared(in: self) ? definition.recipe : foreignRecipes[AddressKey(definition)]
  }

  func recipe(for definition: Definition, kind: Recipe.Kind) -> Recipe {
    let recipe = Recipe(definition, kind: kind, plan: self)
    recipe.number = recipes.count
    recipes.append(recipe)
    if definition.isDeclared(in: self) {
      definition.recipeReference = .passUnretained(recipe)
    } else {
      foreignRecipes[AddressKey(definition)] = recipe
    }
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
        plan.ids = IdTable()
        plan.declarations.forEach { $0.instance = nil }
        plan.declarations = []
        plan.aliases = []
        plan.scopes = []
        plan.definitions.forEach { $0.dismantle() }
        plan.seed?.dismantle()
        plan.definitions = []
        plan.special = Special()
        plan.scoped = []
        plan.valued = []
        plan.definitionsByType = [:]
        plan.candidatesByExistential = [:]
        plan.foreignRecipes = [:]
        plan.recipes.forEach { $0.dismantle() }
        plan.recipes = []
        plan.sorted = []
        plan.processors = []
        plan.injections = []
        plan.index.removeAll()
      }
    }
  }

  /// What was declared, while no environment is being dismantled.
  var declared: [(declaration: BeanDeclaration, definition: Definition?)] {
    lock.mutex.withLock { _ in
      declarations.map { declaration in
        (declaration, declaration.definition.flatMap { $0.isDeclared(in: self) ? $0 : nil })
      }
    }
  }

  /// The edge for a lookup from outside; the first one by a type connects it, the later ones find it in the index.
  func edge(for dependency: Dependency, id: String?) throws -> Edge {
    try lock.mutex.withLock { _ in
      let key = ObjectIdentifier(dependency.wanted)
      if let id {
        if let known = index.find(key, id) { return known.pointee.edge.takeUnretainedValue() }
      } else if let known = index.find(key) {
        return known.pointee.edge.takeUnretainedValue()
      }
      hintsLeft = 20
      let found = try Linker.lookup(dependency, id: id, in: self)
      let edge = id == nil ? found : Edge(dependency, found.source, asked: id)
      index.insert(key, edge, id: id)
      return edge
    }
  }
}
