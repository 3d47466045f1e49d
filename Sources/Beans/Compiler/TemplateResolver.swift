import BeansReflection
import BeansErrors
import BeansSupport

/// Turns the declarations of one environment into definitions: collects beans declared in place, follows template
/// chains in any order of declaration, and separates factory beans from their products.
struct TemplateResolver {
  private let graph: EnvironmentGraph
  private(set) var faults: [EnvironmentError] = []
  private var definitions: [BeanDefinition] = []
  /// Whether a declaration has options that few beans have.
  private var hasOptions = false
  private var hasDecorators = false
  /// The union of the traits of all declared types.
  private var traits: BeanTraits = []
  /// The type examined last and its traits.
  private var last: (type: Any.Type, traits: BeanTraits) = (Never.self, [])
  /// The declarations and those embedded in them, in order.
  private var specs: [FrozenSpec] = []
  /// The declarations that are embedded in others.
  private var collected: Set<ObjectIdentifier> = []
  /// The number and, once known, the entry of each declaration, in the order of `specs`.
  private var declared: [(number: Int, entry: Int32)] = []
  private var ids: IdTable
  /// The numbers of beans that other declarations contain, which were defined before and whose types are `Sendable`.
  private var sendable: Set<Int> = []
  /// The circles of templates reported so far: one report for all declarations that lead to the same circle.
  private var circles: Set<Set<Int>> = []
  /// The declarations of environments that have started, nearest first.
  private let started: [DeclaredBeans]
  /// The positions of the active declarations in `specs`.
  private var positions: [Int] = []
  /// The replacements that a test makes for declarations.
  private let overrides: BeanOverrides?

  /// Collects the declarations of a graph, and those embedded in them.
  init(_ graph: EnvironmentGraph, _ started: [DeclaredBeans], _ overrides: BeanOverrides?) {
    self.graph = graph
    self.overrides = overrides
    self.started = started
    let declarations = graph.active.specs
    ids = IdTable(graph, capacity: declarations.count)
    specs.reserveCapacity(declarations.count)
    declared.reserveCapacity(declarations.count)
    positions.reserveCapacity(declarations.count)
    for spec in declarations {
      positions.append(specs.count)
      collect(spec)
    }
    for number in sendable { noteSendableType(of: number) }
  }

  /// Notes that the type of a bean is `Sendable`, as only the declaration that contains it knows.
  private mutating func noteSendableType(of number: Int) {
    guard let position = specs.firstIndex(where: { $0.number == number && !$0.isSendable }) else { return }
    var spec = specs[position].value
    spec.isSendable = true
    specs[position] = FrozenSpec(spec)
  }

  /// Creates the bean descriptors of declared classes, whose initialisers are users' code. An error is ignored here:
  /// the descriptor throws it again when it is used, and the error is reported with the other faults.
  func prepareDescriptors() {
    var last: Any.Type?
    func prepare(_ type: Any.Type) {
      if type == last { return }
      last = type
      if BeanTraits.of(type).contains(.injected) { _ = try? BeanDescriptor.forType(type) }
    }
    for spec in specs {
      if let type = spec.type { prepare(type) }
      if let type = spec.target { prepare(type) }
      if let product = spec.factory?.product { prepare(product.type) }
    }
  }

  /// Reads all declarations. The graphs further out must have been read before.
  mutating func resolve() {
    definitions.reserveCapacity(specs.count)
    let aliases = ids.nameAliases()
    if let seed = graph.declarations.seed, let type = seed.type, let factory = seed.factory {
      _ = add(seed, type, graph.usualLifetime, factory)
    }
    for position in specs.indices { define(position) }
    if let overrides { override(by: overrides) }
    let decorators = hasDecorators ? defineDecorators() : [:]
    var unbuilt: [Int32: BeanDirectory.Unbuilt] = [:]
    for (position, (_, entry)) in declared.enumerated() where entry < 0 && specs[position].id != nil {
      let spec = specs[position]
      unbuilt[Int32(position)] = BeanDirectory.Unbuilt(
        type: spec.type, id: spec.id, isAbstract: spec.isAbstract, location: spec.location)
    }
    let listeners = hasOptions || traits.contains(.listener) ? findListeners() : []
    let entered = ids.enter(aliases, specs, &faults)
    let entries = hasOptions ? definitions.map(entryWithOptions) : definitions.map(entry)
    let directory = BeanDirectory(
      name: graph.name, scopeName: graph.scopeName, parent: graph.outerDirectory, entries: entries,
      ids: ids.meanings, aliases: entered, declared: declared, unbuilt: unbuilt, inactive: graph.active.inactive,
      decorators: decorators, listeners: listeners)
    if let overrides { faults += overrides.faults(in: directory) }
    graph.declared.freeze(directory, specs)
    graph.freeze(definitions, graph.active.merge(positions.map { declared[$0].entry }))
  }

