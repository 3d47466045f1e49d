import BeansConfiguration
import BeansReflection
import BeansSupport

/// The beans of one environment, or of all children of one factory, while they are compiled.
final class EnvironmentGraph {
  let declarations: EnvironmentDeclarations
  /// Which of them count.
  let active: ActiveDeclarations
  /// The graph further out that is compiled together with this one.
  private let outer: Unretained<EnvironmentGraph>?
  /// The plan further out that has been compiled before, nearest to the outermost graph.
  let parentPlan: Plan?
  private(set) var children: [EnvironmentGraph] = []
  /// All graphs below, at any depth.
  private(set) var below: [EnvironmentGraph] = []
  /// How many graphs further out are compiled with it.
  let depth: Int
  /// Names of scopes that users have registered here.
  let scopeNames: [String]
  /// Names of scopes that users have registered further out, in environments that have started.
  let outerScopes: [String]
  /// By entry.
  private(set) var definitions: [BeanDefinition] = []
  let declared: DeclaredBeans
  let hasSeed: Bool
  /// Whether its environments are no children of a factory.
  let isPlain: Bool
  /// That of beans which name no scope.
  let usualLifetime: Lifetime
  /// All that are seen from here, in the order in which they were placed; those with a slot in the order of slots.
  private(set) var placed: [BeanDefinition] = []
  private(set) var slotCount: Int32 = 0
  /// What is seen from here of beans that are declared further out.
  private(set) var foreign: [Plan.EntryKey: BeanDefinition] = [:]
  /// The entries of what was defined, in order; -1 for what is no bean.
  private(set) var listed: [Int32] = []
  /// Beans declared further out that may be built here, nearest first: prototypes, and those that name a scope.
  private(set) var inherited: [BeanDirectory.Found] = []
  /// The bean that each type stands for in a lookup; nil where several do.
  var chosen: [(type: Any.Type, bean: BeanDirectory.Found?)] = []
  /// The beans that ids stand for in a lookup, aliases included.
  var named: [(id: String, bean: BeanDirectory.Found)] = []
  var processors: [BeanDefinition.Target] = []
  var injections: [BeanDefinition.Target] = []
  /// Dependencies first.
  var sorted: [BeanDefinition] = []
  var plan: Plan?

  /// The graph of an environment, and those of all factories below.
  init(_ declarations: EnvironmentDeclarations, _ input: CompilerInput, in outer: EnvironmentGraph? = nil) {
    self.declarations = declarations
    declared = DeclaredBeans(declarations.configuration)
    active = ActiveDeclarations(declarations, in: outer, input)
    hasSeed = declarations.seed != nil
    isPlain = declarations.scopeName == nil
    usualLifetime = Lifetime(declarations.scopeName ?? "singleton")
    self.outer = outer.map { Unretained($0) }
    depth = outer.map { $0.depth + 1 } ?? 0
    parentPlan = input.parent
    scopeNames = outer == nil ? input.scopeNames : []
    outerScopes = input.outerScopes
    children = active.factories.map { EnvironmentGraph($0, input, in: self) }
    below = children + children.flatMap(\.below)
  }

  /// The graph further out, which keeps this one.
  var parent: EnvironmentGraph? { outer?.object }
  var name: String { declarations.name }
  var scopeName: String? { declarations.scopeName }
  /// What beans that are scopes are known to be called before they exist.
  private var scopeBeanNames: Set<String> = []
  var directory: BeanDirectory { declared.directory }
  var outerDirectory: BeanDirectory? { parent?.directory ?? parentPlan?.directory }

  /// This graph and those further out that are compiled with it.
  var chain: some Sequence<EnvironmentGraph> { sequence(first: self, next: \.parent) }

  /// The graph so many steps further out; nil for one that has been compiled before.
  func ancestor(_ hops: Int) -> EnvironmentGraph? {
    if hops > depth { return nil }
    var graph = Optional(self)
    for _ in 0..<hops { graph = graph?.parent }
    return graph
  }

  /// Whether a factory's scope of that name is open here or further out.
  func isOpen(_ name: String) -> Bool {
    hops(toScope: name) != nil || parentPlan?.isOpen(name) == true
  }

  /// How far out a factory's scope of that name is.
  func hops(toScope name: String) -> Int? { chain.enumerated().first { $0.element.scopeName == name }?.offset }

