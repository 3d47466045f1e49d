import BeansConfiguration
import BeansReflection

/// Turns the drafts of a validated graph into a plan: operands, recipes and the index of lookups.
struct PlanCompiler {
  private let graph: EnvironmentGraph
  private let input: GraphCompiler.Input
  private let block: SlotBlock
  private var resolver: DependencyResolver
  private var layouts = LayoutTable()
  private var computations: [Computation] = []
  /// What recipes refer to, gathered before it is frozen.
  private var operands: [Operand] = []
  private var steps: [Step] = []
  private var directories: [BeanDirectory] = []
  /// The user's code of all beans; to be kept by the environment.
  private(set) var codes: [BeanCode] = []

  /// Where a recipe's parts stand in the arrays.
  private struct Layout {
    var operands = 0..<0
    var requirements = 0..<0
    var properties = 0..<0
    var needs = 0..<0
    var steps = 0..<0
  }

  /// Orders of more steps than this are not written down: their beans build what they need one by one.
  private static let longestOrder = 128

  /// - Parameters:
  ///   - graph: what is compiled; those further out have been.
  ///   - input: what the compilation began with.
  ///   - block: the slots of the outermost graph's environment, with places for values behind them.
  ///   - resolver: what has resolved the graph.
  init(_ graph: EnvironmentGraph, _ input: GraphCompiler.Input, _ block: SlotBlock, _ resolver: DependencyResolver) {
    self.graph = graph
    self.input = input
    self.block = block
    self.resolver = resolver
  }

  private var isPlain: Bool { graph.scopeName == nil }

  mutating func compile() -> Plan {
    number()
    let drafts = recipes
    let orders = drafts.map { order(of: $0) }
    let laidOut = zip(drafts, orders).map { layOut($0, $1) }
    let index = makeIndex()
    var parts = Plan.Parts(
      name: graph.name, scopeName: graph.scopeName, parent: graph.parent?.plan ?? graph.parentPlan,
      directory: graph.directory, configuration: graph.declarations.configuration, hasSeed: graph.hasSeed,
      isTraced: input.isTraced,
      slotCount: Int(graph.slotCount), hasScope: graph.declarations.hasScope)
    parts.sorted = graph.sorted.map(\.number)
    parts.processors = graph.processors.map { operand(Parameter.of((any BeanPostProcessor).self), on: $0) }
    parts.injections = graph.injections.map { operand(.injection, on: $0) }
    parts.below = graph.below.map(\.directory)
    parts.summaries = graph.declarations.definitions.map { summary($0.spec, $0.declaration.number) }
    parts.parameters = input.parameters
    for (key, draft) in graph.entries { parts.numbers[key] = draft.number }
    let storage = Plan.Storage(
      operands: FrozenArray(operands), steps: FrozenArray(steps), layouts: layouts.all, directories: directories)
    let hasProcessors = !graph.processors.isEmpty
    let recipes = zip(drafts, laidOut).map { recipe(of: $0, $1, storage, hasProcessors) }
    parts.computations = computations
    return Plan(parts, recipes: recipes, index: index, storage: storage)
  }

  /// Those with a slot stand at the slot's number, the products of factory beans last.
  private func number() {
    var next = graph.slotCount
    for draft in graph.drafts where draft.slot < 0 {
      draft.number = next
      next += 1
    }
    for draft in graph.drafts {
      if draft.slot >= 0 { draft.number = draft.slot }
      guard let product = draft.product else { continue }
      product.number = next
      product.isInfrastructure = draft.isInfrastructure
      next += 1
    }
  }

  private var recipes: [RecipeDraft] {
    (graph.drafts + graph.drafts.compactMap(\.product)).sorted { $0.number < $1.number }
  }

  // MARK: orders

  /// What is built for one bean.
  private struct Order {
    /// Whether all of it is written down, so that counts can be added for all who take a bean.
    var isWhole = false
    /// Dependencies first.
    var drafts: [RecipeDraft] = []
    /// By slot: whose need brought it in.
    var dependents: [Int32: Int32] = [:]
  }

