import BeansConfiguration
import BeansReflection
import BeansSupport

/// The beans of one environment, or of all children of one factory, while they are compiled.
final class EnvironmentGraph {
  let declarations: EnvironmentDeclarations
  /// The graph further out that is compiled together with this one.
  private(set) weak var parent: EnvironmentGraph?
  /// The plan further out that has been compiled before, nearest to the outermost graph.
  let parentPlan: Plan?
  private(set) var children: [EnvironmentGraph] = []
  /// Names of scopes that users have registered here.
  let scopeNames: [String]
  /// By entry.
  private(set) var definitions: [BeanDefinition] = []
  private var frozen: BeanDirectory?
  /// In the order in which they were made; those with a slot in the order of slots.
  private(set) var drafts: [RecipeDraft] = []
  private(set) var slotCount: Int32 = 0
  private var draftsByEntry: [Plan.EntryKey: RecipeDraft] = [:]
  var processors: [RecipeDraft.Target] = []
  var injections: [RecipeDraft.Target] = []
  /// Dependencies first.
  var sorted: [RecipeDraft] = []
  /// Declarations by id, for those further in that inherit from them.
  var specs: [String: BeanSpec] = [:]
  var plan: Plan?

  init(
    _ declarations: EnvironmentDeclarations, parent: EnvironmentGraph?, parentPlan: Plan?, scopeNames: [String]
  ) {
    self.declarations = declarations
    self.parent = parent
    self.parentPlan = parentPlan
    self.scopeNames = scopeNames
    children = declarations.factories.map { EnvironmentGraph($0, parent: self, parentPlan: parentPlan, scopeNames: []) }
  }

  var name: String { declarations.name }
  var scopeName: String? { declarations.scopeName }
  /// What any of the beans is.
  private var traits: BeanTraits = []
  private var scopeBeanNames: Set<String> = []
  var directory: BeanDirectory {
    // Set before anything asks for it.
    guard let frozen else { preconditionFailure("the beans of '\(name)' are asked for before they are known") }
    return frozen
  }
  var outerDirectory: BeanDirectory? { parent?.directory ?? parentPlan?.directory }
  var hasSeed: Bool { declarations.seed != nil }

  /// This graph and those further out that are compiled with it.
  var chain: [EnvironmentGraph] { [self] + (parent?.chain ?? []) }

  /// All graphs below, at any depth.
  var below: [EnvironmentGraph] { children + children.flatMap(\.below) }

  func freeze(_ directory: BeanDirectory) { frozen = directory }

  func add(_ definition: BeanDefinition) {
    definitions.append(definition)
    traits.formUnion(definition.traits)
    if definition.traits.contains(.scope), let scope = definition.type as? any ScopeOfOneName.Type {
      scopeBeanNames.insert(scope.scopeName)
    }
  }

  func definitions(_ trait: BeanTraits) -> [BeanDefinition] {
    has(trait) ? definitions.filter { $0.traits.contains(trait) } : []
  }

  func has(_ trait: BeanTraits) -> Bool { traits.contains(trait) }

  /// Whether a bean is a scope that is known to be called so before it exists.
  func hasScopeBean(called name: String) -> Bool { scopeBeanNames.contains(name) }

  func draft(of key: Plan.EntryKey) -> RecipeDraft? { draftsByEntry[key] }

  /// A new draft, with a slot where its kind has one.
  func makeDraft(_ definition: BeanDefinition, _ kind: Recipe.Kind, _ key: Plan.EntryKey) -> RecipeDraft {
    let draft = RecipeDraft(definition, in: self, kind)
    switch kind {
    case .slot, .scoped:
      draft.slot = slotCount
      slotCount += 1
    case .prototype, .product: break
    }
    drafts.append(draft)
    draftsByEntry[key] = draft
    return draft
  }

  var entries: [Plan.EntryKey: RecipeDraft] { draftsByEntry }

  func reserve(_ count: Int) {
    definitions.reserveCapacity(count)
    drafts.reserveCapacity(count)
    draftsByEntry.reserveCapacity(count)
  }
}

extension EnvironmentGraph {
  /// That no scope is called so, and what may have been meant.
  static func unknownScope(_ name: String, among names: [String]) -> String {
    let near = names.filter { EditDistance.isSmall($0, name) }
    return "no scope is called '\(name)'\(near.min().map { "; did you mean '\($0)'?" } ?? "")"
  }
}

/// What a scope name means, seen from the environment that declares the bean.
struct ScopeNames {
  let graph: EnvironmentGraph
  /// Names of scopes that users have registered further out, in environments that have started.
  let outer: [String]

  /// Whether the name belongs to the children of some factory.
  func isFactoryScope(_ name: String) -> Bool {
    if Lifetime.isFactoryScope(name) { return true }
    if graph.chain.contains(where: { $0.scopeName == name }) { return true }
    if graph.below.contains(where: { $0.scopeName == name }) { return true }
    return graph.parentPlan.map { $0.chain.contains { $0.plan.scopeName == name } } ?? false
  }

  /// Whether a user's scope decides. One that is a bean has a name only when it exists.
  func isRegistered(_ name: String) -> Bool {
    if graph.chain.contains(where: { $0.scopeNames.contains(name) || $0.hasScopeBean(called: name) }) { return true }
    if outer.contains(name) { return true }
    return !isFactoryScope(name) && graph.chain.contains { $0.has(.scope) }
  }

  func isKnown(_ lifetime: Lifetime) -> Bool {
    guard case .scope(let name) = lifetime else { return true }
    return isFactoryScope(name) || isRegistered(name)
  }

  /// All names that there are, for hints.
  var all: [String] {
    ["singleton", "prototype", "request", "session"]
      + (graph.chain + graph.below).compactMap(\.scopeName)
      + (graph.parentPlan.map { $0.chain.compactMap(\.plan.scopeName) } ?? [])
      + graph.chain.flatMap(\.scopeNames) + outer
  }
}
