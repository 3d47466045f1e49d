import BeansConfiguration
import BeansReflection
import BeansErrors

/// The beans of one environment, or of all children of one factory, during compilation.
final class EnvironmentGraph: NestedLevel {
  let declarations: EnvironmentDeclarations
  /// The active ones among the declarations.
  let active: ActiveDeclarations
  /// The graph further out that is compiled together with this one.
  private let outer: Unretained<EnvironmentGraph>?
  let input: CompilerInput
  private(set) var children: [EnvironmentGraph] = []
  /// The positions of all graphs below, at any depth, among the graphs that are compiled together.
  private(set) var positions = 0..<0
  /// The number of graphs further out that are compiled together with this one.
  let depth: Int
  private let outerShortcut: Unretained<EnvironmentGraph>?
  /// The numbers of beans whose declarations have errors.
  private(set) var faulty: Set<Int32> = []
  /// The beans declared here, by number, once they are placed here.
  private var own: [PlacedBean?] = []
  let declared: DeclaredBeans
  /// Whether the environments of the graph are no children of a factory.
  let isPlain: Bool
  /// The lifetime of beans that name no scope.
  let usualLifetime: Lifetime
  /// The beans that the graph's environments see, in the order of placement. Those with a slot are in slot order.
  private(set) var placed: [PlacedBean] = []
  private(set) var slotCount: Int32 = 0
  /// The placed beans that are declared further out, by their definitions.
  private(set) var foreign = [ObjectIdentifier: PlacedBean]()
  /// The beans that graphs further in may build anew, nearest first.
  private var inheritable: [BeanDirectory.Found] = []
  /// The bean that a lookup of each type returns; nil if several match.
  var chosen: [(type: Any.Type, bean: BeanDirectory.Found?)] = []
  /// The beans that lookups by id return, aliases included.
  var named: [(id: String, bean: BeanDirectory.Found)] = []
  var processors: [DefinedBean] = []
  var injections: [DefinedBean] = []
  /// The placed beans in build order, dependencies first.
  var sorted: [PlacedBean] = []
  var plan: Plan?

  /// Creates the graph of an environment, and those of all factories below.
  init(_ declarations: EnvironmentDeclarations, _ input: CompilerInput, in outer: EnvironmentGraph? = nil) {
    (self.declarations, self.input) = (declarations, input)
    declared = DeclaredBeans(declarations.configuration)
    active = ActiveDeclarations(declarations, in: outer?.levels ?? [], input.parent?.directory)
    isPlain = declarations.scopeName == nil
    usualLifetime = Lifetime(declarations.scopeName ?? "singleton")
    self.outer = outer.map { Unretained($0) }
    depth = outer.map { $0.depth + 1 } ?? 0
    outerShortcut = EnvironmentGraph.shortcut(below: outer).map { Unretained($0) }
    children = active.factories.map { EnvironmentGraph($0, input, in: self) }
  }

  /// The graph further out, which retains this one.
  var parent: EnvironmentGraph? { outer?.object }
  /// The compiled plan further out that is nearest to the outermost graph.
  var parentPlan: Plan? { input.parent }
  var shortcut: EnvironmentGraph? { outerShortcut?.object }
  var name: String { declarations.name }
  var scopeName: String? { declarations.scopeName }
  var hasSeed: Bool { declarations.seed != nil }
  /// The names of beans that are scopes, here and further out; nil for one whose name is unknown before it exists.
  private var scopeBeans: Set<String?> = []
  var directory: BeanDirectory { declared.directory }
  /// The beans declared here, by number.
  var definitions: [BeanDefinition] { directory.beans }
  var outerDirectory: BeanDirectory? { parent?.directory ?? parentPlan?.directory }

  /// The active declarations of the graph, and of those further out, nearest first.
  private var levels: [ActiveDeclarations] { sequence(first: self, next: \.parent).map(\.active) }

  /// All graphs below, at any depth: the children, then those below each of them.
  var below: [EnvironmentGraph] { children + children.flatMap(\.below) }

  /// Adds all graphs below to those that are compiled together, in the order of `below`, and stores their positions.
  func addBelow(to all: inout [EnvironmentGraph]) {
    let first = all.count
    all += children
    for child in children { child.addBelow(to: &all) }
    positions = first..<all.count
  }

  /// Whether the children of a factory below open a scope of that name.
  func hasBelow(scope name: String) -> Bool { belowDirectories.contains { $0.scopeName == name } }

  /// Whether a factory's scope of that name is open here or further out.
  func isOpen(_ name: String) -> Bool { directory.hops(toScope: name) != nil }

  /// Stores the result of reading the declarations. Nothing is added later.
  func freeze() {
    own = Array(repeating: nil, count: definitions.count)
    var placed: [PlacedBean] = []
    placed.reserveCapacity(definitions.count)
    self.placed = placed
    scopeBeans = parent?.scopeBeans ?? []
    for definition in definitions(.scope) {
      scopeBeans.insert((definition.type as? any ScopeOfOneName.Type)?.scopeName)
    }
  }

  /// Finds the beans further out that are built here, nearest first: prototypes, and beans that name the scope. The
  /// graph further out must have found its own before.
  func findInherited() -> [BeanDirectory.Found] {
    var outer: [BeanDirectory.Found] = []
    if let parent {
      outer = parent.inheritable.map(\.further)
    } else {
      for (home, hops) in directory.chain where hops > 0 {
        outer += home.inheritable.map { directory.found($0.number, in: home) }
      }
    }
    if !children.isEmpty { inheritable = directory.inheritable + outer.filter { $0.lifetime != usualLifetime } }
    return outer.filter { $0.lifetime == .prototype || $0.lifetime == usualLifetime }
  }