  private func order(of root: RecipeDraft) -> Order {
    let hasStep = root.kind == .slot
    // The singletons of a plain environment have an order of their own.
    if isPlain || root.kind == .product { return Order(drafts: hasStep ? [root] : []) }
    var order = Order(isWhole: true)
    var seen: Set<Int32> = [root.slot]
    var stack = [(draft: root, needs: needs(of: root)[...])]
    while let top = stack.last {
      guard let next = top.needs.first else {
        if top.draft.kind == .slot { order.drafts.append(top.draft) }
        stack.removeLast()
        continue
      }
      stack[stack.count - 1].needs.removeFirst()
      guard seen.insert(next.slot).inserted else { continue }
      if seen.count > Self.longestOrder { return Order(drafts: hasStep ? [root] : []) }
      order.dependents[next.slot] = top.draft.slot
      stack.append((next, needs(of: next)[...]))
    }
    return order
  }

  /// The beans of the same environment that a bean needs, in the order in which it names them.
  private func needs(of draft: RecipeDraft) -> [RecipeDraft] {
    var found: [RecipeDraft] = []
    draft.forEachOwnDependency { if $0.graph === graph, $0.kind == .slot { found.append($0) } }
    return found
  }

  // MARK: operands

  private mutating func layOut(_ draft: RecipeDraft, _ order: Order) -> Layout {
    var layout = Layout()
    let isCounted = order.isWhole
    var needs: [Operand] = []
    var requirements: [Operand] = []
    for binding in draft.requirements {
      let operand = operand(RecipeDraft.Dependency(parameter: .requirement(Any.self), binding: binding), false)
      switch operand.place {
      case .own, .outer: needs.append(operand)
      case .counted, .computed: requirements.append(operand)
      }
    }
    layout.requirements = append(requirements)
    layout.operands = append(draft.arguments.map { operand($0, isCounted) })
    layout.properties = append(
      draft.properties.compactMap {
        if case .dependency(let dependency) = $0.source { operand(dependency, isCounted) } else { nil }
      })
    // What the steps take from further out, each once.
    for step in order.drafts + (draft.kind == .slot ? [] : [draft]) {
      step.forEachTaken { dependency in
        switch directPlace(of: dependency, false) {
        case .outer(let slot):
          if isValue(dependency), !input.hasSources { return }
          if !needs.contains(where: { $0.names(slot) }) { needs.append(Operand(.outer(slot), .reference)) }
        case .own(let slot) where !order.isWhole && !(slot == 0 && graph.hasSeed):
          needs.append(Operand(.own(slot: slot), .reference))
        case .own, .counted, .computed, nil: break
        }
      }
    }
    layout.needs = append(needs)
    layout.steps = appendSteps(of: draft, order)
    return layout
  }

  private func isValue(_ dependency: RecipeDraft.Dependency) -> Bool {
    if case .value = dependency.binding { true } else { false }
  }

  private mutating func append(_ some: [Operand]) -> Range<Int> {
    operands.append(contentsOf: some)
    return operands.count - some.count..<operands.count
  }

  private mutating func appendSteps(of root: RecipeDraft, _ order: Order) -> Range<Int> {
    var takers: [Int32: UInt32] = [:]
    if order.isWhole {
      for draft in order.drafts + (root.kind == .slot ? [] : [root]) {
        draft.forEachTaken {
          if case .counted(let slot) = directPlace(of: $0, true) { takers[slot, default: 0] += 1 }
        }
      }
    }
    if root.kind == .slot { takers[root.slot, default: 0] += 1 }
    var positions: [Int32: Int32] = [:]
    for (index, draft) in order.drafts.enumerated() { positions[draft.slot] = Int32(index) }
    let start = steps.count
    for draft in order.drafts {
      let dependent = order.dependents[draft.slot].flatMap { positions[$0] } ?? -1
      steps.append(Step(slot: draft.slot, takers: takers[draft.slot] ?? 0, dependent: dependent))
    }
    return start..<steps.count
  }

