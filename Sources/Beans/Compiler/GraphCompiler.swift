import BeansConfiguration
import BeansReflection

/// Compiles declarations to plans, or reports all faults. Builds no bean.
struct GraphCompiler {
  private let graph: EnvironmentGraph
  /// The graph of the environment, and those of all factories below.
  private let graphs: [EnvironmentGraph]
  private var resolver: DependencyResolver
  private(set) var faults: [EnvironmentError] = []
  /// The bindings that have values.
  private var valued: [BeanBinding] = []
  /// The beans of this environment that are configuration sources.
  private(set) var sources: [PlacedBean] = []
  /// The plans of factories, at any depth, each with its declarations.
  private(set) var below: [(declarations: EnvironmentDeclarations, plan: Plan)] = []

  /// Finds the faults in the declarations of an environment and of all factories below it.
  init(_ declarations: EnvironmentDeclarations, _ input: CompilerInput) {
    graph = EnvironmentGraph(declarations, input)
    resolver = DependencyResolver(input)
    var graphs = [graph]
    graph.addBelow(to: &graphs)
    self.graphs = graphs
    var readers = graphs.map { TemplateResolver($0, resolver.bindings) }
    for reader in readers { reader.declarations.prepareDescriptors() }
    for (index, graph) in graphs.enumerated() {
      readers[index].resolve()
      faults += graph.active.faults + readers[index].declarations.faults + graph.declarations.faults
    }
    if let overrides = input.overrides { faults += overrides.unmet(in: graphs) }
    let directories = graphs.map(\.directory)
    for graph in graphs {
      graph.belowDirectories = directories[graph.positions]
      checkScopes(graph)
    }
    for graph in graphs { resolve(graph) }
    faults += Validator(graphs: graphs, dependencies: resolver.dependencies).validate()
    sources = graph.definitions(.source).compactMap { place($0, in: graph) }
    let bindings = resolver.bindings
    valued = graphs.flatMap { $0.definitions.compactMap(bindings.known) } + bindings.others
  }

  private mutating func checkScopes(_ graph: EnvironmentGraph) {
    // No factory around this one opens its scope; an environment that has started may.
    let isUsualFurtherOut = graph.scopeName.map { graph.outerDirectory?.hops(toScope: $0) != nil } ?? false
    // A comparison with a constant, where possible, is cheaper than one of names.
    for definition in graph.definitions
    where graph.isPlain
      ? definition.lifetime != .singleton : isUsualFurtherOut || definition.lifetime != graph.usualLifetime
    {
      let name = definition.lifetime.name
      // Report one fault only: a factory bean and its product share a declaration, and a decorator has the lifetime of
      // the bean it decorates.
      if definition.maker != nil || definition.isDecorator { continue }
      let isUnknown = !graph.isKnown(definition.lifetime) || graph.isMisspelled(name)
      if isUnknown {
        faults.append(
          definition.fault(
            .unknownScope,
            EnvironmentGraph.unknownScope(name, among: graph.allScopeNames) + graph.hint(forInactiveScope: name)))
      } else if let own = graph.scopeName ?? (definition.lifetime == .singleton ? nil : graph.name),
        definition.lifetime == .singleton || graph.outerDirectory?.hops(toScope: name) != nil
      {
        faults.append(
          definition.fault(
            .outlivesChildren,
            "a bean of scope '\(name)' outlives the children of '\(own)': declare it further out"))
      }
    }
    for definition in graph.definitions(.awaited) where !hasUnknownScope(definition, in: graph) {
      faults += fault(awaiting: definition, in: graph).map { [$0] } ?? []
    }
    for definition in graph.definitions
    where definition.traits.contains(.runnable) || definition.spec.with({ $0.options != nil }) {
      if hasUnknownScope(definition, in: graph) { continue }
      faults += self.faults(working: definition, in: graph)
    }
    // Sources belong to an environment, which exists before any child, so no source can be built for each child.
    for definition in graph.definitions(.source)
    where graph.scopeName != nil || graph.isFactoryScope(definition.lifetime.name) {
      faults.append(
        definition.fault(
          .sourceInChildren,
          "a configuration source cannot be built for each child: declare it further out, or add it with "
            + "addConfigurationSource"))
    }
  }

