import BeansReflection
import BeansErrors

/// Turns the declarations of one environment into definitions: follows template chains, separates factory beans from their
/// products, and adds a decorator for each bean that it wraps.
struct TemplateResolver {
  private let graph: EnvironmentGraph
  private(set) var declarations: CollectedDeclarations
  private var definitions: [BeanDefinition] = []
  /// The nearest template of each declaration that has one, by the declaration's number.
  private var nearestTemplates = [Int: FrozenSpec]()
  /// Whether a declaration has options that few beans have.
  private var hasOptions = false
  private var hasDecorators = false
  /// The union of the traits of all declared types.
  private var traits: BeanTraits = []
  /// The type examined last and its traits.
  private var last: (type: Any.Type, traits: BeanTraits) = (Never.self, [])
  /// The circles of templates reported so far: one report for all declarations that lead to the same circle.
  private var circles: Set<Set<Int>> = []
  private let bindings: BeanBindings

  /// Collects the declarations of a graph.
  init(_ graph: EnvironmentGraph, _ bindings: BeanBindings) {
    (self.graph, self.bindings) = (graph, bindings)
    declarations = CollectedDeclarations(graph)
  }

  /// Reads all declarations. The graphs further out must have been read before.
  mutating func resolve() {
    definitions.reserveCapacity(declarations.specs.count)
    declarations.nameAliases()
    if let seed = graph.declarations.seed, let type = seed.type, let factory = seed.factory {
      _ = add(graph.declared.keep(seed), type, graph.usualLifetime, factory)
    }
    for position in declarations.specs.indices { define(position) }
    let overrides = graph.input.overrides
    if let overrides { override(by: overrides) }
    let decorators = hasDecorators ? defineDecorators() : [:]
    let unbuilt = declarations.unbuilt
    let listeners: [Int32] = if hasOptions || traits.contains(.listener) { findListeners() } else { [] }
    let aliases = declarations.enterAliases()
    let directory = BeanDirectory(
      name: graph.name, scopeName: graph.scopeName, parent: graph.outerDirectory, beans: definitions,
      home: graph.declared, ids: declarations.meanings, aliases: aliases, declared: declarations.declared,
      unbuilt: unbuilt, inactive: graph.active.inactive, decorators: decorators, listeners: listeners)
    if let overrides { declarations.faults += overrides.faults(in: directory) }
    graph.declared.freeze(directory, declarations.specs, nearestTemplates)
    graph.freeze()
  }

  // MARK: definitions

  /// Adds the bean of a declaration: two beans if a factory bean makes the declared one, none if the declaration is
  /// abstract.
  ///
  /// An erroneous declaration also becomes a bean, if its type is known: dependent beans find it, and only the
  /// declaration itself is reported.
  private mutating func define(_ position: Int) {
    let declared = declarations.specs[position]
    if declared.isDecorator {
      hasDecorators = true
      return
    }
    if declared.options != nil { hasOptions = true }
    let own = declared.type
    // Beans of one type are often declared in sequence.
    if let own, own != last.type {
      last = (own, .of(own))
      self.traits.formUnion(last.traits)
    }
    let traits: BeanTraits = if own == nil { [] } else { last.traits }
    // A bean is still resolved without a single property.
    let isFaultless = declared.faults.allSatisfy { $0.cause == .propertySources }
    if !declared.faults.isEmpty { declarations.faults += declared.ownFaults }
    if declared.options != nil, declared.isPrivate, declared.module == nil {
      report(declared, .privateWithoutModule, "only a declaration of a module can be private to it")
    }
    if let own, traits.contains(.wrapper) {
      report(
        declared, .notABean,
        "\(own) is not a bean: optionals, arrays and the container's own types cannot be declared")
    }
    let chain = templates(of: declared)
    if declared.isAbstract || traits.contains(.wrapper) { return }
    let templates = chain ?? []
    let isSound = chain != nil && isFaultless
    guard let type = own ?? templates.lazy.compactMap(\.type).first else {
      if isSound {
        report(declared, .noClassDeclared, "the declaration names no class and neither does a template")
      }
      return
    }
    let merged = if templates.isEmpty { declared } else { merge(declared, templates, type) }
    // Without its template, the scope is unknown. A prototype causes no further faults.
    let lifetime: Lifetime = if chain == nil && merged.scopeName == nil { .prototype } else { self.lifetime(merged) }
    let known = if own == nil { BeanTraits.of(type) } else { traits }
    if !templates.isEmpty {
      self.traits.formUnion(known)
      if merged.options != nil { hasOptions = true }
    }
    if merged.target != nil || known.contains(.factory) {
      return defineFactory(merged, type, lifetime, declared, templates, position, isSound: isSound)
    }
    let factory = factory(of: type, declared, templates, isSound: isSound)
    guard let definition = add(merged, type, lifetime, factory ?? .unknown, known) else { return }
    if !isSound || factory == nil { graph.changeFaulty { $0.insert(definition.number) } }
    declarations.setBean(definition.number, at: position)
    check(definition)
  }