  private func entry(_ definition: BeanDefinition) -> BeanDirectory.Entry {
    BeanDirectory.Entry(
      type: definition.type, id: definition.id, lifetime: definition.lifetime, isPrimary: definition.spec.isPrimary,
      isSeed: definition.entry == 0 && graph.hasSeed, maker: definition.maker?.type,
      product: definition.factory.product?.type, isLazy: definition.spec.isLazy ?? false,
      location: definition.spec.location, traits: definition.traits)
  }

  /// Returns the entry of a bean that may have options which few beans have.
  private func entryWithOptions(_ definition: BeanDefinition) -> BeanDirectory.Entry {
    var entry = entry(definition)
    let spec = definition.spec
    if spec.options == nil, definition.decorated == nil { return entry }
    entry.options = BeanDirectory.EntryOptions(
      decorated: definition.decorated?.value, qualifiers: spec.qualifiers.map { ObjectIdentifier($0) },
      privateTo: spec.isPrivate ? spec.module?.key : nil, sharing: spec.options?.value.sharing)
    return entry
  }

  /// Adds a declaration and, as beans of their own, the declarations embedded in it. Enters their ids.
  private mutating func collect(_ spec: FrozenSpec) {
    if let id = spec.beanId {
      ids.enter(id, .declaration(Int32(specs.count)), at: spec.location, specs, &faults)
    }
    specs.append(spec)
    declared.append((spec.number, -1))
    for embedded in spec.embedded {
      guard isToBeCollected(embedded) else {
        if embedded.spec.isSendable { sendable.insert(embedded.spec.number) }
        continue
      }
      if !embedded.isDefined {
        embedded.isTaken(by: ObjectIdentifier(graph.declarations))
        if let module = spec.module { embedded.enter(module) }
      }
      let spec = FrozenSpec(embedded.spec)
      if !spec.conditions.isEmpty {
        report(
          spec, .conditionInPlace,
          "a bean declared in place has no conditions of its own: give them to the declaration that it stands in")
      }
      collect(spec)
    }
  }

  /// Whether the declaration is defined nowhere else. An earlier reading of these declarations may have marked it as
  /// defined.
  private mutating func isToBeCollected(_ declaration: BeanDeclaration) -> Bool {
    if declaration.isDefined, declaration.taker != ObjectIdentifier(graph.declarations) { return false }
    return collected.insert(ObjectIdentifier(declaration)).inserted
  }

  // MARK: definitions

