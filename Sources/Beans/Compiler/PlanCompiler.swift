import BeansConfiguration
import BeansReflection

/// Compiles the definitions of a validated graph to a plan: operands, recipes and the index of lookups.
struct PlanCompiler {
  private let graph: EnvironmentGraph
  private let input: CompilerInput
  private let block: SlotBlock
  private var resolver: DependencyResolver
  private let dependencies: [BeanDefinition.Dependency]
  /// Whether a bean that the graph's environments see receives events.
  private let hasListeners: Bool
  /// Whether a bean that the graph's environments see is created asynchronously.
  private let awaits: Bool
  private var computations: [Computation] = []
  /// The operands of all recipes, collected before they are frozen.
  private var operands: [Operand] = []
  private var steps: [Step] = []
  /// The operands that must exist before the first step of the recipe being laid out.
  private var needs: [Operand] = []
  /// The users' code of all beans, to which recipes refer. The environment must retain it.
  private(set) var codes: [AnyObject] = []

  /// The maximum number of steps in an order. A bean that needs more has no order: each bean builds its dependencies
  /// itself.
  private static let longestOrder = 128
  /// The maximum number of levels further out at which the index of lookups contains the ids of a factory's children.
  private static let farthest = 16

  /// - Parameters:
  ///   - graph: the graph to compile. The graphs further out must have been compiled before.
  ///   - input: the input of the compilation.
  ///   - block: the slots of the outermost graph's environment, followed by places for values.
  ///   - resolver: the resolver that has resolved the graph.
  init(_ graph: EnvironmentGraph, _ input: CompilerInput, _ block: SlotBlock, _ resolver: DependencyResolver) {
    self.graph = graph
    self.input = input
    self.block = block
    self.resolver = resolver
    dependencies = resolver.dependencies
    hasListeners = graph.directory.hasListeners
    awaits = graph.directory.visibleTraits.contains(.awaited)
  }

  mutating func compile() -> Plan {
    let definitions = number()
    operands.reserveCapacity(4 * definitions.count)
    steps.reserveCapacity(definitions.count)
    codes.reserveCapacity(definitions.count)
    if awaits { findAwaiting() }
    for definition in definitions { definition.layout = layOut(definition) }
    let index = makeIndex()
    let processors = graph.processors.map { operand(.bean($0), for: Parameter.of((any BeanPostProcessor).self)) }
    let injections = graph.injections.map { operand(.bean($0), for: Parameter.of(Injection.self)) }
    let templates = zip(graph.declarations.specs, graph.listed).enumerated().compactMap { position, declared in
      let (spec, entry) = declared
      return entry < 0 ? (spec.text(graph.scopeName) + graph.active.text(position), spec.location) : nil
    }
    let operands = FrozenArray(operands)
    let steps = FrozenArray(steps)
    var recipes = FrozenArray<Recipe>(capacity: definitions.count)
    for definition in definitions { recipes.append(recipe(of: definition, operands.all, steps.all)) }
    return Plan(
      name: graph.name, opening: graph.declarations.opening, parent: graph.parent?.plan ?? graph.parentPlan,
      directory: graph.directory, configuration: graph.declarations.configuration,
      layout: SlotLayout(slots: Int(graph.slotCount), hasScope: graph.declarations.hasScope), hasSeed: graph.hasSeed,
      isTraced: input.isTraced, awaits: awaits, sorted: graph.sorted.map(\.number), processors: processors,
      injections: injections,
      receivers: hasListeners ? receivers() : [:], below: graph.belowDirectories, parameters: input.parameters,
      listed: graph.listed, templates: templates,
      ownNumbers: graph.ownNumbers, foreignNumbers: graph.foreign.mapValues(\.number), recipes: recipes,
      computations: computations, index: index, operands: operands, steps: steps)
  }

  /// Numbers all definitions and returns them by number: those with a slot at the slot's number, the products of
  /// factory beans last.
  private func number() -> [BeanDefinition] {
    var definitions = graph.placed
    if definitions.contains(where: { $0.slot < 0 }) {
      definitions = definitions.filter { $0.slot >= 0 } + definitions.filter { $0.slot < 0 }
    }
    for definition in graph.placed {
      guard let product = definition.product else { continue }
      product.isInfrastructure = definition.isInfrastructure
      definitions.append(product)
    }
    for (number, definition) in definitions.enumerated() { definition.number = Int32(number) }
    return definitions
  }

