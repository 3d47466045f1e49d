package import BeansErrors

/// One dependency of a bean, and the beans to which it leads.
package struct DeclaredDependency {
  package let taker: BeanDefinition
  package let point: InjectionPoint
  let dependency: PlacedBean.Dependency
  /// The beans, those that a provider may return later among them; empty for a value.
  package let beans: [BeanDefinition]

  package var kind: Parameter.Kind { dependency.parameter.kind }

  /// Whether the declaration composes the value of several beans.
  package var isComposed: Bool { if case .composed = dependency.source { true } else { false } }

  /// The type of the optional bean, as text, where none is declared.
  fileprivate var absent: String? {
    guard case .resolved(.computed(.absent(let parameter), _)) = dependency.source else { return nil }
    return "\(parameter.element)"
  }
}

extension [DeclaredDependency] {
  /// The types of the optional beans that are not declared, as text, each once for a taker.
  package var absences: [(taker: BeanDefinition, type: String)] {
    var known = [ObjectIdentifier: Set<String>]()
    return compactMap { dependency in
      let taker = ObjectIdentifier(dependency.taker)
      guard let type = dependency.absent, known[taker, default: []].insert(type).inserted else { return nil }
      return (dependency.taker, type)
    }
  }
}

extension DeclarationLevel {
  /// The identity of the level; `outer` is that of the level further out.
  package var id: ObjectIdentifier { ObjectIdentifier(graph.directory) }
  package var outer: ObjectIdentifier? { graph.outerDirectory.map { ObjectIdentifier($0) } }
  /// The factories whose children are inactive, at any depth, each with the reason.
  package var inactiveFactories: [(declarations: EnvironmentDeclarations, reason: EnvironmentError)] {
    graph.active.inactiveFactories
  }

  /// The dependencies of the beans that are built here, some of which are declared further out.
  package var dependencies: [DeclaredDependency] {
    if resolved.isEmpty { return [] }
    return graph.placed.flatMap { bean in
      let made = bean.product
      let ranges = [bean.requirements, (made ?? bean).arguments, bean.injected, made?.injected ?? 0..<0]
      return ranges.joined().map { number in
        DeclaredDependency(
          taker: bean.definition, point: points[number], dependency: resolved[number],
          beans: graph.beans(takenBy: resolved[number].source))
      }
    }
  }

  /// The declarations that inherit from another one, each with the nearest template: the identities of their beans, or
  /// of the declarations where these are no beans.
  package var inheritances: [(heir: ObjectIdentifier, template: ObjectIdentifier)] {
    graph.declared.specs.compactMap { spec in
      graph.declared.nearestTemplates[spec.number].map {
        (graph.directory.identity(of: spec), graph.directory.identity(of: $0))
      }
    }
  }
}

extension BeanDefinition {
  /// The declaration with its templates merged, as long as the compilation exists that has made the bean.
  package var declaration: FrozenSpec { spec.object }
  package var isAwaited: Bool { traits.contains(.awaited) }
  package var isRunnable: Bool { traits.contains(.runnable) }
  package var isProduct: Bool { maker != nil }
  /// Whether the bean makes another one: it is a `FactoryBean`, or an assisted factory.
  package var makesBean: Bool { traits.contains(.factory) || product != nil }
}

extension EnvironmentDeclarations {
  /// All declarations, in order of definition. The property that a declaration changes is not visible to other modules,
  /// so that no access to it has to be checked at run time.
  package var all: [FrozenSpec] { specs }
  /// The declarations that contain those of a factory's children.
  package var around: EnvironmentDeclarations? { outer }
}

extension BeanDirectory {
  /// Returns the identity of the bean of a declaration, here or further out, or of the declaration where it is no bean.
  fileprivate func identity(of spec: FrozenSpec) -> ObjectIdentifier {
    bean(declared: spec.number).map { ObjectIdentifier($0.definition) } ?? ObjectIdentifier(spec)
  }
}

extension EnvironmentGraph {
  fileprivate func beans(takenBy source: PlacedBean.Dependency.DependencySource) -> [BeanDefinition] {
    switch source {
    case .resolved(let source): beans(of: source.map(\.definition))
    case .composed(let parts, _): parts.flatMap { beans(takenBy: $0.source) }
    case .value, .injection, .products: []
    }
  }

  private func beans(of source: Source<BeanDefinition>) -> [BeanDefinition] {
    switch source {
    case .bean(let bean): [bean]
    case .all(let beans, _): beans
    case .computed(.provider(let parameter, let id, let module), _): beans(providedFor: parameter, id, module)
    case .computed: []
    }
  }

  /// Returns the beans that a provider may return: those visible here, where it is injected, and from the children that
  /// may be current.
  private func beans(
    providedFor parameter: Parameter, _ id: String?, _ module: ObjectIdentifier?
  ) -> [BeanDefinition] {
    switch parameter.kind {
    case .provider(let inner): ([self] + below).flatMap { $0.select(inner, id, module) }
    case .current(let inner):
      // A bean that lives longer than a child is the same in every environment.
      below.flatMap { $0.select(inner, id, module) }.filter { $0.lifetime != .singleton }
    default: []
    }
  }

  private func select(_ parameter: Parameter, _ id: String?, _ module: ObjectIdentifier?) -> [BeanDefinition] {
    let search = BeanSearch(directory: directory, id: id, module: module, below: belowDirectories, hasHints: false)
    return (try? search.resolve(parameter).map(\.definition)).map { beans(of: $0) } ?? []
  }
}
