import BeansConfiguration
import BeansReflection

/// Compiles the beans of a validated graph to a plan: recipes, the order of their steps, and receivers of events.
struct PlanCompiler {
  private let graph: EnvironmentGraph
  private var resolver: DependencyResolver
  private let dependencies: [PlacedBean.Dependency]
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
  /// The beans of the same environment on which the beans depend; each bean has a range of them.
  private var needed: [PlacedBean] = []

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
  ///   - block: the slots of the outermost graph's environment, followed by places for values.
  ///   - resolver: the resolver that has resolved the graph.
  init(_ graph: EnvironmentGraph, _ block: SlotBlock, _ resolver: DependencyResolver) {
    self.graph = graph
    compiler = OperandCompiler(block.slots, hasSeed: graph.hasSeed)
    self.resolver = resolver
    dependencies = resolver.dependencies
    hasListeners = graph.directory.hasListeners
    awaits = graph.directory.visibleTraits.contains(.awaited)
  }

  mutating func compile() -> Plan {
    let beans = number()
    operands.reserveCapacity(4 * beans.count)
    steps.reserveCapacity(beans.count)
    if awaits { findAwaiting() }
    if !graph.isPlain {
      findNeeds(of: beans)
      findUnordered(beans)
    }
    for bean in beans { bean.layout = layOut(bean) }
    var lookups = IndexCompiler(graph, resolver)
    let index = lookups.compile(&compiler)
    let processors = graph.processors.map { compiler.operand(.bean($0), for: .of((any BeanPostProcessor).self)) }
    let injections = graph.injections.map { compiler.operand(.bean($0), for: .of((any InjectionProvider).self)) }
    let listed = graph.declarations.specs.map { graph.directory.number(declared: $0.number) ?? -1 }
    let templates = zip(graph.declarations.specs, listed).compactMap { spec, bean in
      bean < 0 ? (spec.value.text(graph.scopeName) + graph.active.text(of: spec), spec.location) : nil
    }
    let operands = FrozenArray(operands)
    let steps = FrozenArray(steps)
    var recipes = FrozenArray<Recipe>(capacity: beans.count)
    for bean in beans { recipes.append(recipe(of: bean, operands.all, steps.all)) }
    return Plan(
      directory: graph.directory, opening: graph.declarations.opening,
      parent: graph.parent?.plan ?? graph.parentPlan, home: graph.input.home,
      configuration: graph.declarations.configuration, layout: SlotLayout(slots: Int(graph.slotCount)),
      childMetadata: graph.declarations.childMetadata, observers: graph.declarations.observers,
      isTraced: graph.input.isTraced,
      order: Plan.Order(
        sorted: graph.sorted.map(\.number),
        precedents: awaits ? DeferredCreations(graph, dependencies).precedents : [:]),
      services: Plan.Services(
        processors: processors, injections: injections, receivers: hasListeners ? receivers() : [:]),
      report: Plan.Report(listed: listed, templates: templates),
      numbers: Plan.Numbers(own: graph.ownNumbers, foreign: graph.foreign.mapValues(\.number)),
      below: graph.belowDirectories, parameters: resolver.parameters, recipes: recipes,
      computations: compiler.computations, index: index, operands: operands, steps: steps)
  }

  /// Numbers all beans and returns them by number: those with a slot at the slot's number, the products of
  /// factory beans last.
  private func number() -> [PlacedBean] {
    var beans = graph.placed
    if beans.contains(where: { $0.slot < 0 }) {
      beans = beans.filter { $0.slot >= 0 } + beans.filter { $0.slot < 0 }
    }
    for bean in graph.placed {
      guard let product = bean.product else { continue }
      product.isInfrastructure = bean.isInfrastructure
      beans.append(product)
    }
    for (number, bean) in beans.enumerated() { bean.number = Int32(number) }
    return beans
  }

  /// Marks the beans that are created asynchronously or depend on one that is.
  private func findAwaiting() {
    for bean in graph.sorted {
      bean.awaits = bean.definition.traits.contains(.awaited)
      bean.forEachOwnBean(in: dependencies) { if $0.awaits { bean.awaits = true } }
    }
  }