  /// Marks the definitions that are created asynchronously or depend on one that is.
  private func findAwaiting() {
    for definition in graph.sorted {
      definition.awaits = definition.traits.contains(.awaited)
      definition.forEachOwnBean(in: dependencies) { if $0.awaits { definition.awaits = true } }
    }
  }

  // MARK: orders

  /// Returns the beans to build for a bean, dependencies first, each with the bean that brought it in; nil if each bean
  /// builds its dependencies itself. An order lets each step retain its bean once for every bean that takes it.
  private mutating func order(of root: BeanDefinition) -> [(bean: BeanDefinition, dependent: BeanDefinition?)]? {
    // In a plain environment, startup builds the singletons in an order of its own.
    if graph.isPlain || root.kind == .product { return nil }
    // An asynchronous bean is built outside of any order.
    if root.traits.contains(.awaited) { return nil }
    var order: [(bean: BeanDefinition, dependent: BeanDefinition?)] = []
    var seen: Set<Int32> = [root.slot]
    var stack = [(bean: root, dependent: BeanDefinition?.none, needs: needs(of: root)[...])]
    while let top = stack.last {
      guard let next = top.needs.first else {
        if computesRequirements(top.bean) { return nil }
        if top.bean.kind == .slot { order.append((top.bean, top.dependent)) }
        stack.removeLast()
        continue
      }
      stack[stack.count - 1].needs.removeFirst()
      guard seen.insert(next.slot).inserted else { continue }
      if seen.count > Self.longestOrder { return nil }
      stack.append((next, top.bean, needs(of: next)[...]))
    }
    return order
  }

  /// Whether a required bean has no slot. In that case no argument of the bean is built before the requirement is
  /// evaluated.
  private mutating func computesRequirements(_ definition: BeanDefinition) -> Bool {
    for index in definition.requirements where directPlace(of: dependencies[index], false) == nil { return true }
    return false
  }

  /// Returns the beans of the same environment on which a bean depends, in declaration order of the dependencies.
  private func needs(of definition: BeanDefinition) -> [BeanDefinition] {
    var found: [BeanDefinition] = []
    let graph = graph
    definition.forEachOwnDependency(in: dependencies) { if $0.graph === graph, $0.kind == .slot { found.append($0) } }
    return found
  }

  /// Returns the dependencies that are arguments or property values.
  private func taken(by definition: BeanDefinition) -> ArraySlice<BeanDefinition.Dependency> {
    dependencies[definition.arguments] + dependencies[definition.injected]
  }

  // MARK: operands

  private mutating func layOut(_ definition: BeanDefinition) -> BeanDefinition.Layout {
    let order = order(of: definition)
    let isCounted = order != nil
    var layout = BeanDefinition.Layout()
    if !needs.isEmpty { needs.removeAll(keepingCapacity: true) }
    let start = operands.count
    let computesRequirements = computesRequirements(definition)
    for index in definition.requirements {
      let operand = operand(dependencies[index], false)
      if computesRequirements { operands.append(operand) } else { needs.append(operand) }
    }
    layout.requirements = start..<operands.count
    for index in definition.arguments { append(dependencies[index], isCounted, isNeeded: !computesRequirements) }
    layout.operands = layout.requirements.upperBound..<operands.count
    for index in definition.injected { append(dependencies[index], isCounted, isNeeded: !computesRequirements) }
    layout.properties = layout.operands.upperBound..<operands.count
    if let order {
      let takers = order.map(\.bean) + (definition.kind == .slot ? [] : [definition])
      // The requirements and dependencies of the steps from further out, each once.
      for taker in takers {
        for needed in dependencies[taker.requirements] + taken(by: taker) {
          note(directPlace(of: needed, false), needed, isOrdered: true)
        }
      }
      layout.steps = appendSteps(of: definition, order, takers)
    } else {
      if definition.kind == .slot { steps.append(Step(slot: definition.slot, takers: 1, dependent: -1)) }
      layout.steps = steps.count - (definition.kind == .slot ? 1 : 0)..<steps.count
    }
    for need in needs { operands.append(need) }
    layout.needs = layout.properties.upperBound..<operands.count
    return layout
  }

