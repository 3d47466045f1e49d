import BeansConfiguration
import BeansReflection

/// From declarations to plans, or to everything that is wrong with them. No bean is built here.
struct GraphCompiler {
  /// What a compilation begins with.
  struct Input {
    /// The plan of the environment further out, which has started.
    let parent: Plan?
    /// The slots of the one environment of a plan; nil for plans of factories.
    let slots: (Plan) -> Slots?
    /// Names of scopes that users have registered in the environment itself, and further out.
    let scopeNames: [String]
    let outerScopes: [String]
    /// What was declared further out.
    let inherited: InheritedBeans
    /// Whether each bean is spoken of in the log.
    let isTraced: Bool
    /// Whether values may be missing when the first beans are built.
    var hasSources = false
    /// What beans ask for, here and further out.
    var parameters: [Parameter] = []
  }

  /// What comes out of it.
  struct Output {
    let plan: Plan
    /// Those of factories, at any depth, with what was declared for them.
    let below: [(declarations: EnvironmentDeclarations, plan: Plan)]
    let block: SlotBlock
    let codes: [BeanCode]
    let declared: DeclaredBeans
  }

  private let graph: EnvironmentGraph
  private var input: Input
  private var resolver: DependencyResolver
  private(set) var faults: [EnvironmentError] = []
  private(set) var binder: ValueBinder
  /// Beans of this environment that bring configuration.
  private(set) var sources: [BeanDefinition] = []

  /// Finds what is wrong with the declarations of an environment and of all factories below it.
  init(_ declarations: EnvironmentDeclarations, _ input: Input) {
    self.input = input
    graph = EnvironmentGraph(declarations, parent: nil, parentPlan: input.parent, scopeNames: input.scopeNames)
    resolver = DependencyResolver(input.inherited, outerScopes: input.outerScopes)
    binder = ValueBinder(name: declarations.name, definitions: [])
    let graphs = [graph] + graph.below
    var readers = graphs.map { TemplateResolver($0) }
    for reader in readers { reader.prepareDescriptors() }
    for (index, graph) in graphs.enumerated() {
      readers[index].resolve(outer: graph.chain.dropFirst().map(\.specs) + input.inherited.levels.map(\.specs))
      faults += readers[index].faults + graph.declarations.faults
    }
    for graph in graphs { checkScopes(graph) }
    for graph in graphs { resolve(graph) }
    faults += Validator(graph: graph).validate()
    sources = graph.definitions(.source).compactMap { place($0, in: graph) }
    self.input.hasSources = !sources.isEmpty
    let definitions = graphs.flatMap(\.definitions)
    let products = graphs.flatMap(\.placed).compactMap(\.product)
    binder = ValueBinder(
      name: graph.name, definitions: (definitions + products + input.inherited.made).filter { !$0.values.isEmpty })
    gatherParameters(definitions)
  }

  /// Notes what beans ask for.
  private mutating func gatherParameters(_ definitions: [BeanDefinition]) {
    var seen = Set(input.parameters.map { ObjectIdentifier($0) })
    var last: [Parameter] = []
    for definition in definitions {
      let parameters = definition.factory.parameters
      // Beans of one type often stand together.
      if parameters.elementsEqual(last, by: ===) { continue }
      last = parameters
      for parameter in parameters where seen.insert(ObjectIdentifier(parameter)).inserted {
        input.parameters.append(parameter)
      }
    }
  }

  private mutating func checkScopes(_ graph: EnvironmentGraph) {
    let names = resolver.scopeNames(graph)
    let outer =
      graph.chain.dropFirst().compactMap(\.scopeName) + (graph.parentPlan?.chain.compactMap(\.plan.scopeName) ?? [])
      + ["singleton"]
    for definition in graph.definitions where graph.scopeName != nil || definition.lifetime != .singleton {
      let name = definition.lifetime.name
      // A factory bean and its product are declared at once: one fault for both.
      if definition.maker != nil { continue }
      if !names.isKnown(definition.lifetime) {
        faults.append(definition.fault(.unknownScope, EnvironmentGraph.unknownScope(name, among: names.all)))
      } else if let own = graph.scopeName ?? (definition.lifetime == .singleton ? nil : graph.name),
        outer.contains(name)
      {
        faults.append(
          definition.fault(
            .invalidDeclaration,
            "a bean of scope '\(name)' outlives the children of '\(own)': declare it further out"))
      }
    }
    // Sources belong to an environment, which is there before any child: none can be built for each of them.
    for definition in graph.definitions(.source)
    where graph.scopeName != nil || names.isFactoryScope(definition.lifetime.name) {
      faults.append(
        definition.fault(
          .invalidDeclaration,
          "a configuration source cannot be built for each child: declare it further out, or add it with "
            + "addConfigurationSource"))
    }
  }

  // MARK: what is seen from where

  private mutating func place(_ definition: BeanDefinition, in graph: EnvironmentGraph) -> BeanDefinition? {
    let bean = BeanDirectory.Found(directory: graph.directory, number: definition.entry, hops: 0)
    if case .defined(let placed, _) = resolver.target(for: bean, from: graph) { return placed.object }
    return nil
  }

