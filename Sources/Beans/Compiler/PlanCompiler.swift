import BeansConfiguration
import BeansReflection

/// Compiles the definitions of a validated graph to a plan: recipes, the order of their steps, and receivers of events.
struct PlanCompiler {
  private let graph: EnvironmentGraph
  private let input: CompilerInput
  private var resolver: DependencyResolver
  private let dependencies: [BeanDefinition.Dependency]
  /// Whether a bean that the graph's environments see receives events.
  private let hasListeners: Bool
  /// Whether a bean that the graph's environments see is created asynchronously.
  private let awaits: Bool
  private var compiler: OperandCompiler
  /// The operands of all recipes, collected before they are frozen.
  private var operands: [Operand] = []
  private var steps: [Step] = []
  /// The operands that must exist before the first step of the recipe being laid out.
  private var needs: [Operand] = []
  /// The users' code of all beans, to which recipes refer. The environment must retain it.
  private(set) var codes: [any AnyObject & Sendable] = []

  /// The usual maximum of steps in an order. A bean that needs more has no order: each bean builds its dependencies
  /// itself.
  private static let longestOrder = 128
  /// The beans that no other bean here needs, in a plan of more beans than a usual order has. Their orders may be
  /// longer, until `stepsLeft` is used up: the orders of all beans together grow with the square of their number.
  private var roots: Set<Int32> = []
  private var stepsLeft = 0
  /// The beans that have no order although they may be steps of another bean's order: they retain their dependencies
  /// themselves, so that no step counts them as takers.
  private var unordered: Set<Int32> = []

  /// - Parameters:
  ///   - graph: the graph to compile. The graphs further out must have been compiled before.
  ///   - input: the input of the compilation.
  ///   - block: the slots of the outermost graph's environment, followed by places for values.
  ///   - resolver: the resolver that has resolved the graph.
  init(_ graph: EnvironmentGraph, _ input: CompilerInput, _ block: SlotBlock, _ resolver: DependencyResolver) {
    self.graph = graph
    self.input = input
    compiler = OperandCompiler(block, input, hasSeed: graph.hasSeed)
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
    if !graph.isPlain { findUnordered(definitions) }
    for definition in definitions { definition.layout = layOut(definition) }
    var lookups = IndexCompiler(graph, resolver)
    let index = lookups.compile(input.parameters, &compiler)
    let processors = graph.processors.map { compiler.operand(.bean($0), for: .of((any BeanPostProcessor).self)) }
    let injections = graph.injections.map { compiler.operand(.bean($0), for: .of(Injection.self)) }
    let templates = zip(graph.declarations.specs, graph.listed).enumerated().compactMap { position, declared in
      let (spec, entry) = declared
      return entry < 0 ? (spec.value.text(graph.scopeName) + graph.active.text(position), spec.location) : nil
    }
    let operands = FrozenArray(operands)
    let steps = FrozenArray(steps)
    var recipes = FrozenArray<Recipe>(capacity: definitions.count)
    for definition in definitions { recipes.append(recipe(of: definition, operands.all, steps.all)) }
    return Plan(
      name: graph.name, opening: graph.declarations.opening, parent: graph.parent?.plan ?? graph.parentPlan,
      home: input.home, directory: graph.directory, configuration: graph.declarations.configuration,
      layout: SlotLayout(slots: Int(graph.slotCount), hasScope: graph.declarations.hasScope), hasSeed: graph.hasSeed,
      childMetadata: graph.declarations.childMetadata, observers: graph.declarations.observers,
      isTraced: input.isTraced, awaits: awaits,
      sorted: graph.sorted.map(\.number),
      precedents: awaits ? DeferredCreations(graph, dependencies).precedents : [:], processors: processors,
      injections: injections,
      receivers: hasListeners ? receivers() : [:], below: graph.belowDirectories, parameters: input.parameters,
      listed: graph.listed, templates: templates,
      ownNumbers: graph.ownNumbers, foreignNumbers: graph.foreign.mapValues(\.number), recipes: recipes,
      computations: compiler.computations, index: index, operands: operands, steps: steps)
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

  private mutating func findUnordered(_ definitions: [BeanDefinition]) {
    let isLarge = definitions.count > Self.longestOrder
    guard awaits || isLarge else { return }
    // No bean has a longer order than usual yet. A root is no step of another order.
    unordered = Set(definitions.filter { order(of: $0) == nil }.map(\.number))
    if isLarge { findRoots(definitions) }
  }

  private mutating func findRoots(_ definitions: [BeanDefinition]) {
    roots = Set(definitions.map(\.number))
    for definition in definitions { for need in needs(of: definition) { roots.remove(need.number) } }
    stepsLeft = 16 * definitions.count
  }

  /// Returns the beans to build for a bean, dependencies first, each with the bean that brought it in; nil if each bean
  /// builds its dependencies itself. An order lets each step retain its bean once for every bean that takes it.
  private mutating func order(of root: BeanDefinition) -> [(bean: BeanDefinition, dependent: BeanDefinition?)]? {
    // In a plain environment, startup builds the singletons in an order of its own.
    if graph.isPlain || root.kind == .product { return nil }
    // An asynchronous bean is built outside of any order.
    if root.traits.contains(.awaited) { return nil }
    let longest = max(Self.longestOrder, roots.contains(root.number) ? stepsLeft : 0)
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
      if seen.count > longest { return nil }
      stack.append((next, top.bean, needs(of: next)[...]))
    }
    if order.count > Self.longestOrder { stepsLeft -= order.count }
    return order
  }