  /// The slot that a dependency takes a reference from as it is; nil for what has to be computed.
  private mutating func directPlace(of dependency: RecipeDraft.Dependency, _ isCounted: Bool) -> Operand.Place? {
    switch dependency.binding {
    case .value(let value): return value.place.map { .outer($0) }
    case .bean(let target):
      let (type, identity) = kind(of: target)
      guard let reading = Reading(dependency.parameter, of: type, identity, &layouts) else { return nil }
      return slot(of: target, isCounted && reading.isReference)
    default: return nil
    }
  }

  private mutating func operand(_ dependency: RecipeDraft.Dependency, _ isCounted: Bool) -> Operand {
    let parameter = dependency.parameter
    switch dependency.binding {
    case .bean(let target): return operand(parameter, on: target, isCounted)
    case .all(let targets):
      let found = targets.map { plainOperand($0) }
      return computed(.all(found, parameter), .boxed)
    case .computed(let computation, let reading): return computed(computation, reading)
    case .value(let value):
      // Every value has been given a place.
      return value.place.map { Operand(.outer($0), parameter.givenReading) } ?? computed(.absent(parameter), .boxed)
    case .composed(let parts, let type):
      return computed(.composed(parts.map { operand($0, false) }, type, parameter), parameter.givenReading)
    case .injection(let inject, let property):
      return computed(.injection(inject, property, parameter), parameter.givenReading)
    case .products(let product): return computed(.products(product.number), .boxed)
    }
  }

  private mutating func computed(_ computation: Computation, _ reading: Reading) -> Operand {
    computations.append(computation)
    return Operand(.computed(Int32(computations.count - 1)), reading)
  }

  private mutating func operand(_ parameter: Parameter, on target: RecipeDraft.Target) -> Operand {
    operand(parameter, on: target, false)
  }

  private mutating func operand(
    _ parameter: Parameter, on target: RecipeDraft.Target, _ isCounted: Bool
  ) -> Operand {
    let (type, identity) = kind(of: target)
    if let reading = Reading(parameter, of: type, identity, &layouts) {
      // What is no reference is read from the slot by whoever takes it.
      return Operand(place(of: target, isCounted && reading.isReference), reading)
    }
    return computed(.converted(plainOperand(target), parameter), .boxed)
  }

  /// The bean as it stands in its slot.
  private mutating func plainOperand(_ target: RecipeDraft.Target) -> Operand {
    Operand(place(of: target, false), .reference)
  }

  private func kind(of target: RecipeDraft.Target) -> (type: Any.Type, identity: ObjectIdentifier?) {
    switch target {
    case .draft(let reference, _): (reference.draft.definition.type, reference.draft.slotIdentity)
    case .compiled(let plan, let number, _):
      (plan.recipe(number).value.label.type, plan.recipe(number).value.slotIdentity)
    }
  }

  /// The slot of a bean that one of this environment's operands can name; nil where it has to be computed.
  private func slot(of target: RecipeDraft.Target, _ isCounted: Bool) -> Operand.Place? {
    switch target {
    case .draft(let reference, let hops):
      let draft = reference.draft
      guard case .slot = draft.kind else { return nil }
      if draft.graph.scopeName == nil { return .outer(block.slots[draft.slot]) }
      if hops > 0 { return nil }
      return isCounted ? .counted(slot: draft.slot) : .own(slot: draft.slot)
    case .compiled(let plan, let number, _):
      guard case .slot = plan.recipe(number).value.kind else { return nil }
      return input.slots(plan).map { .outer($0[plan.recipe(number).value.slot]) }
    }
  }