  private mutating func resolve(_ graph: EnvironmentGraph) {
    for definition in graph.definitions { _ = place(definition, in: graph) }
    for (home, hops) in graph.directory.chain where hops > 0 {
      for (number, entry) in home.entries.enumerated() {
        // What is declared further out for this scope must work in the children of every factory; prototypes may.
        guard entry.lifetime == .prototype || graph.scopeName.map({ entry.lifetime == .scope($0) }) == true else {
          continue
        }
        let bean = BeanDirectory.Found(directory: home, number: Int32(number), hops: hops)
        _ = resolver.target(for: bean, from: graph)
      }
    }
    resolver.resolvePending()
    graph.injections = infrastructure(.injection, in: graph) { $0.injections }
    graph.processors = infrastructure(.processor, in: graph) { $0.processors }
    // Processors may need configuration, so sources come first.
    for definition in graph.definitions(.source) + graph.definitions(.scope) {
      if let placed = place(definition, in: graph) { mark(placed, in: graph) }
    }
  }

  /// Beans that serve the graph's environments, those of ancestors first.
  private mutating func infrastructure(
    _ trait: BeanTraits, in graph: EnvironmentGraph, _ compiled: (Plan) -> [Operand]
  ) -> [BeanDefinition.Target] {
    var targets: [BeanDefinition.Target] = []
    for (home, hops) in Array(graph.directory.chain).reversed() where home.traits.contains(trait) {
      for (number, entry) in home.entries.enumerated() where entry.traits.contains(trait) && !entry.isSeed {
        let bean = BeanDirectory.Found(directory: home, number: Int32(number), hops: hops)
        guard let target = resolver.target(for: bean, from: graph) else { continue }
        resolver.resolvePending()
        targets.append(target)
        if graph.ancestor(hops) != nil, case .defined(let placed, _) = target { mark(placed.object) }
      }
    }
    return targets
  }

  /// Marks a bean and all it is made of, or what of that belongs to `home`.
  private func mark(_ definition: BeanDefinition, in home: EnvironmentGraph? = nil) {
    var rest = [definition]
    while let next = rest.popLast() {
      if next.isInfrastructure || home != nil && next.graph !== home { continue }
      next.isInfrastructure = true
      next.forEachDependency { rest.append($0) }
    }
  }

  // MARK: plans

  /// The texts that a configuration source depends on.
  func values(neededBy source: BeanDefinition) -> [BeanDefinition] {
    var seen: Set<ObjectIdentifier> = []
    var rest = [source]
    while let next = rest.popLast() {
      guard next.graph === graph, seen.insert(ObjectIdentifier(next)).inserted else { continue }
      next.forEachDependency { rest.append($0) }
    }
    return binder.definitions.filter { seen.contains(ObjectIdentifier($0)) }
  }

  /// The plans of a graph without faults.
  mutating func compile() -> Output {
    let values = binder.definitions.flatMap(\.values)
    let block = SlotBlock(slots: Int(graph.slotCount), values: values.count)
    for (number, value) in values.enumerated() {
      value.place = block.value(number)
      value.publish()
    }
    var (codes, below): ([BeanCode], [(EnvironmentDeclarations, Plan)]) = ([], [])
    for graph in [graph] + graph.below {
      var compiler = PlanCompiler(graph, input, block, resolver)
      let plan = compiler.compile()
      graph.plan = plan
      codes += compiler.codes
      if graph !== self.graph { below.append((graph.declarations, plan)) }
    }
    // Compiled just now.
    guard let plan = graph.plan else { preconditionFailure("a graph has been compiled without a plan") }
    return Output(plan: plan, below: below, block: block, codes: codes, declared: DeclaredBeans(graph))
  }
}

/// What an environment that has started keeps of its declarations for those further in: templates, and beans that are
/// compiled anew for each environment that asks.
final class DeclaredBeans {
  /// Declarations by id.
  let specs: DeclaredSpecs
  /// By the number of their entries.
  fileprivate let beans: [Int32: (spec: BeanSpec, factory: FactoryFunction, maker: Int32?)]
  let directory: BeanDirectory
  let configuration: ConfigurationManager

  init(_ graph: EnvironmentGraph) {
    specs = graph.specs
    directory = graph.directory
    configuration = graph.declarations.configuration
    var beans: [Int32: (BeanSpec, FactoryFunction, Int32?)] = [:]
    for definition in graph.definitions where definition.lifetime != .singleton {
      beans[definition.entry] = (definition.spec, definition.factory, definition.maker?.entry)
    }
    self.beans = beans
  }
}

/// The declarations of all environments further out that have started, nearest first.
final class InheritedBeans {
  let levels: [DeclaredBeans]
  private var definitions: [Plan.EntryKey: BeanDefinition] = [:]

  init(_ levels: [DeclaredBeans]) { self.levels = levels }

  /// Those that were made anew.
  var made: [BeanDefinition] { Array(definitions.values) }

  /// A definition made anew for a bean that was declared further out.
  func definition(of bean: BeanDirectory.Found) -> BeanDefinition? {
    let key = Plan.EntryKey(bean.directory, bean.number)
    if let known = definitions[key] { return known }
    guard let level = levels.first(where: { $0.directory === bean.directory }),
      let (spec, factory, maker) = level.beans[bean.number]
    else { return nil }
    let factoryBean = maker.map { number in
      BeanDefinition(
        BeanSpec(type: factory.parameters[0].wanted, id: nil, location: spec.location),
        type: factory.parameters[0].wanted, lifetime: .singleton, factory: factory, entry: number,
        home: .started(level))
    }
    let made = BeanDefinition(
      spec, type: bean.entry.type, lifetime: bean.entry.lifetime, factory: factory, entry: bean.number,
      maker: factoryBean, home: .started(level))
    // Found without a fault when its own environment started.
    _ = made.bindProperties()
    made.collectValues()
    definitions[key] = made
    return made
  }
}