  /// - Parameters:
  ///   - taken: the dependency of an argument or a property.
  ///   - isCounted: whether a step retains the object for this operand.
  ///   - isNeeded: whether the dependency must exist beforehand if there is no order.
  private mutating func append(_ taken: BeanDefinition.Dependency, _ isCounted: Bool, isNeeded: Bool) {
    let operand = operand(taken, isCounted)
    operands.append(operand)
    if !isCounted, isNeeded { note(operand.place, taken, isOrdered: false) }
  }

  /// Notes a dependency that must exist before the first step.
  ///
  /// - Parameters:
  ///   - place: the place from which the dependency is read.
  ///   - dependency: the dependency.
  ///   - isOrdered: whether beans of the same environment are steps themselves.
  private mutating func note(_ place: Operand.Place?, _ dependency: BeanDefinition.Dependency, isOrdered: Bool) {
    switch place {
    case .outer(let slot):
      if case .value = dependency.source, !input.hasSources { return }
      if !needs.contains(where: { $0.names(slot) }) { needs.append(Operand(.outer(slot), .reference)) }
    case .own(let slot) where !isOrdered && !(slot == 0 && graph.hasSeed):
      needs.append(Operand(.own(slot: slot), .reference))
    case .own, .counted, .computed, nil: break
    }
  }

  private mutating func appendSteps(
    of root: BeanDefinition, _ order: [(bean: BeanDefinition, dependent: BeanDefinition?)], _ takers: [BeanDefinition]
  ) -> Range<Int> {
    var counts: [Int32: UInt32] = [:]
    for taken in takers.flatMap(taken) {
      if case .counted(let slot) = directPlace(of: taken, true) { counts[slot, default: 0] += 1 }
    }
    if root.kind == .slot { counts[root.slot, default: 0] += 1 }
    var positions: [Int32: Int32] = [:]
    for (index, step) in order.enumerated() { positions[step.bean.slot] = Int32(index) }
    let start = steps.count
    for (bean, dependent) in order {
      let position = dependent.flatMap { positions[$0.slot] } ?? -1
      steps.append(Step(slot: bean.slot, takers: counts[bean.slot] ?? 0, dependent: position))
    }
    return start..<steps.count
  }

  /// Returns the place from which the dependency is read; nil if the dependency must be computed.
  private func directPlace(of dependency: BeanDefinition.Dependency, _ isCounted: Bool) -> Operand.Place? {
    switch dependency.source {
    case .value(let value): value.place.map { .outer($0) }
    case .resolved(let source):
      source.operand(for: dependency.parameter, outerSlot).map { isCounted ? counted($0).place : $0.place }
    case .composed, .injection, .products: nil
    }
  }

  private mutating func operand(_ dependency: BeanDefinition.Dependency, _ isCounted: Bool) -> Operand {
    let parameter = dependency.parameter
    switch dependency.source {
    case .resolved(let source):
      let operand = operand(source, for: parameter)
      return isCounted ? counted(operand) : operand
    case .value(let value):
      // Every value has been assigned a place.
      return value.place.map { Operand(.outer($0), parameter.givenReading) } ?? computed(.absent(parameter), .boxed)
    case .composed(let parts, let type):
      return computed(.composed(parts.map { operand($0, false) }, type, parameter), parameter.givenReading)
    case .injection(let inject, let property):
      return computed(.injection(inject, property, parameter), parameter.givenReading)
    case .products(let product): return computed(.products(product.number), .boxed)
    }
  }

  private mutating func operand(_ source: Source<DefinedBean>, for parameter: Parameter) -> Operand {
    if let operand = source.operand(for: parameter, outerSlot) { return operand }
    let (computation, reading) = source.computation(for: parameter, outerSlot)
    return computed(computation, reading)
  }

  private mutating func computed(_ computation: Computation, _ reading: Reading) -> Operand {
    computations.append(computation)
    return Operand(.computed(Int32(computations.count - 1)), reading)
  }

  /// Returns the operand of a bean that a step has retained for its taker. An object that must be converted is read from
  /// the slot, so no step retains it in advance.
  private func counted(_ operand: Operand) -> Operand {
    guard case .own(let slot) = operand.place, operand.reading.isReference else { return operand }
    return Operand(.counted(slot: slot), operand.reading)
  }