  // MARK: orders

  private mutating func findUnordered(_ beans: [PlacedBean]) {
    let isLarge = beans.count > Self.longestOrder
    guard awaits || isLarge else { return }
    // No bean has a longer order than usual yet. A root is no step of another order.
    unordered = Set(beans.filter { order(of: $0) == nil }.map(\.number))
    guard isLarge else { return }
    roots = Set(beans.map(\.number))
    for need in needed { roots.remove(need.number) }
    stepsLeft = 16 * beans.count
  }

  /// Returns the beans to build for a bean, dependencies first, each with the bean that brought it in; nil if each bean
  /// builds its dependencies itself. An order lets each step retain its bean once for every bean that takes it.
  private mutating func order(of root: PlacedBean) -> [(bean: PlacedBean, dependent: PlacedBean?)]? {
    // In a plain environment, startup builds the singletons in an order of its own.
    if graph.isPlain || root.kind == .product { return nil }
    // An asynchronous bean is built outside of any order.
    if root.definition.traits.contains(.awaited) { return nil }
    let longest = max(Self.longestOrder, roots.contains(root.number) ? stepsLeft : 0)
    var order: [(bean: PlacedBean, dependent: PlacedBean?)] = []
    var seen: Set<Int32> = [root.slot]
    var stack = [(bean: root, dependent: PlacedBean?.none, next: root.needs.lowerBound)]
    while let top = stack.last {
      if top.next == top.bean.needs.upperBound {
        if computesRequirements(top.bean) { return nil }
        if top.bean.kind == .slot { order.append((top.bean, top.dependent)) }
        stack.removeLast()
        continue
      }
      stack[stack.count - 1].next += 1
      let need = needed[top.next]
      guard seen.insert(need.slot).inserted else { continue }
      if seen.count > longest { return nil }
      stack.append((need, top.bean, need.needs.lowerBound))
    }
    if order.count > Self.longestOrder { stepsLeft -= order.count }
    return order
  }

  /// Whether a required bean has no slot. In that case no argument of the bean is built before the requirement is
  /// evaluated.
  private func computesRequirements(_ bean: PlacedBean) -> Bool {
    bean.requirements.contains { compiler.direct(dependencies[$0], false) == nil }
  }

  /// Finds the beans of the same environment on which each bean depends, in declaration order of the dependencies. The
  /// seed is none of them: it exists when the environment opens.
  private mutating func findNeeds(of beans: [PlacedBean]) {
    let graph = graph
    var needed: [PlacedBean] = []
    for bean in beans {
      let first = needed.count
      bean.forEachOwnDependency(in: dependencies) {
        if $0.graph === graph, $0.kind == .slot, !$0.isSeed { needed.append($0) }
      }
      bean.needs = first..<needed.count
    }
    self.needed = needed
  }

  /// Returns the dependencies that are arguments or property values.
  private func taken(by bean: PlacedBean) -> ArraySlice<PlacedBean.Dependency> {
    dependencies[bean.arguments] + dependencies[bean.injected]
  }

  // MARK: operands

  private mutating func layOut(_ bean: PlacedBean) -> PlacedBean.Layout {
    let order = order(of: bean)
    let isCounted = order != nil
    var layout = PlacedBean.Layout()
    if !needs.isEmpty { needs.removeAll(keepingCapacity: true) }
    let start = operands.count
    let computesRequirements = computesRequirements(bean)
    for index in bean.requirements {
      let operand = compiler.operand(dependencies[index], false)
      if computesRequirements { operands.append(operand) } else { needs.append(operand) }
    }
    layout.requirements = start..<operands.count
    for index in bean.arguments { append(dependencies[index], isCounted, isNeeded: !computesRequirements) }
    layout.operands = layout.requirements.upperBound..<operands.count
    for index in bean.injected { append(dependencies[index], isCounted, isNeeded: !computesRequirements) }
    layout.properties = layout.operands.upperBound..<operands.count
    if let order {
      let takers = order.map(\.bean) + (bean.kind == .slot ? [] : [bean])
      // The requirements and dependencies of the steps from further out, each once.
      for taker in takers {
        for needed in dependencies[taker.requirements] + taken(by: taker) {
          note(compiler.direct(needed, false)?.place, needed, isOrdered: true)
        }
      }
      layout.steps = appendSteps(of: bean, order, takers)
    } else {
      let first = steps.count
      if bean.kind == .slot { steps.append(Step(slot: bean.slot, takers: 1, dependent: -1)) }
      layout.steps = first..<steps.count
    }
    for need in needs { operands.append(need) }
    layout.needs = layout.properties.upperBound..<operands.count
    return layout
  }

