import BeansReflection
import BeansSupport

/// Makes a `BeanGraph` of what the compiler has found: definitions, and the bindings of their dependencies.
struct GraphReader {
  private var clusters: [BeanGraph.Cluster] = []
  private var nodes: [BeanGraph.Node] = []
  private var edges: [BeanGraph.Edge] = []
  private var seen: Set<BeanGraph.Edge> = []
  private var usedIds: [String: Int] = [:]
  /// The clusters of graphs, by what is declared there.
  private var clusterIds: [ObjectIdentifier: String] = [:]
  /// What was declared, by its directory.
  private var declared: [ObjectIdentifier: DeclaredBeans] = [:]
  /// The nodes of beans, and those of declarations that are none by their place among all.
  private var beans: [Plan.EntryKey: String] = [:]
  private var templates: [Plan.EntryKey: String] = [:]

  /// - Parameter compilers: environments, outermost first, each compiled with the children of its factories.
  static func read(_ compilers: [GraphCompiler]) -> BeanGraph {
    var reader = GraphReader()
    // They keep what definitions only name.
    withExtendedLifetime(compilers) {
      for graph in compilers.flatMap(\.graphs) { reader.addNodes(of: graph) }
      for compiler in compilers {
        for graph in compiler.graphs { reader.addEdges(of: graph, compiler.dependencies) }
      }
    }
    let positions = Dictionary(uniqueKeysWithValues: reader.nodes.enumerated().map { ($0.element.id, $0.offset) })
    // Beans are seen from several environments.
    let edges = reader.edges.enumerated().sorted {
      (positions[$0.element.from] ?? 0, $0.offset) < (positions[$1.element.from] ?? 0, $1.offset)
    }
    return BeanGraph(clusters: reader.clusters, nodes: reader.nodes, edges: edges.map(\.element))
  }

  // MARK: nodes

  private mutating func addNodes(of graph: EnvironmentGraph) {
    let outer = graph.outerDirectory.flatMap { clusterIds[ObjectIdentifier($0)] }
    let cluster = addCluster(graph.declarations, in: outer, nil)
    clusterIds[ObjectIdentifier(graph.directory)] = cluster
    declared[ObjectIdentifier(graph.directory)] = graph.declared
    for definition in graph.definitions {
      beans[Plan.EntryKey(graph.directory, definition.entry)] = addNode(definition, in: graph, cluster)
    }
    for (position, spec) in graph.declared.specs.enumerated() where spec.isAbstract {
      templates[Plan.EntryKey(graph.directory, Int32(position))] = addNode(spec, in: cluster, graph.scopeName, nil)
    }
    var homes: [Int: (spec: BeanSpec, cluster: String, scope: String?)] = [:]
    for spec in graph.declarations.specs { homes[spec.number] = (spec, cluster, graph.scopeName) }
    addInactive(graph.declarations.factories, graph.active, in: cluster, &homes)
    for inactive in graph.active.inactive {
      guard let home = homes[inactive.number] else { continue }
      _ = addNode(home.spec, in: home.cluster, home.scope, inactive.reason)
    }
  }

  /// Adds clusters for factories whose children do not count.
  private mutating func addInactive(
    _ factories: [EnvironmentDeclarations], _ active: ActiveDeclarations, in cluster: String,
    _ homes: inout [Int: (spec: BeanSpec, cluster: String, scope: String?)]
  ) {
    for factory in factories {
      guard let (_, reason) = active.inactiveFactories.first(where: { $0.declarations === factory }) else { continue }
      let inner = addCluster(factory, in: cluster, reason.message)
      for spec in factory.specs { homes[spec.number] = (spec, inner, factory.scopeName) }
      addInactive(factory.factories, active, in: inner, &homes)
    }
  }

  private mutating func addCluster(
    _ declarations: EnvironmentDeclarations, in parent: String?, _ inactive: String?
  ) -> String {
    let id = unique((parent.map { "\($0)/" } ?? "") + declarations.name)
    clusters.append(
      BeanGraph.Cluster(
        id: id, name: declarations.name, parent: parent, scope: declarations.scopeName, inactive: inactive))
    return id
  }

  private mutating func addNode(_ definition: BeanDefinition, in graph: EnvironmentGraph, _ cluster: String) -> String {
    let (spec, traits) = (definition.spec, definition.traits)
    let isSeed = definition.entry == 0 && graph.hasSeed
    let flags: [(BeanGraph.Node.Flag, Bool)] = [
      (.seed, isSeed), (.lazy, spec.isLazy ?? false), (.asynchronous, traits.contains(.awaited)),
      (.decorator, definition.decorated != nil), (.primary, spec.isPrimary), (.private, spec.isPrivate),
      (.factory, traits.contains(.factory) || definition.factory.product != nil), (.product, definition.maker != nil),
    ]
    let origin = spec.location.origin
    return addNode(
      BeanGraph.Node(
        id: "\(cluster)/\(definition.label)", label: definition.label, beanId: definition.id,
        type: Self.name(of: definition.type), environment: cluster, scope: definition.lifetime.name,
        // The seed is declared by the factory, which has no place of its own.
        origin: origin.line > 0 ? origin : nil, flags: flags.filter(\.1).map(\.0), inactive: nil))
  }