  /// The directories of all graphs below.
  var belowDirectories: ArraySlice<BeanDirectory> = []

  func definitions(_ trait: BeanTraits) -> [BeanDefinition] {
    if directory.traits.contains(trait) { definitions.filter { $0.traits.contains(trait) } } else { [] }
  }

  /// Changes the numbers of the beans whose declarations have errors.
  func changeFaulty(_ body: (inout Set<Int32>) -> Void) {
    // Moved out and back, as in `place`.
    var all: Set<Int32> = []
    swap(&all, &faulty)
    body(&all)
    swap(&all, &faulty)
  }

  /// Returns a bean that is declared here, where the graph has placed it.
  func placed(_ number: Int32) -> PlacedBean? { own[Int(number)] }

  /// Returns a bean of a directory, where the graph has placed it.
  func placed(_ number: Int32, from home: BeanDirectory) -> PlacedBean? {
    if home === directory { placed(number) } else { foreign[ObjectIdentifier(home.beans[Int(number)])] }
  }

  /// Places a bean that is declared here or further out: the graph sees it, with a slot if its kind has one.
  ///
  /// - Parameters:
  ///   - definition: the bean.
  ///   - home: the directory that declares it.
  ///   - kind: the kind of its recipe.
  ///   - binding: its setters and values.
  ///   - isAtFault: whether its declaration has errors.
  func place(
    _ definition: BeanDefinition, from home: BeanDirectory, _ kind: Recipe.Kind, _ binding: BeanBinding?,
    isAtFault: Bool
  ) -> PlacedBean {
    var slot: Int32 = -1
    if kind == .slot || kind == .scoped {
      slot = slotCount
      slotCount += 1
    }
    let bean = PlacedBean(definition, from: home, in: self, kind, slot: slot, binding, isAtFault: isAtFault)
    // Moved out and back: modification in place would run a dynamic exclusivity check each time.
    var all: [PlacedBean] = []
    swap(&all, &placed)
    all.append(bean)
    swap(&all, &placed)
    if home === directory {
      var own: [PlacedBean?] = []
      swap(&own, &self.own)
      own[Int(definition.number)] = bean
      swap(&own, &self.own)
    } else {
      foreign[ObjectIdentifier(definition)] = bean
    }
    return bean
  }

  /// The numbers of the recipes, by the numbers of beans declared here; -1 for a bean without a recipe.
  var ownNumbers: [Int32] { own.map { $0?.number ?? -1 } }
}

extension EnvironmentGraph {
  /// Returns the message that no scope has the name, with a near miss as hint: an existing scope, else a usual name.
  static func unknownScope(_ name: String, among names: [String]) -> String {
    func nearest(_ names: [String]) -> String? { names.filter { $0 != name && EditDistance.isSmall($0, name) }.min() }
    let near = nearest(names) ?? nearest(["request", "session"])
    return "no scope is called '\(name)'\(near.map { "; did you mean '\($0)'?" } ?? "")"
  }

  /// Returns hints at matching inactive declarations, here and further out, before the directory exists.
  func hint(forInactive isMeant: (InactiveDeclaration) -> Bool) -> String {
    let own = active.inactive.filter(isMeant).map(\.hint).joined()
    return outerDirectory.map { own + $0.hint(forInactive: isMeant) } ?? own
  }

  /// Returns hints at scopes that would exist if their declarations were active.
  func hint(forInactiveScope name: String) -> String {
    let outwards = Array(sequence(first: self, next: \.parent))
    let factories = (outwards + below).flatMap(\.active.inactiveFactories).filter { $0.declarations.name == name }
    return factories.map { "; \($0.reason.message)\($0.reason.origin.map { " (\($0))" } ?? "")" }.joined()
      + directory.hint(forInactive: BeanTraits.scope)
  }

  /// Whether the name is that of a scope which the children of some factory open.
  func isFactoryScope(_ name: String) -> Bool {
    if Lifetime.isFactoryScope(name) { return true }
    return isOpen(name) || hasBelow(scope: name)
  }

  /// Whether the name is that of a user's scope. A bean whose name is unknown may be the scope.
  func isRegistered(_ name: String) -> Bool {
    if input.scopeNames.contains(name) || scopeBeans.contains(name) || input.outerScopes.contains(name) { return true }
    return !scopeBeans.isEmpty && !isFactoryScope(name)
  }

  /// Whether no factory opens the scope here or further out, and one with a similar name does. Without such a factory, an
  /// environment further in may open a scope called `request` or `session`.
  func isMisspelled(_ name: String) -> Bool {
    guard Lifetime.isFactoryScope(name), !isOpen(name), !hasBelow(scope: name) else { return false }
    return allScopeNames.contains { $0 != name && EditDistance.isSmall($0, name) }
  }

  func isKnown(_ lifetime: Lifetime) -> Bool {
    guard case .scope(let name) = lifetime else { return true }
    return isFactoryScope(name) || isRegistered(name)
  }

  /// All existing scope names, for hints.
  var allScopeNames: [String] {
    ["singleton", "prototype"]
      + directory.chain.compactMap(\.directory.scopeName) + belowDirectories.compactMap(\.scopeName)
      + input.scopeNames + input.outerScopes
  }
}