  /// Returns the slot of a bean whose environment is no child of a factory; nil for other beans.
  private func outerSlot(of bean: DefinedBean) -> Slot? {
    switch bean {
    case .definition(let definition, _):
      definition.with { $0.graph.isPlain && $0.kind == .slot ? block.slots[$0.slot] : nil }
    case .planned(let bean):
      bean.kind == .slot ? bean.plan.with { input.slots($0) }.map { $0[bean.slot] } : nil
    }
  }

  // MARK: recipes

  private mutating func recipe(
    of definition: BeanDefinition, _ operands: FrozenSlice<Operand>, _ steps: FrozenSlice<Step>
  ) -> Recipe {
    let layout = definition.layout
    let code = code(of: definition)
    let arguments = operands[layout.operands]
    let identity = definition.identity
    let isProcessed = !graph.processors.isEmpty && !definition.isInfrastructure
    var work: Recipe.Work = input.isTraced ? .trace : []
    if input.isObserved { work.insert(.observe) }
    if definition.refusal != nil { work.insert(.refuse) }
    if definition.traits.contains(.awaited) { work.insert(definition.kind == .slot ? .await : .complete) }
    if !layout.requirements.isEmpty || arguments.hasComputed { work.insert(.compute) }
    if !definition.traits.isDisjoint(with: [.aware, .bean]) || !definition.properties.isEmpty || isProcessed
      || !code.postConstructs.isEmpty
    {
      work.insert(.complete)
    }
    let hasForm = definition.isClass && !definition.traits.isDisjoint(with: [.aware, .bean, .disposable])
    let isReleased = !code.isExternallyOwned
    let disposable = hasForm && isReleased ? form(.disposable, definition) : nil
    var ending = Recipe.Ending.nothing
    if input.isTraced || input.isObserved || code.instance != nil || definition.kind == .scoped
      || isReleased
        && (!definition.traits.isDisjoint(with: .released.subtracting(disposable == nil ? [] : .disposable))
          || code.releaseLimit != nil)
    {
      ending = .care
    } else if disposable != nil || isReleased && !code.onDestroys.isEmpty {
      ending = .call
    }
    let isKept = definition.kind == .slot || definition.kind == .scoped
    let hasRelease = !definition.traits.isDisjoint(with: .released) || !code.onDestroys.isEmpty
    if isKept, isReleased, hasRelease, !isSeed(definition) { work.insert(.own) }
    return Recipe(
      function: Unretained(definition.factory), operands: arguments,
      identity: identity.map { UInt(bitPattern: $0) } ?? 0, work: work,
      ending: isSeed(definition) ? .nothing : ending, kind: definition.kind, slot: definition.slot,
      number: definition.number, steps: steps[layout.steps], needs: operands[layout.needs],
      code: Unretained(code), requirements: operands[layout.requirements], properties: operands[layout.properties],
      isProcessed: isProcessed, aware: hasForm ? form(.aware, definition) : nil,
      bean: hasForm ? form(.bean, definition) : nil, disposable: disposable,
      entryNumber: definition.entry, directory: definition.home.with { Unretained($0.directory) },
      traits: isSeed(definition) ? [] : definition.traits, isLazy: definition.spec.isLazy ?? false,
      isSeed: isSeed(definition), awaits: definition.awaits, slotIdentity: definition.slotIdentity)
  }

  private func isSeed(_ definition: BeanDefinition) -> Bool { graph.hasSeed && definition.slot == 0 }

  private func form(_ trait: BeanTraits, _ definition: BeanDefinition) -> ExistentialLayout? {
    guard definition.traits.contains(trait), definition.isClass,
      let identity = definition.identity
    else { return nil }
    return ExistentialLayout.of(trait.protocolType, for: identity)
  }