  /// What has been read; nothing is added later.
  func freeze(_ definitions: [BeanDefinition], _ listed: [Int32]) {
    self.definitions = definitions
    self.listed = listed
    placed.reserveCapacity(definitions.count)
    for definition in definitions where definition.traits.contains(.scope) {
      if let scope = definition.type as? any ScopeOfOneName.Type { scopeBeanNames.insert(scope.scopeName) }
    }
  }

  /// Finds the beans further out that may be built here; the graph further out has found its own.
  func findInherited() {
    func add(_ home: BeanDirectory, _ hops: Int, but usual: Lifetime) {
      for (number, entry) in home.entries.enumerated() where entry.lifetime != .singleton && entry.lifetime != usual {
        inherited.append(BeanDirectory.Found(directory: home, number: Int32(number), hops: hops))
      }
    }
    if let parent {
      add(parent.directory, 1, but: parent.usualLifetime)
      inherited += parent.inherited.map(\.further)
    } else {
      for (home, hops) in directory.chain where hops > 0 { add(home, hops, but: .singleton) }
    }
  }

  /// The beans of all graphs below.
  var belowDirectories: [BeanDirectory] = []

  func definitions(_ trait: BeanTraits) -> [BeanDefinition] {
    has(trait) ? definitions.filter { $0.traits.contains(trait) } : []
  }

  func has(_ trait: BeanTraits) -> Bool { directory.traits.contains(trait) }

  func placed(_ number: Int32, in directory: BeanDirectory) -> BeanDefinition? {
    guard directory === self.directory else { return foreign[Plan.EntryKey(directory, number)] }
    let definition = definitions[Int(number)]
    return definition.isPlaced ? definition : nil
  }

  /// Has a bean seen from here that is declared here or further out, with a slot where its kind has one.
  func place(_ definition: BeanDefinition, _ kind: Recipe.Kind) -> BeanDefinition {
    let isOwn = definition.home == Unretained(declared)
    let own = isOwn ? definition : definition.copy()
    switch kind {
    case .slot, .scoped:
      own.place(in: self, kind, slot: slotCount)
      slotCount += 1
    case .prototype, .product: own.place(in: self, kind, slot: -1)
    }
    // Taken out and put back: what is changed in place is looked up in a table of accesses each time.
    var all = placed
    placed = []
    all.append(own)
    placed = all
    if !isOwn { foreign[Plan.EntryKey(definition.directory, definition.entry)] = own }
    return own
  }

  /// The numbers of recipes by the entries of beans that are declared here; -1 where there is none.
  var ownNumbers: [Int32] { definitions.map { $0.isPlaced ? $0.number : -1 } }
}

extension EnvironmentGraph {
  /// That no scope is called so, and what may have been meant.
  static func unknownScope(_ name: String, among names: [String]) -> String {
    let near = names.filter { EditDistance.isSmall($0, name) }
    return "no scope is called '\(name)'\(near.min().map { "; did you mean '\($0)'?" } ?? "")"
  }

  /// What to say of scopes that would be there if their declarations counted.
  func hint(forInactiveScope name: String) -> String {
    let factories = (Array(chain) + below).flatMap(\.active.inactiveFactories).filter { $0.declarations.name == name }
    return factories.map { "; \($0.reason.message)\($0.reason.origin.map { " (\($0))" } ?? "")" }.joined()
      + directory.hint(forInactive: BeanTraits.scope)
  }

  /// Whether the name belongs to the children of some factory.
  func isFactoryScope(_ name: String) -> Bool {
    if Lifetime.isFactoryScope(name) { return true }
    if chain.contains(where: { $0.scopeName == name }) { return true }
    if below.contains(where: { $0.scopeName == name }) { return true }
    return parentPlan.map { $0.chain.contains { $0.plan.scopeName == name } } ?? false
  }

  /// Whether a user's scope decides. One that is a bean has a name only when it exists.
  func isRegistered(_ name: String) -> Bool {
    if chain.contains(where: { $0.scopeNames.contains(name) || $0.scopeBeanNames.contains(name) }) { return true }
    if outerScopes.contains(name) { return true }
    return !isFactoryScope(name) && chain.contains { $0.has(.scope) }
  }

  func isKnown(_ lifetime: Lifetime) -> Bool {
    guard case .scope(let name) = lifetime else { return true }
    return isFactoryScope(name) || isRegistered(name)
  }

  /// All names that there are, for hints.
  var allScopeNames: [String] {
    ["singleton", "prototype", "request", "session"]
      + (Array(chain) + below).compactMap(\.scopeName)
      + (parentPlan.map { $0.chain.compactMap(\.plan.scopeName) } ?? [])
      + chain.flatMap(\.scopeNames) + outerScopes
  }
}