  private mutating func place(of target: RecipeDraft.Target, _ isCounted: Bool) -> Operand.Place {
    if let slot = slot(of: target, isCounted) { return slot }
    switch target {
    case .draft(let reference, let hops):
      let draft = reference.draft
      switch draft.kind {
      case .slot: return computed(.outer(hops: Int32(hops), slot: draft.slot), .reference).place
      case .scoped: return computed(.scoped(draft.number, hops: Int32(hops)), .reference).place
      case .prototype, .product: return computed(.prototype(draft.number), .reference).place
      }
    case .compiled(let plan, let number, let hops):
      let recipe = plan.recipe(number)
      if case .scoped = recipe.value.kind {
        return computed(.scoped(number, hops: Int32(hops)), .reference).place
      }
      return computed(.outer(hops: Int32(hops), slot: recipe.value.slot), .reference).place
    }
  }

  // MARK: recipes

  private mutating func recipe(
    of draft: RecipeDraft, _ layout: Layout, _ storage: borrowing Plan.Storage, _ hasProcessors: Bool
  ) -> Recipe {
    let definition = draft.definition
    let code = code(of: draft)
    let operands = storage.operands.all
    let arguments = operands[layout.operands]
    let directory = definition.directory()
    let identity = definition.factory.identity
    let isProcessed = hasProcessors && !draft.isInfrastructure
    var work: Recipe.Work = input.isTraced ? .trace : []
    if draft.inactive != nil { work.insert(.refuse) }
    if !layout.requirements.isEmpty || arguments.hasComputed { work.insert(.compute) }
    if !definition.traits.isDisjoint(with: [.aware, .bean]) || !draft.properties.isEmpty || isProcessed
      || !code.postConstructs.isEmpty
    {
      work.insert(.complete)
    }
    let disposable = form(.disposable, draft)
    var ending = Recipe.Ending.nothing
    if input.isTraced || code.instance != nil || definition.traits.contains(.asyncDisposable)
      || definition.traits.contains(.disposable) && disposable == nil || draft.kind == .scoped
    {
      ending = .care
    } else if disposable != nil || !code.onDestroys.isEmpty {
      ending = .call
    }
    return Recipe(
      code: Unretained(code), operands: arguments, identity: identity.map { UInt(bitPattern: $0) } ?? 0, work: work,
      ending: isSeed(draft) ? .nothing : ending, kind: draft.kind, slot: draft.slot, number: draft.number,
      steps: storage.steps.all[layout.steps], needs: operands[layout.needs],
      completion: Recipe.Completion(
        requirements: operands[layout.requirements], properties: operands[layout.properties], isProcessed: isProcessed,
        aware: form(.aware, draft), bean: form(.bean, draft),
        disposable: disposable),
      entry: definition.number, directory: Unretained(directory), label: definition.labelled,
      traits: isSeed(draft) ? [] : definition.traits, isLazy: definition.spec.isLazy ?? false,
      isSeed: isSeed(draft), slotIdentity: draft.slotIdentity, inactive: draft.inactive)
  }

  private func isSeed(_ draft: RecipeDraft) -> Bool { graph.hasSeed && draft.slot == 0 }

  private mutating func form(_ trait: BeanTraits, _ draft: RecipeDraft) -> ExistentialLayout? {
    guard draft.definition.traits.contains(trait), draft.definition.isClass,
      let identity = draft.definition.factory.identity
    else { return nil }
    return ExistentialLayout(trait.protocolType, for: identity)
  }

  private mutating func code(of draft: RecipeDraft) -> BeanCode {
    let definition = draft.definition
    let properties = draft.properties.map { property in
      let source: BeanCode.Property.Source =
        switch property.source {
        case .dependency: .operand
        case .named(let id, let parameter, let point): .named(id, parameter, point: point)
        }
      return BeanCode.Property(source: source, set: property.set)
    }
    let isProduct = definition.isProduct
    let code = BeanCode(
      definition.factory, given: definition.properties, properties: properties,
      postConstructs: isProduct ? [] : definition.spec.postConstructs,
      onDestroys: isProduct ? [] : definition.spec.onDestroys, instance: definition.spec.instance,
      declaration: needsDeclaration(draft) ? definition.declaration : nil)
    codes.append(code)
    return code
  }