  private mutating func code(of definition: BeanDefinition) -> BeanCode {
    codes.append(definition.factory)
    let spec = definition.spec
    // Only scopes read the declaration: registered ones, and scope objects of a factory's children.
    let needsDeclaration = definition.kind == .scoped || graph.declarations.hasScope && !isSeed(definition)
    if !needsDeclaration, spec.instance == nil, definition.given.isEmpty, definition.properties.isEmpty,
      spec.postConstructs.isEmpty, spec.onDestroys.isEmpty, spec.releaseLimit == nil, !spec.isExternallyOwned,
      definition.refusal == nil,
      !hasListeners || definition.handlers.isEmpty
    {
      return .none
    }
    let isProduct = definition.isProduct
    let code = BeanCode(
      given: definition.given, properties: definition.properties,
      postConstructs: isProduct ? [] : spec.postConstructs, onDestroys: isProduct ? [] : spec.onDestroys,
      listeners: hasListeners ? definition.handlers : [], releaseLimit: spec.releaseLimit,
      isExternallyOwned: spec.isExternallyOwned, instance: spec.instance,
      declaration: needsDeclaration ? definition.makeDeclaration() : nil,
      refusal: definition.refusal?.value)
    codes.append(code)
    return code
  }

  // MARK: events

  /// Returns the receivers of events published in the graph's environments: beans declared there first, in order of
  /// definition, then those from further out.
  private mutating func receivers() -> [ObjectIdentifier: [EventReceiver]] {
    var found: [ObjectIdentifier: [EventReceiver]] = [:]
    for home in graph.directory.listening {
      let hops = graph.directory.depth - home.depth
      for entry in home.listeners where !graph.directory.hides(home.entries[Int(entry)], hops: hops) {
        let bean = BeanDirectory.Found(directory: home, number: entry, hops: hops)
        guard let located = resolver.locate(bean, from: graph) else { continue }
        for (position, handler) in located.handlers.enumerated() {
          let receiver = EventReceiver(hops: located.hops, number: located.number, handler: position)
          found[ObjectIdentifier(handler.event), default: []].append(receiver)
        }
      }
    }
    return found
  }

  // MARK: lookups

  /// Builds the index of all expected lookups: by class, by declared type, by id, and by the parameters that beans
  /// have.
  private mutating func makeIndex() -> LookupIndex {
    graph.chosen = chooseBeans()
    var seen: Set<ObjectIdentifier> = []
    var types: [(type: ObjectIdentifier, operand: Operand)] = []
    for (type, bean) in graph.chosen {
      let bean = bean.map { graph.directory.decorated($0, as: type) }
      // A bean of a class is read as a protocol by the layout of a parameter.
      if let bean, bean.type != type, TypeRelation.isExistential(type) { continue }
      seen.insert(ObjectIdentifier(type))
      guard let bean, let operand = operand(forLookup: bean) else { continue }
      types.append((ObjectIdentifier(type), operand))
    }
    for parameter in input.parameters where seen.insert(ObjectIdentifier(parameter.wanted)).inserted {
      guard let source = try? resolver.resolve(parameter, id: nil, in: graph) else { continue }
      types.append((ObjectIdentifier(parameter.wanted), operand(source, for: parameter)))
    }
    return LookupIndex(types: types, named: namedOperands())
  }

  /// Finds the bean for each type that is declared here or further out; nil if several match.
  ///
  /// The graph further out has been compiled: its choice is reused if no declaration here can change it.
  private func chooseBeans() -> [(type: Any.Type, bean: BeanDirectory.Found?)] {
    let directory = graph.directory
    var chosen: [(type: Any.Type, bean: BeanDirectory.Found?)] = []
    var seen: Set<ObjectIdentifier> = []
    func choose(_ type: Any.Type) {
      let (bean, rivals) = directory.choose(type, BeanDirectory.Criteria(), resolver.memory)
      let isBean = !Parameter.isWrapper(type) || directory.seed(of: type, resolver.memory) != nil
      chosen.append((type, isBean && rivals.isEmpty ? bean : nil))
    }
    func choose(from home: BeanDirectory) {
      for type in home.types where seen.insert(ObjectIdentifier(type)).inserted { choose(type) }
    }
    guard let outer = graph.parent else {
      for (home, _) in directory.chain { choose(from: home) }
      return chosen
    }
    choose(from: directory)
    for (type, bean) in outer.chosen where seen.insert(ObjectIdentifier(type)).inserted {
      if directory.names.isEmpty, directory.candidates(for: type).isEmpty {
        chosen.append((type, bean?.further))
      } else {
        choose(type)
      }
    }
    return chosen
  }

  /// Whether the index does not contain the bean's id: the bean belongs to a factory's children, many levels further
  /// out.
  private func isFar(_ home: BeanDirectory, _ hops: Int) -> Bool { hops > Self.farthest && home.scopeName != nil }

