import BeansReflection
import BeansErrors

/// Reads an outline from the definitions of a compiler, and from the bindings of their dependencies.
struct OutlineReader {
  private typealias Kind = DeclarationOutline.Dependency.Kind

  private var outline = DeclarationOutline()
  /// The groups of graphs, by directory.
  private var groups = [ObjectIdentifier: Int]()
  /// The declarations of graphs, by directory.
  private var declared = [ObjectIdentifier: DeclaredBeans]()
  /// Positions in the outline: of beans by entry, of templates by their position among all declarations of a graph.
  private var beans = [Plan.EntryKey: Int]()
  private var templates = [Plan.EntryKey: Int]()

  /// Returns the outline of environments.
  ///
  /// - Parameter compilers: the environments, outermost first, each compiled with the children of its factories.
  static func read(_ compilers: [GraphCompiler]) -> DeclarationOutline {
    var reader = OutlineReader()
    // The compilers retain objects that definitions only refer to.
    withExtendedLifetime(compilers) {
      for graph in compilers.flatMap(\.graphs) { reader.addDeclarations(of: graph) }
      for compiler in compilers {
        for graph in compiler.graphs { reader.addDependencies(of: graph, compiler) }
      }
    }
    return reader.outline
  }

  // MARK: declarations

  private mutating func addDeclarations(of graph: EnvironmentGraph) {
    let outer = graph.outerDirectory.flatMap { groups[ObjectIdentifier($0)] }
    let group = addGroup(graph.declarations, in: outer, nil)
    groups[ObjectIdentifier(graph.directory)] = group
    declared[ObjectIdentifier(graph.directory)] = graph.declared
    for definition in graph.definitions {
      beans[Plan.EntryKey(graph.directory, definition.entry)] = add(definition, in: graph, group)
    }
    for (position, spec) in graph.declared.specs.enumerated() where spec.isAbstract {
      templates[Plan.EntryKey(graph.directory, Int32(position))] = add(spec, in: group, nil)
    }
    var homes = [Int: (spec: FrozenSpec, group: Int)]()
    for spec in graph.declarations.specs { homes[spec.number] = (spec, group) }
    addInactive(graph.declarations.factories, graph.active, in: group, &homes)
    for inactive in graph.active.inactive {
      guard let home = homes[inactive.number] else { continue }
      _ = add(home.spec, in: home.group, inactive.reason)
    }
  }

  /// Adds groups for inactive factories.
  private mutating func addInactive(
    _ factories: [EnvironmentDeclarations], _ active: ActiveDeclarations, in group: Int,
    _ homes: inout [Int: (spec: FrozenSpec, group: Int)]
  ) {
    for factory in factories {
      guard let (_, reason) = active.inactiveFactories.first(where: { $0.declarations === factory }) else { continue }
      let inner = addGroup(factory, in: group, reason.message)
      for spec in factory.specs { homes[spec.number] = (spec, inner) }
      addInactive(factory.factories, active, in: inner, &homes)
    }
  }

  private mutating func addGroup(
    _ declarations: EnvironmentDeclarations, in parent: Int?, _ inactive: String?
  ) -> Int {
    outline.add(
      DeclarationOutline.Group(
        name: declarations.name, parent: parent, scopeName: declarations.scopeName, inactive: inactive))
  }

  private mutating func add(_ definition: BeanDefinition, in graph: EnvironmentGraph, _ group: Int) -> Int {
    let (spec, traits, origin) = (definition.spec, definition.traits, definition.spec.location.origin)
    let made: [(DeclarationOutline.Traits, Bool)] = [
      (.seed, definition.entry == 0 && graph.hasSeed), (.lazy, spec.isLazy ?? false),
      (.asynchronous, traits.contains(.awaited)), (.decorator, definition.decorated != nil),
      (.primary, spec.isPrimary), (.private, spec.isPrivate),
      (.factory, traits.contains(.factory) || definition.factory.product != nil), (.product, definition.maker != nil),
      (.running, traits.contains(.runnable)), (.scheduled, !definition.isProduct && !spec.works.isEmpty),
      (.qualified, !spec.qualifiers.isEmpty), (.ofChildren, definition.type is any FactoryOfChildren.Type),
    ]
    return outline.add(
      DeclarationOutline.Declaration(
        group: group, label: definition.label, id: definition.id, type: definition.type,
        scope: definition.lifetime.name,
        // The factory declares the seed, which has no origin of its own.
        origin: origin.line > 0 ? origin : nil,
        traits: DeclarationOutline.Traits(made.filter(\.1).map(\.0)), inactive: nil))
  }

  /// Adds a declaration that is not a bean.
  private mutating func add(_ spec: FrozenSpec, in group: Int, _ inactive: String?) -> Int {
    let made: [(DeclarationOutline.Traits, Bool)] = [
      (.template, spec.isAbstract), (.lazy, spec.isLazy ?? false), (.decorator, spec.isDecorator),
      (.primary, spec.isPrimary), (.private, spec.isPrivate),
    ]
    return outline.add(
      DeclarationOutline.Declaration(
        group: group, label: spec.written, id: spec.id, type: spec.type,
        scope: spec.scopeName ?? outline.groups[group].scopeName ?? "singleton", origin: spec.location.origin,
        traits: DeclarationOutline.Traits(made.filter(\.1).map(\.0)), inactive: inactive))
  }

