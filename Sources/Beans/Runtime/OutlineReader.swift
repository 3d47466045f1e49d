import BeansReflection
import BeansErrors

/// Reads an outline from the definitions of a compiler, and from the bindings of their dependencies.
struct OutlineReader {
  private typealias Kind = DeclarationOutline.Dependency.Kind

  private var outline = DeclarationOutline()
  /// The groups of graphs, by directory.
  private var groups = [ObjectIdentifier: Int]()
  /// Positions in the outline: of beans, and of templates.
  private var beans = [ObjectIdentifier: Int]()
  private var templates = [ObjectIdentifier: Int]()

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
    for definition in graph.definitions {
      beans[ObjectIdentifier(definition)] = add(definition.spec.object, definition, in: group)
    }
    for spec in graph.declared.specs where spec.isAbstract {
      templates[ObjectIdentifier(spec)] = add(spec, in: group)
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

  /// Adds a group. Returns its number.
  private mutating func addGroup(
    _ declarations: EnvironmentDeclarations, in parent: Int?, _ inactive: String?
  ) -> Int {
    outline.groups.append(
      DeclarationOutline.Group(
        name: declarations.name, parent: parent, scopeName: declarations.scopeName, inactive: inactive))
    return outline.groups.count - 1
  }

  /// Adds a declaration, and its bean if it has one. Returns its number.
  private mutating func add(
    _ spec: FrozenSpec, _ bean: BeanDefinition? = nil, in group: Int, _ inactive: String? = nil
  ) -> Int {
    let (traits, origin) = (bean?.traits ?? [], spec.location.origin)
    let made: [(DeclarationOutline.Trait, Bool)] = [
      (.template, spec.isAbstract), (.lazy, spec.isLazy ?? false), (.decorator, spec.isDecorator),
      (.primary, spec.isPrimary), (.private, spec.isPrivate), (.seed, bean?.isSeed == true),
      (.asynchronous, traits.contains(.awaited)), (.factory, traits.contains(.factory) || bean?.product != nil),
      (.product, bean?.maker != nil), (.running, traits.contains(.runnable)),
      (.scheduled, bean != nil && !spec.works.isEmpty), (.qualified, !spec.qualifiers.isEmpty),
      (.ofChildren, bean?.type is any FactoryOfChildren.Type),
    ]
    outline.declarations.append(
      DeclarationOutline.Declaration(
        group: group, label: bean?.label ?? spec.written, id: spec.id, type: bean?.type ?? spec.type,
        scope: bean?.lifetime.name ?? spec.scopeName ?? outline.groups[group].scopeName ?? "singleton",
        // The factory declares the seed, which has no origin of its own.
        origin: origin.line > 0 ? origin : nil, traits: Set(made.filter(\.1).map(\.0)), inactive: inactive))
    return outline.declarations.count - 1
  }

  // MARK: dependencies

  private mutating func addDependencies(of graph: EnvironmentGraph, _ compiler: GraphCompiler) {
    for bean in graph.placed {
      guard let taker = beans[ObjectIdentifier(bean.definition)] else { continue }
      let ranges = [bean.requirements, (bean.product ?? bean).arguments, bean.injected]
      for range in ranges + [bean.product?.injected ?? 0..<0] {
        for (dependency, point) in zip(compiler.dependencies[range], compiler.points[range]) {
          add(dependency, at: point, of: bean.definition, from: taker, graph)
        }
      }
    }
    for spec in graph.declared.specs {
      guard let child = declaration(of: spec, in: graph) else { continue }
      add(.template, "", from: child, to: template(of: spec, in: graph))
    }
  }

  private mutating func add(
    _ dependency: PlacedBean.Dependency, at point: InjectionPoint, of definition: BeanDefinition, from taker: Int,
    _ graph: EnvironmentGraph
  ) {
    if case .resolved(.computed(.absent(let parameter), _)) = dependency.source {
      let absence = DeclarationOutline.Absence(taker: taker, type: "\(parameter.element)")
      if !outline.absences.contains(absence) { outline.absences.append(absence) }
    }
    let kind = Self.kind(of: dependency, at: point, of: definition)
    let place = kind == .decorates || kind == .factory ? "" : point.label
    for bean in beans(of: dependency, from: graph) { add(kind, place, from: taker, to: beans[ObjectIdentifier(bean)]) }
  }

  private func beans(of dependency: PlacedBean.Dependency, from graph: EnvironmentGraph) -> [BeanDefinition] {
    switch dependency.source {
    case .resolved(let source): beans(of: source.map(\.definition), from: graph)
    case .composed(let parts, _): parts.flatMap { beans(of: $0, from: graph) }
    case .value, .injection, .products: []
    }
  }

  private func beans(of source: Source<BeanDefinition>, from graph: EnvironmentGraph) -> [BeanDefinition] {
    switch source {
    case .bean(let bean): [bean]
    case .all(let beans, _): beans
    case .computed(let computation, _): provided(by: computation, from: graph)
    }
  }

  private static func kind(
    of dependency: PlacedBean.Dependency, at point: InjectionPoint, of definition: BeanDefinition
  ) -> Kind {
    let usual: Kind
    switch point {
    case .requirement: return .requirement
    case .parameter where definition.maker != nil: return .factory
    case .parameter(0) where definition.isDecorator: return .decorates
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
    outline.dependencies.append(DeclarationOutline.Dependency(taker: taker, taken: taken, kind: kind, place: place))
  }

  // MARK: providers

  /// Returns the beans that a provider may return: those visible where it is injected, and from the children that may
  /// be current.
  private func provided(by computation: Computation, from graph: EnvironmentGraph) -> [BeanDefinition] {
    guard case .provider(let parameter, let id, let module) = computation else { return [] }
    switch parameter.kind {
    case .provider(let inner): return select(inner, id, module, from: [graph] + graph.below)
    case .current(let inner):
      // A bean that lives longer than a child is the same in every environment.
      return select(inner, id, module, from: graph.below).filter { $0.lifetime != .singleton }
    default: return []
    }
  }

  private func select(
    _ parameter: Parameter, _ id: String?, _ module: ObjectIdentifier?, from graphs: [EnvironmentGraph]
  ) -> [BeanDefinition] {
    graphs.flatMap { graph in
      let search = BeanSearch(
        directory: graph.directory, id: id, module: module, below: graph.belowDirectories, hasHints: false)
      return (try? search.resolve(parameter).map(\.definition)).map { beans(of: $0, from: graph) } ?? []
    }
  }

  // MARK: templates

  private func declaration(of spec: FrozenSpec, in graph: EnvironmentGraph) -> Int? {
    spec.template == nil ? nil : position(of: spec, in: graph.directory)
  }

  private func position(of spec: FrozenSpec, in directory: BeanDirectory) -> Int? {
    directory.number(declared: spec.number).flatMap { beans[ObjectIdentifier(directory.beans[Int($0)])] }
      ?? templates[ObjectIdentifier(spec)]
  }

  /// Returns the nearest declaration with the id from which the declaration inherits. That may be its own id further
  /// out.
  private func template(of spec: FrozenSpec, in graph: EnvironmentGraph) -> Int? {
    guard let id = spec.template else { return nil }
    var next = Optional(graph.directory)
    while let (meaning, directory, _) = next?.find(id: id, from: spec.module?.key) {
      let template = meaning.position.map { directory.declarations.specs[$0] }
      if let template, template.number != spec.number { return position(of: template, in: directory) }
      next = directory.parent
    }
    return nil
  }
}