  /// Finds the operand for each id, aliases included, that is declared here or further out.
  ///
  /// The graph further out has been compiled: its beans are reused for ids that no declaration here takes. Beans of
  /// children far out are left to unindexed lookups: listed at each level, they would take memory quadratic in the
  /// depth.
  private mutating func namedOperands() -> [(type: ObjectIdentifier, id: String, operand: Operand)] {
    let directory = graph.directory
    var named: [(type: ObjectIdentifier, id: String, operand: Operand)] = []
    named.reserveCapacity(directory.names.count)
    let hasDecorators = directory.hasDecorators
    // Graphs further in start from this list.
    let isKept = !graph.children.isEmpty
    var kept: [(id: String, bean: BeanDirectory.Found)] = []
    // Beans of one type are often declared in sequence.
    var (last, superclasses): (Any.Type?, [AnyClass]) = (nil, [])
    // Functions that are called directly, not closures: a closure's writes would run a dynamic exclusivity check each
    // time.
    func add(_ id: String, _ bean: BeanDirectory.Found) {
      if isKept { kept.append((id, bean)) }
      guard let operand = operand(forLookup: bean) else { return }
      let type = bean.type
      if type != last { (last, superclasses) = (type, Array(TypeRelation.classes(of: type).dropFirst())) }
      if hasDecorators { return named += decorated(id, bean, superclasses) }
      named.append((ObjectIdentifier(type), id, operand))
      for type in superclasses { named.append((ObjectIdentifier(type), id, operand)) }
    }
    func addBeans(of home: BeanDirectory, _ hops: Int) {
      let hasPrivateBeans = home.hasPrivateBeans
      for number in home.entries.indices {
        guard let id = home.entries[number].id, !hasPrivateBeans || home.entries[number].privateTo == nil,
          hops == 0 || !directory.isTaken(id, before: hops)
        else { continue }
        add(id, BeanDirectory.Found(directory: home, number: Int32(number), hops: hops))
      }
      for alias in home.aliases where hops == 0 || !directory.isTaken(alias, before: hops) {
        if let bean = try? directory.bean(id: alias) { add(alias, bean) }
      }
    }
    if let outer = graph.parent {
      addBeans(of: directory, 0)
      for (id, bean) in outer.named where directory.names[id] == nil && !isFar(bean.directory, bean.hops + 1) {
        add(id, bean.further)
      }
    } else {
      for (home, hops) in directory.chain where !isFar(home, hops) { addBeans(of: home, hops) }
    }
    graph.named = kept
    return named
  }

  /// Returns the operands for an id with each type of the bean, if decorators wrap the bean behind some of these types.
  private mutating func decorated(
    _ id: String, _ bean: BeanDirectory.Found, _ superclasses: [AnyClass]
  ) -> [(type: ObjectIdentifier, id: String, operand: Operand)] {
    var found: [(type: ObjectIdentifier, id: String, operand: Operand)] = []
    for type in [bean.entry.type] + superclasses {
      let outermost = graph.directory.decorated(bean, as: type)
      guard let operand = operand(forLookup: outermost) else { continue }
      found.append((ObjectIdentifier(type), id, operand))
    }
    return found
  }

  /// Returns the operand for a lookup of a bean by one of its classes, or by its own type: an instance of a class is
  /// read directly, any other value from its box. Returns nil if the bean's scope is not open here.
  private mutating func operand(forLookup bean: BeanDirectory.Found) -> Operand? {
    guard let located = resolver.locate(bean, from: graph) else { return nil }
    let (outer, reading) = (outerSlot(of: located), bean.entry.traits.contains(.object) ? Reading.reference : .boxed)
    return located.place(outer).map { Operand($0, reading) } ?? computed(located.computation(outer), reading)
  }
}

extension BeanDefinition {
  /// The class of the factory's objects if their traits are known. An inherited factory may make a subclass of the
  /// declared class; the traits of its objects are determined at run time.
  fileprivate var identity: ObjectIdentifier? {
    isClass && factory.identity != ObjectIdentifier(type) ? nil : factory.identity
  }

  /// The class of the object in the bean's slot, if startup can determine it: only if the bean's type is a class.
  var slotIdentity: ObjectIdentifier? {
    slot >= 0 && kind == .slot && isClass ? identity : nil
  }
}