  /// Whether a bean without a scope name and with errors may inherit a scope from an unknown template.
  private func hasUnknownScope(_ definition: BeanDefinition, in graph: EnvironmentGraph) -> Bool {
    graph.faulty.contains(definition.number) && definition.spec.with { $0.scopeName == nil }
  }

  /// Returns a fault if no lookup could await the bean, because of its lifetime or its kind.
  private func fault(awaiting definition: BeanDefinition, in graph: EnvironmentGraph) -> EnvironmentError? {
    let lifetime = definition.lifetime
    let (cause, reason): (FaultCause, String)
    if lifetime == .prototype || definition.product != nil {
      (cause, reason) = (.awaitedPrototype, "is made anew for each taker, which cannot wait")
    } else if graph.isRegistered(lifetime.name) {
      (cause, reason) = (.awaitedInScope, "belongs to scope '\(lifetime.name)', which cannot wait for its beans")
    } else if !definition.traits.isDisjoint(with: .infrastructure) {
      (cause, reason) = (.awaitedInfrastructure, "is built before anything else, by startup itself")
    } else {
      return nil
    }
    return definition.fault(cause, "\(definition.label) is created asynchronously, but \(reason)")
  }

  /// Returns the faults of a bean that works beside its callers and that no environment could end.
  private func faults(working definition: BeanDefinition, in graph: EnvironmentGraph) -> [EnvironmentError] {
    let isRunnable = definition.traits.contains(.runnable)
    let isScheduled = definition.spec.with { !$0.works.isEmpty }
    let lifetime = definition.lifetime
    guard isRunnable || isScheduled, !definition.isSeed, graph.isKnown(lifetime) else {
      return []
    }
    var keeper: String?
    if lifetime == .prototype || definition.product != nil {
      keeper = "the container keeps no instance of it"
    } else if graph.isRegistered(lifetime.name) {
      keeper = "scope '\(lifetime.name)' keeps its instances"
    }
    var faults: [EnvironmentError] = []
    let label = definition.label
    if isScheduled, let keeper {
      faults.append(definition.fault(.misplacedSchedule, "\(label) has a schedule, but \(keeper)"))
    }
    let isSingleton = graph.isPlain && lifetime == .singleton
    if isRunnable, let reason = keeper ?? (isSingleton ? nil : "it belongs to the children of a factory") {
      faults.append(definition.fault(.misplacedRun, "\(label) is a RunnableBean, which nothing would run: \(reason)"))
    }
    return faults
  }

  // MARK: visibility

  private mutating func place(_ definition: BeanDefinition, in graph: EnvironmentGraph) -> PlacedBean? {
    let bean = BeanDirectory.Found(directory: graph.directory, number: definition.number, hops: 0)
    return resolver.locate(bean, from: graph)?.placed
  }

  private mutating func resolve(_ graph: EnvironmentGraph) {
    for definition in graph.definitions { _ = place(definition, in: graph) }
    // A bean declared further out for this scope must work in the children of every factory; a prototype need not.
    for bean in graph.findInherited() { _ = resolver.locate(bean, from: graph) }
    resolver.resolvePending()
    graph.injections = infrastructure(.injection, in: graph)
    graph.processors = infrastructure(.processor, in: graph)
    // Processors may need configuration, so sources come first.
    for definition in graph.definitions(.source) + graph.definitions(.scope) {
      if let placed = place(definition, in: graph) { mark(placed, in: graph) }
    }
  }

  /// Returns the beans that serve the graph's environments, those of ancestors first.
  private mutating func infrastructure(_ trait: BeanTraits, in graph: EnvironmentGraph) -> [DefinedBean] {
    var found: [DefinedBean] = []
    if graph.directory.visibleTraits.isDisjoint(with: trait) { return found }
    for (home, hops) in Array(graph.directory.chain).reversed() where home.traits.contains(trait) {
      for definition in home.beans where definition.traits.contains(trait) && !definition.isSeed {
        let bean = BeanDirectory.Found(directory: home, number: definition.number, hops: hops)
        guard let located = resolver.locate(bean, from: graph) else { continue }
        resolver.resolvePending()
        found.append(located)
        if graph.ancestor(hops) != nil, let placed = located.placed { mark(placed) }
      }
    }
    return found
  }

