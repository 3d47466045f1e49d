import Beans

extension BeanGraph {
  /// Reads the levels of an environment, outermost first.
  init(_ levels: [DeclarationLevel]) {
    let dependencies = levels.map(\.dependencies)
    var reader = GraphReader(dependencies.flatMap(\.self))
    for level in levels { reader.addClusters(of: level) }
    for level in levels { reader.addNodes(of: level) }
    for (level, dependencies) in zip(levels, dependencies) { reader.addEdges(of: level, dependencies) }
    // A level has each dependency of the beans that are built in it: several levels may have equal ones.
    var seen: Set<Edge> = []
    let edges = reader.edges.joined().filter { seen.insert($0).inserted }
    self.init(clusters: reader.clusters, nodes: reader.nodes, edges: edges)
  }
}

/// A graph in the making. The identities of levels, declarations and beans lead to its parts.
private struct GraphReader {
  private(set) var clusters: [BeanGraph.Cluster] = []
  private(set) var nodes: [BeanGraph.Node] = []
  /// The edges from each node.
  private(set) var edges: [[BeanGraph.Edge]] = []
  private var clusterNumbers: [ObjectIdentifier: Int] = [:]
  private var nodeNumbers: [ObjectIdentifier: Int] = [:]
  private let absent: [ObjectIdentifier: [String]]
  /// The number of uses of each id.
  private var uses: [String: Int] = [:]

  init(_ dependencies: [DeclaredDependency]) {
    absent = Dictionary(grouping: dependencies.absences) { ObjectIdentifier($0.taker) }.mapValues { $0.map(\.type) }
  }

  /// Returns an id that is unique in the graph: the later ones of several equal ids get a number.
  private mutating func unique(_ id: String) -> String {
    uses[id, default: 0] += 1
    let count = uses[id] ?? 1
    return count == 1 ? id : unique("\(id) #\(count)")
  }

  // MARK: environments

  mutating func addClusters(of level: DeclarationLevel) {
    let outer = level.outer.flatMap { clusterNumbers[$0] }
    clusterNumbers[level.id] = clusters.count
    add(level.declarations, in: outer)
    for (declarations, reason) in level.inactiveFactories {
      let outer = declarations.around.flatMap { clusterNumbers[ObjectIdentifier($0)] }
      add(declarations, in: outer, inactive: reason.message)
    }
  }

  private mutating func add(_ declarations: EnvironmentDeclarations, in outer: Int?, inactive: String? = nil) {
    clusterNumbers[ObjectIdentifier(declarations)] = clusters.count
    let parent = outer.map { clusters[$0].id }
    clusters.append(
      BeanGraph.Cluster(
        id: unique((parent.map { "\($0)/" } ?? "") + declarations.name), name: declarations.name, parent: parent,
        scope: declarations.scopeName, inactive: inactive))
  }

  // MARK: declarations

  mutating func addNodes(of level: DeclarationLevel) {
    for bean in level.beans { add(bean.declaration, bean, in: level.declarations) }
    for template in level.templates { add(template, in: level.declarations) }
    let reasons = Dictionary(level.inactive.map { ($0.number, $0.reason) }) { first, _ in first }
    for declarations in [level.declarations] + level.inactiveFactories.map(\.declarations) {
      for spec in declarations.all {
        if let reason = reasons[spec.number] { add(spec, in: declarations, inactive: reason) }
      }
    }
  }

  private mutating func add(
    _ spec: FrozenSpec, _ bean: BeanDefinition? = nil, in declarations: EnvironmentDeclarations, inactive: String? = nil
  ) {
    guard let cluster = clusterNumbers[ObjectIdentifier(declarations)].map({ clusters[$0] }) else { return }
    let identity = bean.map { ObjectIdentifier($0) } ?? ObjectIdentifier(spec)
    let label = bean?.label ?? spec.written
    nodeNumbers[identity] = nodes.count
    nodes.append(
      BeanGraph.Node(
        id: unique("\(cluster.id)/\(label)"), label: label, beanId: spec.id,
        type: (bean?.type ?? spec.type).map { BeanGraph.Node.name(of: $0) }, environment: cluster.id,
        scope: bean?.scopeName ?? spec.scopeName ?? cluster.scope ?? "singleton", origin: spec.origin,
        flags: BeanGraph.Node.flags(of: spec, bean), inactive: inactive, absent: absent[identity]))
    edges.append([])
  }

  // MARK: dependencies

  mutating func addEdges(of level: DeclarationLevel, _ dependencies: [DeclaredDependency]) {
    for dependency in dependencies {
      let kind = BeanGraph.Edge.Kind(dependency)
      let label = kind == .decorates || kind == .factory ? "" : dependency.point.label
      for bean in dependency.beans { add(kind, label, ObjectIdentifier(dependency.taker), ObjectIdentifier(bean)) }
    }
    for (heir, template) in level.inheritances { add(.template, "", heir, template) }
  }

  private mutating func add(
    _ kind: BeanGraph.Edge.Kind, _ label: String, _ taker: ObjectIdentifier, _ taken: ObjectIdentifier
  ) {
    guard let from = nodeNumbers[taker], let to = nodeNumbers[taken] else { return }
    edges[from].append(BeanGraph.Edge(from: nodes[from].id, to: nodes[to].id, kind: kind, label: label))
  }
}

extension BeanGraph.Edge.Kind {
  fileprivate init(_ dependency: DeclaredDependency) {
    self =
      switch (dependency.point, dependency.kind) {
      case (.requirement, _): .requirement
      case (.parameter, _) where dependency.taker.isProduct: .factory
      case (.parameter(0), _) where dependency.taker.isDecorator: .decorates
      case _ where dependency.isComposed: .collection
      case (_, .optional): .optional
      case (_, .all), (_, .named), (_, .distinct): .collection
      case (_, .provider): .provider
      case (_, .lazy): .lazy
      case (_, .owned): .owned
      case (_, .current): .current
      case (.parameter, _): .parameter
      default: .property
      }
  }
}

extension BeanGraph.Node {
  /// Returns the properties of a declaration, and of its bean if there is one.
  fileprivate static func flags(of spec: FrozenSpec, _ bean: BeanDefinition?) -> [Flag] {
    let flags: [(Flag, Bool?)] = [
      (.template, spec.isAbstract), (.seed, bean?.isSeed), (.lazy, spec.isLazy), (.asynchronous, bean?.isAwaited),
      (.decorator, spec.isDecorator), (.primary, spec.isPrimary), (.private, spec.isPrivate),
      (.factory, bean?.makesBean), (.product, bean?.isProduct), (.running, bean?.isRunnable),
      (.scheduled, bean.map { _ in !spec.works.isEmpty }),
    ]
    return flags.filter { $0.1 == true }.map(\.0)
  }

  /// Returns the name of a type with its module, without the address by which Swift names an enclosing function or
  /// file.
  fileprivate static func name(of type: Any.Type) -> String {
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
}