  private func merge(_ declared: FrozenSpec, _ templates: [FrozenSpec], _ type: Any.Type) -> FrozenSpec {
    var merged = declared.value
    for template in templates { merged.inherit(template.value) }
    merged.type = type
    if declared.type == nil { merged.isSendable = templates.first { $0.type != nil }?.isSendable ?? false }
    return graph.declared.keep(FrozenSpec(merged))
  }

  private func lifetime(_ spec: FrozenSpec) -> Lifetime { spec.scopeName.map { Lifetime($0) } ?? graph.usualLifetime }

  private mutating func add(
    _ spec: FrozenSpec, _ type: Any.Type, _ lifetime: Lifetime, _ factory: FactoryFunction,
    _ traits: BeanTraits? = nil, maker: BeanDefinition? = nil, decorated: BeanDirectory.Decorated? = nil
  ) -> BeanDefinition? {
    if factory.product != nil, let earlier = definitions.first(where: { $0.type == type }) {
      declarations.faults.append(
        EnvironmentError(
          cause: .boundTwice,
          "a factory is bound once per tag, and \(earlier.label) is bound at \(earlier.location.origin)",
          path: [BeanDefinition.label(type, spec.id)], origin: spec.location.origin))
      return nil
    }
    if factory !== spec.factory { _ = graph.declared.keep(factory) }
    let definition = BeanDefinition(
      spec, type: type, lifetime: lifetime, traits: traits, factory: factory, number: Int32(definitions.count),
      isSeed: definitions.isEmpty && graph.hasSeed, maker: maker, decorated: decorated,
      product: factory.product.map { product($0, of: spec) })
    definitions.append(definition)
    return definition
  }

  /// Returns the product that an assisted factory makes of its parameters, in the same environment.
  private func product(_ product: (type: Any.Type, function: FactoryFunction), of spec: FrozenSpec) -> BeanDefinition {
    var own = spec.value.product(product.type)
    (own.id, own.isSendable) = (nil, spec.isSendable)
    return BeanDefinition(
      graph.declared.keep(FrozenSpec(own)), type: product.type, lifetime: .prototype, factory: product.function,
      number: Int32(definitions.count))
  }