  /// - Parameters:
  ///   - taken: the dependency of an argument or a property.
  ///   - isCounted: whether a step retains the object for this operand.
  ///   - isNeeded: whether the dependency must exist beforehand if there is no order.
  private mutating func append(_ taken: PlacedBean.Dependency, _ isCounted: Bool, isNeeded: Bool) {
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
  private mutating func note(_ place: Operand.Place?, _ dependency: PlacedBean.Dependency, isOrdered: Bool) {
    switch place {
    case .outer(let slot):
      // Other values are bound before any bean is built.
      if case .value(let value) = dependency.source, value.object != nil { return }
      if !needs.contains(where: { $0.names(slot) }) { needs.append(Operand(.outer(slot), .reference)) }
    case .own(let slot) where !isOrdered && !(slot == 0 && graph.hasSeed):
      needs.append(Operand(.own(slot: slot), .reference))
    case .own, .counted, .computed, nil: break
    }
  }

  private mutating func appendSteps(
    of root: PlacedBean, _ order: [(bean: PlacedBean, dependent: PlacedBean?)], _ takers: [PlacedBean]
  ) -> Range<Int> {
    var counts = [Int32: UInt32]()
    for taker in takers where taker === root || !unordered.contains(taker.number) {
      for taken in taken(by: taker) {
        if case .counted(let slot) = compiler.direct(taken, true)?.place { counts[slot, default: 0] += 1 }
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

  private func recipe(
    of bean: PlacedBean, _ operands: FrozenSlice<Operand>, _ steps: FrozenSlice<Step>
  ) -> Recipe {
    let (definition, layout, code) = (bean.definition, bean.layout, code(of: bean))
    let traits = definition.traits
    let arguments = operands[layout.operands]
    let isProcessed = !graph.processors.isEmpty && !bean.isInfrastructure
    let (isTraced, isObserved) = (graph.input.isTraced, graph.input.overrides != nil)
    var work: Recipe.Work = if isTraced { .trace } else { [] }
    if isObserved { work.insert(.observe) }
    if bean.refusal != nil { work.insert(.refuse) }
    if traits.contains(.awaited) { work.insert(bean.kind == .slot ? .await : .complete) }
    let hasComputed = self.operands[layout.operands].contains { if case .computed = $0.place { true } else { false } }
    if !layout.requirements.isEmpty || hasComputed { work.insert(.compute) }
    if !traits.isDisjoint(with: [.aware, .bean]) || !bean.properties.isEmpty || isProcessed
      || !code.options.postConstructs.isEmpty || !code.options.works.isEmpty
    {
      work.insert(.complete)
    }
    let hasForm = definition.isClass && !traits.isDisjoint(with: [.aware, .bean, .disposable])
    let isReleased = !code.options.isExternallyOwned
    let disposable: ExistentialLayout? = if hasForm && isReleased { form(.disposable, bean) } else { nil }
    let hasCallbacks = isReleased && !code.options.onDestroys.isEmpty
    var ending = Recipe.Ending.nothing
    let hasWork = !bean.isSeed && (traits.contains(.runnable) || !code.options.works.isEmpty)
    if isTraced || isObserved || code.instance != nil || bean.kind == .scoped || hasWork
      || isReleased
        && (!traits.isDisjoint(with: .released.subtracting(disposable == nil ? [] : .disposable))
          || code.options.releaseLimit != nil)
      || hasCallbacks && code.options.onDestroys.contains(where: \.isAsynchronous)
    {
      ending = .care
    } else if disposable != nil || hasCallbacks {
      ending = .call
    }
    let isKept = bean.kind == .slot || bean.kind == .scoped
    let hasRelease = !traits.isDisjoint(with: .released) || !code.options.onDestroys.isEmpty
    if isKept, isReleased && hasRelease || hasWork, !bean.isSeed { work.insert(.own) }
    return Recipe(
      function: definition.factory, operands: arguments, identity: bean.identity ?? Recipe.unknownClass, work: work,
      ending: bean.isSeed ? .nothing : ending, kind: bean.kind, slot: bean.slot, number: bean.number,
      steps: steps[layout.steps], needs: operands[layout.needs], code: Unretained(code),
      requirements: operands[layout.requirements], properties: operands[layout.properties], isProcessed: isProcessed,
      aware: hasForm ? form(.aware, bean) : nil, bean: hasForm ? form(.bean, bean) : nil, disposable: disposable,
      node: Unretained(definition), traits: bean.isSeed ? [] : traits, isLazy: definition.isLazy, isSeed: bean.isSeed,
      awaits: bean.awaits, slotIdentity: bean.slotIdentity)
  }

  private func form(_ trait: BeanTraits, _ bean: PlacedBean) -> ExistentialLayout? {
    guard bean.definition.traits.contains(trait), let identity = bean.identity else { return nil }
    return ExistentialLayout.of(trait.protocolType, for: identity)
  }

  private func code(of bean: PlacedBean) -> BeanCode {
    // Only scopes read the declaration: registered ones, and scope objects of a factory's children.
    let needsDeclaration = bean.kind == .scoped || graph.declarations.hasScope && !bean.isSeed
    let listeners: [EventHandler] = if hasListeners && bean.kind != .product { bean.definition.handlers } else { [] }
    let given = bean.binding?.given ?? []
    let hasNoCode = bean.definition.spec.with { $0.instance == nil && ($0.options == nil || $0.hasNoCode) }
    if hasNoCode, !needsDeclaration, given.isEmpty, bean.properties.isEmpty, bean.refusal == nil, listeners.isEmpty {
      return .none
    }
    let spec = bean.spec
    return graph.declared.keep(
      BeanCode(
        given: given, properties: bean.properties, listeners: listeners,
        options: spec.options?.value ?? BeanSpec.Options(), instance: spec.instance,
        declaration: needsDeclaration ? bean.declaration : nil, refusal: bean.refusal?.value))
  }

  // MARK: events

  /// Returns the receivers of events published in the graph's environments: beans declared there first, in order of
  /// definition, then those from further out.
  private mutating func receivers() -> [ObjectIdentifier: [EventReceiver]] {
    var found = [ObjectIdentifier: [EventReceiver]]()
    for (home, hops) in graph.directory.chain {
      for number in home.listeners where !graph.directory.hides(home.beans[Int(number)], hops: hops) {
        let bean = BeanDirectory.Found(directory: home, number: number, hops: hops)
        guard let located = resolver.locate(bean, from: graph), !located.isRefused else { continue }
        let place = compiler.located(located)
        for (position, handler) in located.definition.handlers.enumerated() {
          let receiver = EventReceiver(hops: place.hops, number: place.number, handler: position)
          found[ObjectIdentifier(handler.event), default: []].append(receiver)
        }
      }
    }
    return found
  }
}

extension PlacedBean {
  /// The class of the factory's objects if their traits are known. An inherited factory may make a subclass of the
  /// declared class; the traits of its objects are determined at run time.
  fileprivate var identity: ObjectIdentifier? {
    let identity = definition.factory.with { $0.identity }
    return if definition.isClass && identity != ObjectIdentifier(definition.type) { nil } else { identity }
  }

  /// The class of the object in the bean's slot, if startup can determine it: only if the bean's type is a class.
  var slotIdentity: ObjectIdentifier? { if slot >= 0 && kind == .slot && definition.isClass { identity } else { nil } }

  /// The declaration that scopes receive.
  fileprivate var declaration: BeanDeclaration {
    var merged = spec.value
    merged.type = definition.type
    if definition.maker != nil, merged.options != nil { merged.rare.onDestroys = [] }
    return BeanDeclaration(merged)
  }
}