  // MARK: dependencies

  private mutating func addDependencies(of graph: EnvironmentGraph, _ compiler: GraphCompiler) {
    let (dependencies, points) = (compiler.dependencies, compiler.points)
    for definition in graph.placed {
      guard let taker = beans[Plan.EntryKey(definition.directory, definition.entry)] else { continue }
      let ranges = [definition.requirements, (definition.product ?? definition).arguments, definition.injected]
      for range in ranges + [definition.product?.injected ?? 0..<0] {
        for index in range { add(dependencies[index], at: points[index], of: definition, from: taker, graph) }
      }
    }
    for spec in graph.declared.specs {
      guard let child = declaration(of: spec, in: graph) else { continue }
      add(.template, "", from: child, to: template(of: spec, in: graph))
    }
  }

  private mutating func add(
    _ dependency: BeanDefinition.Dependency, at point: InjectionPoint, of definition: BeanDefinition, from taker: Int,
    _ graph: EnvironmentGraph
  ) {
    if case .resolved(.computed(.absent(let parameter), _)) = dependency.source {
      outline.add(DeclarationOutline.Absence(taker: taker, type: "\(parameter.element)"))
    }
    let kind = Self.kind(of: dependency, at: point, of: definition)
    let place = kind == .decorates || kind == .factory ? "" : point.label
    for bean in beans(of: dependency, from: graph) { add(kind, place, from: taker, to: beans[bean]) }
  }

  private func beans(of dependency: BeanDefinition.Dependency, from graph: EnvironmentGraph) -> [Plan.EntryKey] {
    switch dependency.source {
    case .resolved(let source): beans(of: source, from: graph) { $0.key }
    case .composed(let parts, _): parts.flatMap { beans(of: $0, from: graph) }
    case .value, .injection, .products: []
    }
  }

  private func beans<Bean>(
    of source: Source<Bean>, from graph: EnvironmentGraph, _ key: (Bean) -> Plan.EntryKey
  ) -> [Plan.EntryKey] {
    switch source {
    case .bean(let bean): [key(bean)]
    case .all(let beans, _): beans.map(key)
    case .computed(let computation, _): provided(by: computation, from: graph)
    }
  }

  private static func kind(
    of dependency: BeanDefinition.Dependency, at point: InjectionPoint, of definition: BeanDefinition
  ) -> Kind {
    let usual: Kind
    switch point {
    case .requirement: return .requirement
    case .parameter where definition.maker != nil: return .factory
    case .parameter(0) where definition.decorated != nil: return .decorates
    case .parameter: usual = .parameter
    default: usual = .property
    }
    if case .composed = dependency.source { return .collection }
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

  private mutating func add(_ kind: Kind, _ place: String, from taker: Int, to taken: Int?) {
    guard let taken else { return }
    outline.add(DeclarationOutline.Dependency(taker: taker, taken: taken, kind: kind, place: place))
  }

  // MARK: providers

  /// Returns the beans that a provider may return: those visible where it is injected, and from the children that may
  /// be current.
  private func provided(by computation: Computation, from graph: EnvironmentGraph) -> [Plan.EntryKey] {
    guard case .provider(let parameter, let id, let module) = computation else { return [] }
    switch parameter.kind {
    case .provider(let inner): return select(inner, id, module, from: [graph] + graph.below)
    case .current(let inner):
      // A bean that lives longer than a child is the same in every environment.
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
      let source = try? graph.directory.resolve(
        parameter, id: id, from: module, below: graph.belowDirectories, hasHints: false
      ) { $0 }
      found += source.map { beans(of: $0, from: graph) { Plan.EntryKey($0.directory, $0.number) } } ?? []
    }
    return found
  }

  // MARK: templates

  private func declaration(of spec: FrozenSpec, in graph: EnvironmentGraph) -> Int? {
    guard spec.template != nil else { return nil }
    if let entry = graph.directory.entry(declared: spec.number) { return beans[Plan.EntryKey(graph.directory, entry)] }
    let position = graph.declared.specs.firstIndex { $0.number == spec.number }
    return position.flatMap { templates[Plan.EntryKey(graph.directory, Int32($0))] }
  }

  /// Returns the nearest declaration with the id from which the declaration inherits. That may be its own id further
  /// out.
  private func template(of spec: FrozenSpec, in graph: EnvironmentGraph) -> Int? {
    guard let id = spec.template else { return nil }
    var next = Optional(graph.directory)
    while let (meaning, directory, _) = next?.find(id: id, from: spec.module?.key) {
      if let found = declared[ObjectIdentifier(directory)], let position = meaning.position,
        found.specs[position].number != spec.number
      {
        let template = found.specs[position]
        return directory.entry(declared: template.number).flatMap { beans[Plan.EntryKey(directory, $0)] }
          ?? templates[Plan.EntryKey(directory, Int32(position))]
      }
      next = directory.parent
    }
    return nil
  }
}