  /// Whether a required bean has no slot. In that case no argument of the bean is built before the requirement is
  /// evaluated.
  private func computesRequirements(_ definition: BeanDefinition) -> Bool {
    definition.requirements.contains { compiler.directPlace(of: dependencies[$0], false) == nil }
  }

  /// Returns the beans of the same environment on which a bean depends, in declaration order of the dependencies. The
  /// seed is none of them: it exists when the environment opens.
  private func needs(of definition: BeanDefinition) -> [BeanDefinition] {
    var found: [BeanDefinition] = []
    let graph = graph
    definition.forEachOwnDependency(in: dependencies) {
      if $0.graph === graph, $0.kind == .slot, !isSeed($0) { found.append($0) }
    }
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
      let operand = compiler.operand(dependencies[index], false)
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
          note(compiler.directPlace(of: needed, false), needed, isOrdered: true)
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
    let operand = compiler.operand(taken, isCounted)
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
    var counts = [Int32: UInt32]()
    for taker in takers where taker === root || !unordered.contains(taker.number) {
      for taken in taken(by: taker) {
        if case .counted(let slot) = compiler.directPlace(of: taken, true) { counts[slot, default: 0] += 1 }
      }
    }
    if root.kind == .slot { counts[root.slot, default: 0] += 1 }
    var positions = [Int32: Int32]()
    for (index, step) in order.enumerated() { positions[step.bean.slot] = Int32(index) }
    let start = steps.count
    for (bean, dependent) in order {
      let position = dependent.flatMap { positions[$0.slot] } ?? -1
      steps.append(Step(slot: bean.slot, takers: counts[bean.slot] ?? 0, dependent: position))
    }
    return start..<steps.count
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
      || !code.postConstructs.isEmpty || !code.works.isEmpty
    {
      work.insert(.complete)
    }
    let hasForm = definition.isClass && !definition.traits.isDisjoint(with: [.aware, .bean, .disposable])
    let isReleased = !code.isExternallyOwned
    let disposable = hasForm && isReleased ? form(.disposable, definition) : nil
    let hasCallbacks = isReleased && !code.onDestroys.isEmpty
    var ending = Recipe.Ending.nothing
    let hasWork = !isSeed(definition) && (definition.traits.contains(.runnable) || !code.works.isEmpty)
    if input.isTraced || input.isObserved || code.instance != nil || definition.kind == .scoped || hasWork
      || isReleased
        && (!definition.traits.isDisjoint(with: .released.subtracting(disposable == nil ? [] : .disposable))
          || code.releaseLimit != nil)
      || hasCallbacks && code.onDestroys.contains(where: \.isAsynchronous)
    {
      ending = .care
    } else if disposable != nil || hasCallbacks {
      ending = .call
    }
    let isKept = definition.kind == .slot || definition.kind == .scoped
    let hasRelease = !definition.traits.isDisjoint(with: .released) || !code.onDestroys.isEmpty
    if isKept, isReleased && hasRelease || hasWork, !isSeed(definition) { work.insert(.own) }
    return Recipe(
      function: Unretained(definition.factory), operands: arguments,
      identity: identity ?? Recipe.unknownClass, work: work,
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
      spec.options == nil || spec.hasNoCode, definition.refusal == nil,
      !hasListeners || definition.handlers.isEmpty
    {
      return .none
    }
    let isProduct = definition.isProduct
    let code = BeanCode(
      given: definition.given, properties: definition.properties,
      postConstructs: isProduct ? [] : spec.postConstructs, onDestroys: isProduct ? [] : spec.onDestroys,
      listeners: hasListeners ? definition.handlers : [], works: isProduct ? [] : spec.works,
      restarts: spec.restarts, releaseLimit: spec.releaseLimit,
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
    var found = [ObjectIdentifier: [EventReceiver]]()
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