  /// Adds a factory bean and its product. If the declaration has errors, both exist so that dependent beans find them.
  private mutating func defineFactory(
    _ merged: FrozenSpec, _ type: Any.Type, _ lifetime: Lifetime, _ declared: FrozenSpec, _ templates: [FrozenSpec],
    _ position: Int, isSound: Bool
  ) {
    let factoryType = type as? any FactoryBean.Type
    let fault = isSound ? declared.factoryBeanFault(of: type, making: merged.target) : nil
    if let fault { declarations.faults.append(fault) }
    let factory = factory(of: type, declared, templates, isSound: isSound)
    let makes = factoryType.map { FactoryFunction.product(of: $0) }
    guard let target = merged.target ?? makes, !Parameter.isWrapper(target) else { return }
    var own = merged.value
    own.id = declared.id.map { "&\($0)" }
    // Prototype products share one factory.
    let ownLifetime = if lifetime == .prototype && isSound { graph.usualLifetime } else { lifetime }
    guard let maker = add(graph.declared.keep(FrozenSpec(own)), type, ownLifetime, factory ?? .unknown) else { return }
    if !isSound || fault != nil || factory == nil { graph.changeFaulty { $0.insert(maker.number) } }
    if let id = maker.beanId { declarations.enter(id, .factory(maker.number), at: declared.location) }
    check(maker)
    let spec = graph.declared.keep(FrozenSpec(merged.value.product(target)))
    let isMade = isSound && fault == nil
    let product =
      isMade ? factoryType.map { FactoryFunction.product(of: $0, as: target, at: declared.location.origin) } : nil
    guard let made = add(spec, target, lifetime, product ?? .unknown, maker: maker) else { return }
    if product == nil { graph.changeFaulty { $0.insert(made.number) } }
    declarations.setBean(made.number, at: position)
    self.traits.formUnion(made.traits)
    declarations.faults += bindings.bind(made, graph.declared)?.faults ?? []
  }

  /// Returns the factory of a bean; nil if there is none.
  ///
  /// - Parameter isSound: whether a missing factory is a fault of its own.
  private mutating func factory(
    of type: Any.Type, _ declared: FrozenSpec, _ templates: [FrozenSpec], isSound: Bool
  ) -> FactoryFunction? {
    do throws(EnvironmentError) {
      return try declared.chooseFactory(of: type, templates)
    } catch {
      if isSound { declarations.faults.append(error) }
      return nil
    }
  }

  /// Applies a test's overrides. Runs before decorators are defined, because these also wrap replaced beans.
  private mutating func override(by overrides: BeanOverrides) {
    let (added, found) = overrides.apply(to: &definitions, graph, bindings)
    declarations.faults += found
    for definition in added {
      traits.formUnion(definition.traits)
      check(definition)
    }
  }

  // MARK: decorators

  /// Adds a decorator for each bean that has the decorator's type. Returns the outermost ones.
  private mutating func defineDecorators() -> [BeanDirectory.SearchKey: Int32] {
    var outermost = [BeanDirectory.SearchKey: Int32]()
    let beans = definitions
    let finder = DecoratorCandidates(graph)
    hasOptions = true
    for spec in declarations.specs where spec.isDecorator {
      guard let type = spec.type, let factory = spec.factory, isSound(spec, type) else { continue }
      let candidates = finder.candidates(for: type, from: spec.module?.key, among: beans, declarations.meanings)
      if candidates.isEmpty {
        let criteria = BeanDirectory.Criteria(module: spec.module?.key)
        let hint = graph.hint { $0.answers(to: type, criteria) }
        report(
          spec, hint.isEmpty ? .nothingToDecorate : .inactiveBean,
          "no bean of type \(type) can be seen from '\(graph.name)'\(hint)")
        // Its other parameters are judged as well.
        let missing = BeanDirectory.Decorated(home: nil, number: -1, bean: nil)
        _ = add(spec, type, graph.usualLifetime, factory, decorated: missing)
      }
      for (number, candidate) in candidates.enumerated() {
        let bean = candidate.bean
        let key = BeanDirectory.SearchKey(bean, as: type)
        let inner = outermost[key].map { (home: nil, number: $0) } ?? candidate.inner
        var merged = spec.value
        merged.isLazy = spec.isLazy ?? bean.isLazy
        let spec = graph.declared.keep(FrozenSpec(merged))
        let decorated = BeanDirectory.Decorated(home: inner.home, number: inner.number, bean: bean)
        guard let made = add(spec, type, candidate.lifetime, factory, decorated: decorated) else { continue }
        outermost[key] = made.number
        let count = declarations.faults.count
        check(made)
        // One report for all decorators of a declaration.
        if number > 0 { declarations.faults.removeSubrange(count...) }
      }
    }
    return outermost
  }