  /// Adds a declaration that is no bean.
  private mutating func addNode(
    _ spec: BeanSpec, in cluster: String, _ scopeName: String?, _ inactive: String?
  ) -> String {
    let flags: [(BeanGraph.Node.Flag, Bool)] = [
      (.template, spec.isAbstract), (.lazy, spec.isLazy ?? false), (.decorator, spec.isDecorator),
      (.primary, spec.isPrimary), (.private, spec.isPrivate),
    ]
    return addNode(
      BeanGraph.Node(
        id: "\(cluster)/\(spec.written)", label: spec.written, beanId: spec.id,
        type: spec.type.map { Self.name(of: $0) },
        environment: cluster, scope: spec.scopeName ?? scopeName ?? "singleton", origin: spec.location.origin,
        flags: flags.filter(\.1).map(\.0), inactive: inactive))
  }

  private mutating func addNode(_ node: BeanGraph.Node) -> String {
    let id = unique(node.id)
    nodes.append(node.named(id))
    return id
  }

  private mutating func unique(_ id: String) -> String {
    usedIds[id, default: 0] += 1
    let count = usedIds[id] ?? 1
    return count == 1 ? id : unique("\(id) #\(count)")
  }

  /// A type with its module. Where a type stands in a function or in a file alone, Swift names an address: that goes.
  private static func name(of type: Any.Type) -> String {
    var (name, rest) = ("", String(reflecting: type)[...])
    while let open = rest.firstIndex(of: "(") {
      name += rest[..<open]
      rest = rest[open...]
      if rest.hasPrefix("(unknown context at "), let end = rest.firstIndex(of: ")") {
        rest = rest[end...].dropFirst().drop { $0 == "." }
      } else {
        name += "("
        rest = rest.dropFirst()
      }
    }
    return name + rest
  }

  // MARK: edges

  /// What is taken, as what the taker names it.
  private typealias Place = (label: String, parameter: Parameter)

  private mutating func addEdges(of graph: EnvironmentGraph, _ dependencies: [BeanDefinition.Dependency]) {
    for definition in graph.placed {
      guard let node = beans[Plan.EntryKey(definition.directory, definition.entry)] else { continue }
      for index in definition.requirements {
        add(dependencies[index].binding, .requirement, "", from: node, graph)
      }
      let made = definition.product
      let parameters = definition.factory.parameters.enumerated().map {
        (label: "parameter \($0.offset)", parameter: $0.element)
      }
      addEdges(dependencies[(made ?? definition).arguments], parameters, .parameter, of: definition, node, graph)
      addEdges(
        dependencies[definition.injected], Self.properties(of: definition), .property, of: definition, node, graph)
      if let made {
        addEdges(dependencies[made.injected], Self.properties(of: made), .property, of: definition, node, graph)
      }
    }
    for spec in graph.declared.specs {
      guard let child = node(of: spec, in: graph), let template = template(of: spec, in: graph) else { continue }
      add(.template, "", from: child, to: template)
    }
  }

  /// Adds what a bean takes in several places, in their order. A place that takes no bean is passed over.
  private mutating func addEdges(
    _ dependencies: ArraySlice<BeanDefinition.Dependency>, _ places: [Place], _ usual: BeanGraph.Edge.Kind,
    of definition: BeanDefinition, _ node: String, _ graph: EnvironmentGraph
  ) {
    var rest = places[...]
    for dependency in dependencies {
      rest = rest.drop { $0.parameter !== dependency.parameter }
      let place = rest.popFirst()
      var kind = Self.kind(of: dependency, usual)
      if usual == .parameter {
        if definition.maker != nil { kind = .factory }
        if definition.decorated != nil, place?.label == "parameter 0" { kind = .decorates }
      }
      let isNamedByKind = kind == .factory || kind == .decorates
      add(dependency.binding, kind, isNamedByKind ? "" : place?.label ?? "", from: node, graph)
    }
  }

  /// In the order in which they are resolved; see `DependencyResolver`.
  private static func properties(of definition: BeanDefinition) -> [Place] {
    let isLast = { (property: PropertyInjection) in !definition.injections.isEmpty && property.isPath }
    let given = definition.given.filter { !isLast($0) } + definition.given.filter(isLast)
    let places = given.compactMap { property in
      property.setter.map { (label: Self.label(of: property.name), parameter: $0.parameter) }
    }
    let injected = definition.injections.map { (label: "property '\($0.name)'", parameter: $0.setter.parameter) }
    let first = definition.given.count { !isLast($0) && $0.setter != nil }
    return places.prefix(first) + injected + places.dropFirst(first)
  }

  /// A key path may only know where in memory the property is.
  private static func label(of name: PropertyInjection.Name) -> String {
    guard case .path = name else { return "\(name)" }
    let path = "\(name)"
    return path.contains("<") ? "property" : "property '\(path.split(separator: ".").last ?? "")'"
  }