  /// Only scopes ask for it: registered ones, and scope objects of a factory's children.
  private func needsDeclaration(_ draft: RecipeDraft) -> Bool {
    draft.kind == .scoped || graph.declarations.hasScope && !isSeed(draft)
  }

  private func summary(_ spec: BeanSpec, _ number: Int) -> Plan.Summary {
    let entry = graph.directory.declared[number]
    let definition = entry.map { graph.definitions[Int($0)] }
    guard let definition else { return Plan.Summary(spec, scopeName: graph.scopeName) }
    return Plan.Summary(
      definition.spec, type: definition.type, maker: definition.maker?.type, scopeName: definition.lifetime.name)
  }

  // MARK: lookups

  /// Everything that a lookup can ask for by a class, by the declared type, by an id, or as something that beans ask for.
  private mutating func makeIndex() -> LookupIndex {
    var seen: Set<ObjectIdentifier> = []
    var types: [(type: ObjectIdentifier, operand: Operand)] = []
    for (directory, _) in graph.directory.chain {
      for type in directory.types where seen.insert(ObjectIdentifier(type)).inserted {
        guard !Parameter.isWrapper(type) || directory.seed(of: type) != nil,
          let bean = try? graph.directory.select(type, { $0.candidates(for: type) }),
          let target = resolver.target(for: bean, from: graph)
        else { continue }
        types.append((ObjectIdentifier(type), operand(forLookup: type, bean, target)))
      }
    }
    for parameter in input.parameters where seen.insert(ObjectIdentifier(parameter.wanted)).inserted {
      guard let binding = try? resolver.resolve(parameter, id: nil, in: graph) else { continue }
      types.append(
        (
          ObjectIdentifier(parameter.wanted),
          operand(RecipeDraft.Dependency(parameter: parameter, binding: binding), false)
        ))
    }
    return LookupIndex(types: types, named: namedOperands())
  }

  private mutating func namedOperands() -> [(type: ObjectIdentifier, id: String, operand: Operand)] {
    var named: [(type: ObjectIdentifier, id: String, operand: Operand)] = []
    var seen: Set<String> = []
    for (directory, _) in graph.directory.chain {
      for id in directory.names.keys where seen.insert(id).inserted {
        guard let bean = try? graph.directory.bean(id: id), let target = resolver.target(for: bean, from: graph) else {
          continue
        }
        let type = bean.entry.type
        let classes = TypeRelation.classes(of: type)
        for type in classes.isEmpty ? [type] : classes.map({ $0 as Any.Type }) {
          named.append((ObjectIdentifier(type), id, operand(forLookup: type, bean, target)))
        }
      }
    }
    return named
  }

  /// A class is read as it stands, every other type in its box.
  private mutating func operand(
    forLookup type: Any.Type, _ bean: BeanDirectory.Found, _ target: RecipeDraft.Target
  ) -> Operand {
    Operand(place(of: target, false), bean.entry.type is AnyObject.Type ? .reference : .boxed)
  }
}

extension RecipeDraft {
  /// Calls `body` with everything that arguments and properties are.
  fileprivate func forEachTaken(_ body: (Dependency) -> Void) {
    for argument in arguments { body(argument) }
    for property in properties {
      if let dependency = property.dependency { body(dependency) }
    }
  }

  /// The class of what its slot holds, where startup can know it: of a class alone.
  fileprivate var slotIdentity: ObjectIdentifier? {
    slot >= 0 && kind == .slot && definition.isClass ? definition.factory.identity : nil
  }
}

extension RecipeDraft.BoundProperty {
  fileprivate var dependency: RecipeDraft.Dependency? {
    if case .dependency(let dependency) = source { dependency } else { nil }
  }
}