  /// Marks a bean and all its dependencies, or those among them that belong to `home`.
  private func mark(_ bean: PlacedBean, in home: EnvironmentGraph? = nil) {
    var rest = [bean]
    while let next = rest.popLast() {
      if next.isInfrastructure || home != nil && next.graph !== home { continue }
      next.isInfrastructure = true
      next.forEachDependency(in: resolver.dependencies) { rest.append($0) }
    }
  }

  // MARK: values

  /// Converts the values of declarations. Returns the faults found. If configuration sources are beans, texts are
  /// converted only after the sources have been built.
  ///
  /// - Parameter hasSources: whether all sources have been built.
  func bindValues(hasSources: Bool) -> [EnvironmentError] { bind(valued, isComplete: hasSources || sources.isEmpty) }

  /// Converts the values on which a configuration source depends.
  func bindValues(neededBy source: PlacedBean) -> [EnvironmentError] {
    var seen: Set<ObjectIdentifier> = []
    var rest = [source]
    while let next = rest.popLast() {
      guard next.graph === graph, seen.insert(ObjectIdentifier(next.definition)).inserted else { continue }
      next.forEachDependency(in: resolver.dependencies) { rest.append($0) }
    }
    return bind(valued.filter { seen.contains(ObjectIdentifier($0.definition)) }, isComplete: true)
  }

  private func bind(_ bindings: [BeanBinding], isComplete: Bool) -> [EnvironmentError] {
    var faults: [EnvironmentError] = []
    for binding in bindings {
      for value in binding.values {
        do {
          if value.isText && !isComplete {
            try value.checkText()
          } else {
            // A hint costs a walk over all keys; the first few are enough.
            try value.bind(in: binding.home.configuration, hints: faults.count < 20)
            value.publish()
          }
        } catch {
          // Each fault of a section is reported by itself.
          let parts = error.underlying.count > 1 ? error.underlying.compactMap { $0 as? EnvironmentError } : [error]
          faults += parts.map { error in
            let isMissing = error.code == .unresolvedPlaceholder || error.code == .missingConfiguration
            let hint = if isMissing { binding.home.directory.hint(forInactive: BeanTraits.source) } else { "" }
            return binding.definition.fault(error.cause, error.message + hint, at: value.origin)
              .with { $0.underlying = error.underlying }
          }
        }
      }
    }
    return faults
  }

  /// Returns the faults of values, as far as they can be found without the configuration.
  func checkValues() -> [EnvironmentError] { bind(valued, isComplete: false) }

  /// The declarations, which retain the users' code to which beans and recipes refer.
  var declared: [DeclaredBeans] { graphs.map(\.declared) }

  /// The declarations of the graphs, with the dependencies of all beans.
  var levels: [DeclarationLevel] {
    graphs.map { DeclarationLevel(graph: $0, resolved: resolver.dependencies, points: resolver.points) }
  }

  /// The factories whose children are inactive, at any depth, with the reason.
  var inactive: [(declarations: EnvironmentDeclarations, reason: EnvironmentError)] {
    graphs.flatMap(\.active.inactiveFactories)
  }

  /// The faults of beans that several threads share although their type is not known to be `Sendable`.
  var sharingFaults: [EnvironmentError] { graph.directory.sharingFaults(with: graph.belowDirectories) }

  /// Stores the active declarations, so that a later startup does not evaluate conditions again.
  func keepDecisions() {
    for graph in graphs where graph.declarations.hasConditions { graph.declarations.decided = graph.active }
  }

  /// Compiles all graphs, which must have no faults. Returns the plan of the environment, and the block of its slots.
  mutating func compile() -> (plan: Plan, block: SlotBlock) {
    let values = valued.flatMap(\.values)
    let block = SlotBlock(slots: Int(graph.slotCount), values: values.count)
    for (number, value) in values.enumerated() {
      value.place = block.value(number)
      value.publish()
    }
    func compile(_ graph: EnvironmentGraph) -> Plan {
      var compiler = PlanCompiler(graph, block, resolver)
      let plan = compiler.compile()
      graph.plan = plan
      return plan
    }
    let plan = compile(graph)
    below = graphs.dropFirst().map { ($0.declarations, compile($0)) }
    return (plan, block)
  }
}