  private static func kind(of dependency: BeanDefinition.Dependency, _ usual: BeanGraph.Edge.Kind)
    -> BeanGraph.Edge.Kind
  {
    if case .composed = dependency.binding { return .collection }
    return switch dependency.parameter.kind {
    case .optional: .optional
    case .all, .named, .distinct: .collection
    case .provider: .provider
    case .lazy: .lazy
    case .owned: .owned
    case .current: .current
    case .one, .environment, .configuration, .seed, .invalid: usual
    }
  }

  private mutating func add(
    _ binding: BeanDefinition.Binding, _ kind: BeanGraph.Edge.Kind, _ label: String, from node: String,
    _ graph: EnvironmentGraph
  ) {
    switch binding {
    case .bean(let target): add(kind, label, from: node, to: self.node(of: target))
    case .all(let targets, _): for target in targets { add(kind, label, from: node, to: self.node(of: target)) }
    case .deferred(let inner): add(inner.binding, kind, label, from: node, graph)
    case .composed(let parts, _): for part in parts { add(part.binding, kind, label, from: node, graph) }
    case .computed(let computation, _):
      for bean in provided(by: computation, from: graph) { add(kind, label, from: node, to: beans[bean]) }
    case .value, .injection, .products: break
    }
  }

  private mutating func add(_ kind: BeanGraph.Edge.Kind, _ label: String, from: String, to: String?) {
    guard let to else { return }
    let edge = BeanGraph.Edge(from: from, to: to, kind: kind, label: label)
    if seen.insert(edge).inserted { edges.append(edge) }
  }

  private func node(of target: BeanDefinition.Target) -> String? {
    switch target {
    case .defined(let definition, _): definition.with { beans[Plan.EntryKey($0.directory, $0.entry)] }
    case .compiled(let plan, let number, _):
      plan.with {
        let recipe = $0.recipe(number)
        return beans[Plan.EntryKey(recipe.value.directory.object, recipe.value.entryNumber)]
      }
    }
  }

  // MARK: providers

  /// What a provider may answer: what is seen from where it is injected, and from the children that may be current.
  private func provided(by computation: Computation, from graph: EnvironmentGraph) -> [Plan.EntryKey] {
    guard case .provider(let parameter, let id, let module) = computation else { return [] }
    switch parameter.kind {
    case .provider(let inner): return select(inner, id, module, from: [graph] + graph.below)
    case .current(let inner):
      // What lives longer than a child is the same wherever it is asked for.
      return select(inner, id, module, from: graph.below).filter { key in
        declared[key.directory].map { $0.directory.entries[Int(key.number)].lifetime != .singleton } ?? false
      }
    default: return []
    }
  }

  private func select(
    _ parameter: Parameter, _ id: String?, _ module: ObjectIdentifier?, from graphs: [EnvironmentGraph]
  ) -> [Plan.EntryKey] {
    var found: [Plan.EntryKey] = []
    for graph in graphs {
      let selection = try? graph.directory.select(
        parameter, id: id, from: module, below: graph.belowDirectories, hasHints: false)
      if let selection { found += beans(of: selection, from: graph) }
    }
    return found
  }

  private func beans(of selection: Selection, from graph: EnvironmentGraph) -> [Plan.EntryKey] {
    switch selection {
    case .bean(let bean): [Plan.EntryKey(bean.directory, bean.number)]
    case .all(let beans): beans.map { Plan.EntryKey($0.directory, $0.number) }
    case .deferred(let inner, _): beans(of: inner, from: graph)
    case .computed(let computation, _): provided(by: computation, from: graph)
    }
  }

  // MARK: templates

  private func node(of spec: BeanSpec, in graph: EnvironmentGraph) -> String? {
    guard spec.template != nil else { return nil }
    if let entry = graph.directory.entry(declared: spec.number) { return beans[Plan.EntryKey(graph.directory, entry)] }
    let position = graph.declared.specs.firstIndex { $0 === spec }
    return position.flatMap { templates[Plan.EntryKey(graph.directory, Int32($0))] }
  }

  /// The nearest declaration with the id that the declaration inherits from, which may be its own id further out.
  private func template(of spec: BeanSpec, in graph: EnvironmentGraph) -> String? {
    guard let id = spec.template else { return nil }
    var next = Optional(graph.directory)
    while let (name, directory, _) = next?.find(id: id, from: spec.module?.key) {
      if let found = declared[ObjectIdentifier(directory)], name.position >= 0,
        found.specs[Int(name.position)] !== spec
      {
        let template = found.specs[Int(name.position)]
        return directory.entry(declared: template.number).flatMap { beans[Plan.EntryKey(directory, $0)] }
          ?? templates[Plan.EntryKey(directory, name.position)]
      }
      next = directory.parent
    }
    return nil
  }
}

extension BeanGraph.Node {
  /// The node with another id.
  fileprivate func named(_ id: String) -> BeanGraph.Node {
    BeanGraph.Node(
      id: id, label: label, beanId: beanId, type: type, environment: environment, scope: scope, origin: origin,
      flags: flags, inactive: inactive)
  }
}