  /// Whether a decorator has no errors of its own. Reports those that it has.
  private mutating func isSound(_ spec: FrozenSpec, _ type: Any.Type) -> Bool {
    let found = spec.ownFaults + spec.decoratorFaults(decorating: type)
    declarations.faults += found
    return found.isEmpty
  }

  // MARK: templates

  /// Returns the chain of templates, nearest first; nil if a template is unknown or the chain is circular.
  private mutating func templates(of spec: FrozenSpec) -> [FrozenSpec]? {
    if spec.template == nil { return [] }
    var chain = [spec]
    var seen: Set = [spec.number]
    var home = 0
    while let next = chain.last, let id = next.template {
      guard let (level, template) = template(id, of: next, at: home) else {
        if id == next.id {
          reportCircle([next])
        } else {
          let hint = declarations.hint(forId: id, from: spec.module)
          report(spec, .unknownTemplate, "no template has the id '\(id)'\(hint)")
        }
        return nil
      }
      guard seen.insert(template.number).inserted else {
        reportCircle(Array(chain.drop { $0.number != template.number }))
        return nil
      }
      chain.append(template)
      home = level
    }
    nearestTemplates[spec.number] = chain[1]
    return Array(chain.dropFirst())
  }

  /// Returns the nearest declaration that has the id or an alias equal to it. A declaration may inherit from one
  /// further out that has the same id.
  private func template(
    _ id: String, of spec: FrozenSpec, at home: Int
  ) -> (level: Int, template: FrozenSpec)? {
    let own = spec.module.flatMap { template(BeanId(id, privateTo: $0.key), of: spec, at: home) }
    return own ?? template(BeanId(id), of: spec, at: home)
  }

  private func template(
    _ id: BeanId, of spec: FrozenSpec, at home: Int
  ) -> (level: Int, template: FrozenSpec)? {
    let (target, asker) = (declarations.target(of: id), spec.beanId)
    if !(home == 0 && asker == id), let position = declarations.meanings[target]?.position {
      return (0, declarations.specs[position])
    }
    var next = graph.outerDirectory
    while let (meaning, directory, _) = next?.find(target) {
      let level = (graph.outerDirectory?.depth ?? 0) + 1 - directory.depth
      if let position = meaning.position, !(home == level && asker == id) {
        return (level, directory.declarations.specs[position])
      }
      next = directory.parent
    }
    return nil
  }

  private mutating func reportCircle(_ circle: [FrozenSpec]) {
    guard let first = circle.first, circles.insert(Set(circle.map(\.number))).inserted else { return }
    let ids = (circle + [first]).map { $0.id ?? $0.kind }
    declarations.faults.append(
      EnvironmentError(
        cause: .circleOfTemplates, "templates inherit from each other: \(ids.joined(separator: " → "))", path: ids,
        origin: first.location.origin))
  }

  // MARK: checks

  /// Binds the properties and collects the values of a bean. Reports the faults of its declaration.
  private mutating func check(_ definition: BeanDefinition) {
    let binding = bindings.bind(definition, graph.declared)
    if let binding { declarations.faults += binding.faults }
    let found = definition.typeFaults(of: binding?.given ?? [])
    // Most beans have none, and an empty list would be appended to a copy of the faults.
    if !found.isEmpty { declarations.faults += found }
  }

  /// Returns the numbers of beans that receive events. Reports invalid listeners.
  private mutating func findListeners() -> [Int32] {
    var found: [Int32] = []
    for definition in definitions where !definition.isSeed {
      let handlers = definition.handlers
      for fault in definition.faults(of: handlers) {
        // One report for all decorators of a declaration.
        let isKnown = { (other: EnvironmentError) in other.message == fault.message && other.origin == fault.origin }
        let isNew = !definition.isDecorator || !declarations.faults.contains(where: isKnown)
        if isNew { declarations.faults.append(fault) }
      }
      if !handlers.isEmpty { found.append(definition.number) }
    }
    return found
  }

  private mutating func report(_ spec: FrozenSpec, _ cause: FaultCause, _ message: String) {
    declarations.faults.append(spec.fault(cause, message))
  }
}