  /// Adds the bean of a declaration: two beans if a factory bean makes the declared one, none if the declaration is
  /// abstract.
  ///
  /// An erroneous declaration also becomes a bean, if its type is known: dependent beans find it, and only the
  /// declaration itself is reported.
  private mutating func define(_ position: Int) {
    let declared = specs[position]
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
    let traits = own == nil ? [] : last.traits
    let isFaultless = declared.faults.isEmpty
    if !isFaultless || !declared.propertyFaults.isEmpty { reportFaults(of: declared) }
    if declared.options != nil, declared.isPrivate, declared.module == nil {
      report(declared, .privateWithoutModule, "only what a module declares can be private to it")
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
    let merged = templates.isEmpty ? declared : merge(declared, templates, type)
    // Without its template, the scope is unknown. A prototype causes no further faults.
    let lifetime = chain == nil && merged.scopeName == nil ? .prototype : lifetime(merged)
    let known = own == nil ? BeanTraits.of(type) : traits
    if !templates.isEmpty {
      self.traits.formUnion(known)
      if merged.options != nil { hasOptions = true }
    }
    if merged.target != nil || known.contains(.factory) {
      return defineFactory(merged, type, lifetime, declared, templates, position, isSound: isSound)
    }
    let factory = factory(of: type, declared, templates, isSound: isSound)
    guard let definition = add(merged, type, lifetime, factory ?? .unknown, known) else { return }
    definition.isAtFault = !isSound || factory == nil
    self.declared[position].entry = definition.entry
    check(definition)
  }

  /// Reports the faults that a declaration has by itself.
  private mutating func reportFaults(of declared: FrozenSpec) {
    for fault in declared.faults { report(declared, fault.cause, fault.message) }
    for fault in declared.propertyFaults { report(declared, .propertySources, fault) }
  }

  private func merge(_ declared: FrozenSpec, _ templates: [FrozenSpec], _ type: Any.Type) -> FrozenSpec {
    var merged = declared.value
    for template in templates { merged.inherit(template.value) }
    merged.type = type
    if declared.type == nil { merged.isSendable = templates.first { $0.type != nil }?.isSendable ?? false }
    return FrozenSpec(merged)
  }

  private func lifetime(_ spec: FrozenSpec) -> Lifetime { spec.scopeName.map { Lifetime($0) } ?? graph.usualLifetime }

  private mutating func add(
    _ spec: FrozenSpec, _ type: Any.Type, _ lifetime: Lifetime, _ factory: FactoryFunction,
    _ traits: BeanTraits? = nil, maker: BeanDefinition? = nil, decorated: ValueBox<BeanDirectory.Decorated>? = nil
  ) -> BeanDefinition? {
    if factory.product != nil, let earlier = definitions.first(where: { $0.type == type }) {
      faults.append(
        EnvironmentError(
          cause: .boundTwice,
          "a factory is bound once per tag, and \(earlier.label) is bound at \(earlier.spec.location.origin)",
          path: [BeanDirectory.Entry.label(type, spec.id)], origin: spec.location.origin))
      return nil
    }
    let definition = BeanDefinition(
      spec, type: type, lifetime: lifetime, traits: traits, factory: factory,
      entry: Int32(definitions.count), maker: maker, decorated: decorated, home: Unretained(graph.declared))
    definitions.append(definition)
    return definition
  }

  /// Adds a factory bean and its product. If the declaration has errors, both exist so that dependent beans find them.
  private mutating func defineFactory(
    _ merged: FrozenSpec, _ type: Any.Type, _ lifetime: Lifetime, _ declared: FrozenSpec, _ templates: [FrozenSpec],
    _ position: Int, isSound: Bool
  ) {
    let factoryType = type as? any FactoryBean.Type
    let fault = isSound ? fault(of: type, making: merged.target) : nil
    if let fault { report(declared, fault.cause, fault.message) }
    let factory = factory(of: type, declared, templates, isSound: isSound)
    guard let target = merged.target ?? factoryType.map(FactoryFunction.product), !Parameter.isWrapper(target) else {
      return
    }
    var own = merged.value
    own.id = declared.id.map { "&\($0)" }
    // Prototype products share one factory.
    let ownLifetime = lifetime == .prototype && isSound ? graph.usualLifetime : lifetime
    guard let maker = add(FrozenSpec(own), type, ownLifetime, factory ?? .unknown) else { return }
    maker.isAtFault = !isSound || fault != nil || factory == nil
    if let id = own.beanId {
      ids.enter(id, .factory(maker.entry), at: declared.location, specs, &faults)
    }
    check(maker)
    let spec = FrozenSpec(merged.value.product(target))
    let isMade = isSound && fault == nil
    let product =
      isMade ? factoryType.map { FactoryFunction.product(of: $0, as: target, at: declared.location.origin) } : nil
    guard let made = add(spec, target, lifetime, product ?? .unknown, maker: maker) else { return }
    made.isAtFault = product == nil
    self.declared[position].entry = made.entry
    self.traits.formUnion(made.traits)
    faults += made.bindProperties()
  }

  /// Returns the reason why a type can never be a factory bean of a target; nil if it may be.
  private func fault(of type: Any.Type, making target: Any.Type?) -> (cause: FaultCause, message: String)? {
    guard let target else {
      return (.missingTarget, "\(type) is a FactoryBean: .target(…) has to say what it makes")
    }
    guard let factory = type as? any FactoryBean.Type else {
      return (.needlessTarget, "\(type) is no FactoryBean, so it cannot have the target \(target)")
    }
    return FactoryFunction.fault(of: factory, making: target).map {
      (Parameter.isWrapper(target) ? .notABean : .otherProduct, $0)
    }
  }

  /// Applies a test's overrides. Runs before decorators are defined, because these also wrap replaced beans.
  private mutating func override(by overrides: BeanOverrides) {
    var all = definitions
    let (added, found) = overrides.apply(to: &all, hasSeed: graph.hasSeed)
    definitions = all
    faults += found
    for definition in added {
      traits.formUnion(definition.traits)
      check(definition)
    }
  }

  // MARK: decorators

  /// A bean to decorate: the key of its decorators, the bean inside the first of them, its lifetime and its laziness.
  private typealias Candidate = (
    key: BeanDirectory.DecoratorKey, inner: BeanDirectory.Decorated, lifetime: Lifetime, isLazy: Bool
  )

  /// Adds a decorator for each bean that has the decorator's type. Returns the outermost ones.
  private mutating func defineDecorators() -> [BeanDirectory.DecoratorKey: Int32] {
    var outermost: [BeanDirectory.DecoratorKey: Int32] = [:]
    let beans = definitions
    hasOptions = true
    for spec in specs where spec.isDecorator {
      guard let type = spec.type, let factory = spec.factory, isSound(spec, type) else { continue }
      let candidates = candidates(for: type, from: spec.module?.key, among: beans)
      if candidates.isEmpty {
        let criteria = BeanDirectory.Criteria(module: spec.module?.key)
        let inactive = graph.active.inactive.filter { $0.answers(to: type, criteria) }.map(\.hint).joined()
        let hint = inactive + (graph.outerDirectory?.hint(forInactive: type, criteria) ?? "")
        report(
          spec, hint.isEmpty ? .nothingToDecorate : .inactiveBean,
          "no bean of type \(type) can be seen from '\(graph.name)'\(hint)")
      }
      for (number, bean) in candidates.enumerated() {
        let own = outermost[bean.key].map {
          BeanDirectory.Decorated(home: nil, number: $0, label: bean.inner.label, id: bean.inner.id)
        }
        var merged = spec.value
        merged.isLazy = spec.isLazy ?? bean.isLazy
        guard let made = add(FrozenSpec(merged), type, bean.lifetime, factory, decorated: ValueBox(own ?? bean.inner))
        else {
          continue
        }
        outermost[bean.key] = made.entry
        let count = faults.count
        check(made)
        // One report for all decorators of a declaration.
        if number > 0 { faults.removeSubrange(count...) }
      }
    }
    return outermost
  }

  /// Whether a decorator has no errors of its own. Reports those that it has.
  private mutating func isSound(_ spec: FrozenSpec, _ type: Any.Type) -> Bool {
    let given = spec.faults + spec.propertyFaults.map { (cause: .propertySources, message: $0) }
    var found: [(cause: FaultCause, message: String)] = []
    if Parameter.isWrapper(type) {
      found.append((.notABean, "\(type) is not a bean, so that nothing can be decorated as one"))
    }
    if spec.id != nil || spec.template != nil || spec.isAbstract || spec.isPrimary || spec.target != nil {
      found.append(
        (
          .decoratorOptions,
          "a decorator is found by what it decorates: it has no id, parent, target or preference of its own"
        ))
    }
    if spec.scopeName != nil {
      found.append((.decoratorOptions, "a decorator lives as long as what it decorates, and has no scope of its own"))
    }
    if spec.value.argument(0) != nil {
      found.append((.decoratedArgument, "argument 0 is what is decorated, which cannot be pinned"))
    }
    for fault in given + found { report(spec, fault.cause, fault.message) }
    return given.isEmpty && found.isEmpty
  }

  /// Returns the beans that are declared here, in order, then those visible from further out.
  private func candidates(
    for type: Any.Type, from module: ObjectIdentifier?, among beans: [BeanDefinition]
  ) -> [Candidate] {
    let key = ObjectIdentifier(type)
    var found: [Candidate] = []
    for bean in beans where bean.type == type || TypeRelation.isUsable(bean.type, as: type) {
      if bean.entry == 0 && graph.hasSeed || bean.spec.isPrivate && bean.spec.module?.key != module { continue }
      found.append(
        (
          BeanDirectory.DecoratorKey(home: nil, number: bean.entry, type: key),
          BeanDirectory.Decorated(home: nil, number: bean.entry, label: bean.label, id: bean.id), bean.lifetime,
          bean.spec.isLazy ?? false
        ))
    }
    guard let outer = graph.outerDirectory else { return found }
    for (directory, hops) in outer.chain {
      for number in directory.candidates(for: type) {
        let bean = BeanDirectory.Found(directory: directory, number: number, hops: hops)
        let entry = bean.entry
        if entry.isSeed || !entry.isVisible(from: module) || outer.hides(entry, hops: hops) { continue }
        if let id = entry.beanId, ids.meanings[id] != nil { continue }
        let inner = outer.decorated(bean, as: type)
        found.append(
          (
            BeanDirectory.DecoratorKey(home: ObjectIdentifier(directory), number: number, type: key),
            BeanDirectory.Decorated(
              home: Unretained(inner.directory), number: inner.number, label: entry.label, id: entry.id),
            lifetime(ofDecorated: entry.lifetime), entry.isLazy
          ))
      }
    }
    return found
  }

  /// Returns the lifetime that the decorator of a bean from further out has here.
  private func lifetime(ofDecorated lifetime: Lifetime) -> Lifetime {
    switch lifetime {
    case .prototype: return .prototype
    case .singleton: return graph.usualLifetime
    case .scope(let name):
      let isOpenFurtherOut = graph.parent?.isOpen(name) ?? graph.parentPlan.map { $0.isOpen(name) } ?? false
      return isOpenFurtherOut ? graph.usualLifetime : lifetime
    }
  }

  // MARK: templates

  /// Returns the chain of templates, nearest first; nil if a template is unknown or the chain is circular.
  private mutating func templates(of spec: FrozenSpec) -> [FrozenSpec]? {
    guard spec.template != nil else { return [] }
    var chain = [spec]
    var seen: Set = [spec.number]
    var home = 0
    while let next = chain.last, let id = next.template {
      guard let (level, template) = template(id, of: next, at: home) else {
        if id == next.id {
          reportCircle([next])
        } else {
          report(spec, .unknownTemplate, "no template has the id '\(id)'\(ids.hint(forId: id, from: spec.module))")
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
    return Array(chain.dropFirst())
  }

  /// Returns the nearest declaration that has the id or an alias equal to it. A declaration may inherit from one
  /// further out that has the same id.
  private func template(_ id: String, of spec: FrozenSpec, at home: Int) -> (level: Int, template: FrozenSpec)? {
    if let module = spec.module,
      let found = template(BeanId(id, privateTo: module.key), of: spec, home)
    {
      return found
    }
    return template(BeanId(id), of: spec, home)
  }

  private func template(_ id: BeanId, of spec: FrozenSpec, _ home: Int) -> (level: Int, template: FrozenSpec)? {
    let (target, asker) = (ids.target(of: id), spec.beanId)
    if !(home == 0 && asker == id), let position = ids.meanings[target]?.position {
      return (0, specs[position])
    }
    var next = graph.outerDirectory
    while let (meaning, directory, _) = next?.find(target) {
      let level = (graph.outerDirectory?.depth ?? 0) + 1 - directory.depth
      if let position = meaning.position, !(home == level && asker == id),
        let declared = declared(in: directory, level)
      {
        return (level, declared.specs[position])
      }
      next = directory.parent
    }
    return nil
  }

  /// Returns the declarations of a directory that is a number of levels further out.
  private func declared(in directory: BeanDirectory, _ level: Int) -> DeclaredBeans? {
    graph.ancestor(level)?.declared ?? started.first { $0.directory === directory }
  }

  /// Returns the factory of a bean. A factory that is set anywhere in the chain overrides the class's own `init()`.
  ///
  /// - Parameters:
  ///   - type: the class of the bean.
  ///   - declared: the declaration.
  ///   - templates: the templates of the declaration, nearest first.
  ///   - isSound: whether a missing factory is a fault of its own.
  private mutating func factory(
    of type: Any.Type, _ declared: FrozenSpec, _ templates: [FrozenSpec], isSound: Bool
  ) -> FactoryFunction? {
    if declared.type == type, let factory = declared.factory { return factory }
    let own = (declared.type == nil ? templates.first { $0.type != nil } : declared)?.initializer
    if let maker = declared.factory == nil ? templates.first(where: { $0.factory != nil }) : declared {
      // A value in a box of its type cannot be read as another type, and neither can an object as a box.
      if let made = maker.type, made == type || type is AnyObject.Type && TypeRelation.isUsable(made, as: type) {
        return maker.factory
      }
      if own == nil, isSound {
        report(
          declared, .otherTemplateFactory,
          "the template's factory makes a \(maker.kind), not a \(type): give the bean its own")
        return nil
      }
    }
    if own == nil, isSound {
      report(
        declared, .noInitializer,
        "\(type) has no init() that the container can call: give a factory, conform to Initializable, "
          + "or inherit from a template that has a factory")
    }
    return own
  }

  // MARK: checks

  private mutating func check(_ definition: BeanDefinition) {
    let unbound = definition.bindProperties()
    if !unbound.isEmpty { faults += unbound }
    definition.collectValues()
    let (spec, type) = (definition.spec, definition.type)
    for stated in spec.stated where !TypeRelation.isUsable(type, as: stated) {
      faults.append(definition.fault(.unmetProtocol, "\(type) does not implement \(stated)"))
    }
    for property in definition.given {
      guard let owner = property.setter?.owner, !TypeRelation.isUsable(type, as: owner) else { continue }
      faults.append(
        definition.fault(.otherTemplateProperty, "\(property.name) is a property of \(owner), not of \(type)"))
    }
    if spec.postConstructs.isEmpty, spec.onDestroys.isEmpty { return }
    let owners = spec.postConstructs.map(\.owner) + spec.onDestroys.map(\.owner)
    for owner in owners where !TypeRelation.isUsable(type, as: owner) {
      faults.append(
        definition.fault(.otherTemplateCallback, "a lifecycle callback expects a \(owner), not a \(type)"))
    }
  }

  // MARK: events

  /// Returns the entries of beans that receive events. Reports invalid listeners.
  private mutating func findListeners() -> [Int32] {
    let definitions = definitions
    return definitions.filter { definition in
      let handlers = definition.handlers
      if definition.entry == 0 && graph.hasSeed { return false }
      for handler in handlers {
        if TypeRelation.isExistential(handler.event) {
          report(
            definition, .protocolListener,
            "\(handler.event) is a protocol, and no event is just that: listen to the types that conform to it")
        }
        if !TypeRelation.isUsable(definition.type, as: handler.owner) {
          report(definition, .otherTemplateCallback, "a listener expects a \(handler.owner), not a \(definition.type)")
        }
      }
      return !handlers.isEmpty
    }.map(\.entry)
  }

  /// Reports a fault once for all decorators of one declaration.
  private mutating func report(_ definition: BeanDefinition, _ cause: FaultCause, _ message: String) {
    let fault = definition.fault(cause, message)
    let isKnown = { (other: EnvironmentError) in other.message == message && other.origin == fault.origin }
    if definition.decorated == nil || !faults.contains(where: isKnown) { faults.append(fault) }
  }

  // MARK: faults

  private mutating func reportCircle(_ circle: [FrozenSpec]) {
    guard let first = circle.first, circles.insert(Set(circle.map(\.number))).inserted else { return }
    let ids = (circle + [first]).map { $0.id ?? $0.kind }
    faults.append(
      EnvironmentError(
        cause: .circleOfTemplates, "templates inherit from each other: \(ids.joined(separator: " → "))", path: ids,
        origin: first.location.origin))
  }

  private mutating func report(_ spec: FrozenSpec, _ cause: FaultCause, _ message: String) {
    faults.append(EnvironmentError(cause: cause, message, path: [spec.written], origin: spec.location.origin))
  }
}
