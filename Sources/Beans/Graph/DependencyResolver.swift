import BeansReflection

/// Finds for each dependency the bean, the environment it lives in, and what is wrong with that.
struct DependencyResolver {
  /// Drafts whose dependencies are still unknown. A list, not a recursion: chains may be as long as memory allows.
  private var pending: [RecipeDraft] = []
  private let inherited: InheritedBeans
  /// Names of scopes that users have registered further out, in environments that have started.
  private let outerScopes: [String]
  /// Candidates of protocol types, which take a walk over all beans to be found.
  private var candidates: [CandidateKey: [Int32]] = [:]
  /// Hints cost a walk over all ids: the first ones help, a thousand of them only take time.
  private var hintsLeft = 20

  private struct CandidateKey: Hashable {
    let directory: ObjectIdentifier
    let type: ObjectIdentifier
  }

  init(_ inherited: InheritedBeans, outerScopes: [String]) {
    self.inherited = inherited
    self.outerScopes = outerScopes
  }

  func scopeNames(_ graph: EnvironmentGraph) -> ScopeNames { ScopeNames(graph: graph, outer: outerScopes) }

  // MARK: targets

  /// The bean as seen from a graph; nil where its scope is not open there.
  mutating func target(for bean: BeanDirectory.Found, from graph: EnvironmentGraph) -> RecipeDraft.Target? {
    let key = Plan.EntryKey(bean.directory, bean.number)
    let chain = graph.chain
    // Most beans are looked for where they are declared, and most have been found there before.
    if bean.hops == 0, let draft = graph.draft(of: key) { return .draft(.init(draft: draft), hops: 0) }
    switch bean.entry.lifetime {
    case .singleton:
      if bean.hops < chain.count { return draft(bean, .slot, in: chain[bean.hops], bean.hops) }
      return compiled(bean, graph, chain.count)
    case .prototype: return draft(bean, .prototype, in: graph, 0)
    case .scope(let name):
      if let hops = chain.firstIndex(where: { $0.scopeName == name }) {
        return draft(bean, .slot, in: chain[hops], hops)
      }
      if graph.parentPlan?.chain.contains(where: { $0.plan.scopeName == name }) == true {
        return compiled(bean, graph, chain.count)
      }
      if bean.hops >= chain.count {
        return outerScopes.contains(name) ? compiled(bean, graph, chain.count) : nil
      }
      guard scopeNames(chain[bean.hops]).isRegistered(name) else { return nil }
      return draft(bean, .scoped, in: chain[bean.hops], bean.hops)
    }
  }

  private func compiled(_ bean: BeanDirectory.Found, _ graph: EnvironmentGraph, _ distance: Int) -> RecipeDraft.Target?
  {
    guard let plan = graph.parentPlan, let (number, hops) = plan.recipe(for: bean) else { return nil }
    guard let home = plan.chain.first(where: { $0.hops == hops })?.plan else { return nil }
    return .compiled(home, number, hops: distance + hops)
  }

  private mutating func draft(
    _ bean: BeanDirectory.Found, _ kind: Recipe.Kind, in graph: EnvironmentGraph, _ hops: Int
  ) -> RecipeDraft.Target? {
    let key = Plan.EntryKey(bean.directory, bean.number)
    if let known = graph.draft(of: key) { return .draft(.init(draft: known), hops: hops) }
    let home = graph.chain.first { $0.directory === bean.directory }
    guard let definition = home?.definitions[Int(bean.number)] ?? inherited.definition(of: bean, for: graph) else {
      return nil
    }
    let draft = graph.makeDraft(definition, kind, key)
    pending.append(draft)
    return .draft(.init(draft: draft), hops: hops)
  }

  // MARK: one draft

  mutating func resolvePending() {
    while let next = pending.popLast() { resolve(next) }
  }

  private mutating func resolve(_ draft: RecipeDraft) {
    let definition = draft.definition
    draft.requirements = definition.spec.requirements.compactMap { requirement($0, of: draft) }
    if let maker = definition.maker {
      // A product takes its factory, whatever the declaration says of arguments: those are the factory's.
      let found = BeanDirectory.Found(directory: definition.directory(), number: maker.number, hops: 0)
      let hops = draft.graph.directory.chain.first { $0.directory === found.directory }?.hops ?? 0
      let bean = BeanDirectory.Found(directory: found.directory, number: found.number, hops: hops)
      draft.arguments = [dependency(definition.factory.parameters[0], on: bean, of: draft, .parameter(0))]
        .compactMap { $0 }
      resolveProperties(of: draft)
      return
    }
    let (parameters, given) = (definition.factory.parameters, definition.spec.arguments)
    for index in given.keys.sorted() where !parameters.indices.contains(index) {
      draft.faults.append(
        definition.fault(
          .invalidDeclaration, "argument \(index) does not exist: the factory takes \(parameters.count), counted from 0"
        ))
    }
    draft.arguments.reserveCapacity(parameters.count)
    for (index, parameter) in parameters.enumerated() {
      if definition.factory.product != nil, isSeed(parameter, at: index, of: draft) { continue }
      let found =
        if let value = given[index] {
          resolve(value, as: parameter, of: draft, .parameter(index))
        } else {
          dependency(parameter, of: draft, .parameter(index))
        }
      if let found { draft.arguments.append(found) }
    }
    resolveProperties(of: draft)
    if let product = definition.factory.product { assemble(product, of: draft) }
  }

  /// Gives what has been resolved to the product: it is what calls for it.
  private mutating func assemble(_ product: FactoryFunction.Product, of draft: RecipeDraft) {
    let maker = draft.definition
    let definition = BeanDefinition(
      maker.spec, type: product.type, lifetime: .prototype, factory: product.function, number: -1, isProduct: true,
      configuration: maker.configuration, directory: maker.directory)
    draft.faults += definition.bindProperties()
    definition.collectValues()
    maker.product = definition
    let made = RecipeDraft(definition, in: draft.graph, .product)
    made.arguments = draft.arguments
    resolveProperties(of: made)
    draft.product = made
    draft.arguments = [
      RecipeDraft.Dependency(parameter: Parameter.of((any ProductBuilder).self), binding: .products(made))
    ]
    // What is wrong with the product is wrong with what makes it.
    draft.faults += made.faults
    draft.inactive = draft.inactive ?? made.inactive
    (made.faults, made.inactive) = ([], nil)
  }

  /// Whether a parameter is left to whoever calls the factory bean.
  private func isSeed(_ parameter: Parameter, at index: Int, of draft: RecipeDraft) -> Bool {
    guard case .seed = parameter.kind else { return false }
    if draft.definition.spec.arguments[index] != nil {
      draft.faults.append(
        draft.definition.fault(.invalidDeclaration, "argument \(index) is the seed, which cannot be pinned"))
    }
    return true
  }

  private mutating func requirement(
    _ requirement: BeanSpec.Requirement, of draft: RecipeDraft
  ) -> RecipeDraft.Binding? {
    switch requirement {
    case .id(let id): dependency(.requirement(Any.self), id: id, of: draft, .requirement)?.binding
    case .type(let type): dependency(.requirement(type), of: draft, .requirement)?.binding
    case .declaration(let bean): dependency(.requirement(Any.self), on: bean, of: draft, .requirement)?.binding
    }
  }

  /// What a declaration says about one parameter or property.
  private mutating func resolve(
    _ value: BeanValue, as parameter: Parameter, of draft: RecipeDraft, _ point: InjectionPoint
  ) -> RecipeDraft.Dependency? {
    if case .reference(let id) = value { return dependency(parameter, id: id, of: draft, point) }
    if let bound = draft.definition.value(value, as: parameter, at: point) {
      return RecipeDraft.Dependency(parameter: parameter, binding: .value(bound))
    }
    switch value {
    case .inject(let inject): return dependency(parameter, id: inject.id, of: draft, point)
    case .bean(let bean): return dependency(parameter, on: bean, of: draft, point)
    case .list, .map: return compose(value, as: parameter, of: draft, point)
    case .null, .value, .text, .reference:
      draft.faults.append(draft.definition.fault(.typeMismatch, "\(point): nil is not a \(parameter.wanted)"))
      return nil
    }
  }

  /// A collection with beans in it, put together anew for each owner.
  private mutating func compose(
    _ value: BeanValue, as parameter: Parameter, of draft: RecipeDraft, _ point: InjectionPoint
  ) -> RecipeDraft.Dependency? {
    guard let collection = value.collection(as: parameter) else {
      let kind = if case .map = value { "map" } else { "list" }
      draft.faults.append(
        draft.definition.fault(.typeMismatch, "\(point): a \(kind) is not a \(parameter.wanted)"))
      return nil
    }
    let parts = value.parts(of: collection, at: point.description)
    // All of them are looked at, so that all faults are found.
    var found: [RecipeDraft.Dependency] = []
    for part in parts {
      if let dependency = resolve(part.value, as: part.parameter, of: draft, .other(part.point)) {
        found.append(dependency)
      }
    }
    guard found.count == parts.count else { return nil }
    return RecipeDraft.Dependency(parameter: parameter, binding: .composed(found, collection))
  }

  private mutating func dependency(
    _ parameter: Parameter, id: String? = nil, of draft: RecipeDraft, _ point: InjectionPoint
  ) -> RecipeDraft.Dependency? {
    do throws(EnvironmentError) {
      return RecipeDraft.Dependency(parameter: parameter, binding: try resolve(parameter, id: id, in: draft.graph))
    } catch {
      note(error, of: draft, point)
      return nil
    }
  }

  private mutating func dependency(
    _ parameter: Parameter, on declaration: BeanDeclaration, of draft: RecipeDraft, _ point: InjectionPoint
  ) -> RecipeDraft.Dependency? {
    if let bean = draft.graph.directory.bean(declared: declaration.number) {
      return dependency(parameter, on: bean, of: draft, point)
    }
    let name = declaration.spec.type.map { "\($0)" } ?? "bean"
    note(
      EnvironmentError(
        .unknownBean, "the declaration of \(name) was never defined in an environment that can be seen here"),
      of: draft, point)
    return nil
  }

  private mutating func dependency(
    _ parameter: Parameter, on bean: BeanDirectory.Found, of draft: RecipeDraft, _ point: InjectionPoint
  ) -> RecipeDraft.Dependency? {
    do throws(EnvironmentError) {
      return RecipeDraft.Dependency(
        parameter: parameter, binding: .bean(try bind(parameter, to: bean, in: draft.graph)))
    } catch {
      note(error, of: draft, point)
      return nil
    }
  }

  /// Turns why nothing has been found into a fault that names the bean.
  private func note(_ fault: EnvironmentError, of draft: RecipeDraft, _ point: InjectionPoint) {
    var named = EnvironmentError(
      fault.code, "\(point): \(fault.message)", path: [draft.label] + fault.path,
      origin: draft.definition.spec.location.origin)
    named.scope = fault.scope
    guard fault.code == .scopeNotActive else {
      draft.faults.append(named)
      return
    }
    // Whether that is a fault depends on who holds the bean: see `Validator`.
    draft.inactive = draft.inactive ?? named
  }

  // MARK: one dependency

  mutating func resolve(
    _ parameter: Parameter, id: String?, in graph: EnvironmentGraph
  ) throws(EnvironmentError) -> RecipeDraft.Binding {
    switch parameter.kind {
    case .invalid(let reason):
      throw EnvironmentError(.invalidDeclaration, reason, path: ["\(parameter.element)"])
    case .environment: return .computed(.environment, .reference)
    // An optional of it is delivered as it is.
    case .configuration: return .computed(.configuration, .reference)
    case .seed: throw parameter.misplacedSeed
    case .provider(let provided):
      try check(provided: provided, id: id, in: graph)
      return .computed(.provider(parameter, id: id), .boxed)
    case .one, .optional, .all: break
    }
    let directory = graph.directory
    if id == nil, Parameter.isWrapper(parameter.wanted), let seed = directory.seed(of: parameter.wanted) {
      return .bean(try bind(parameter, to: seed, in: graph))
    }
    if let id { return .bean(try bind(parameter, to: try find(id, in: directory), in: graph)) }
    if case .all = parameter.kind { return .all(try bindAll(parameter, in: graph)) }
    if let bean = try select(parameter.element, in: directory) {
      return .bean(try bind(parameter, to: bean, in: graph))
    }
    if case .optional = parameter.kind {
      return .computed(.absent(parameter), parameter.isReference ? .reference : .boxed)
    }
    throw EnvironmentError(
      .unknownBean,
      "no bean of type \(parameter.element) can be seen from '\(graph.name)'\(whereElse(parameter.element, graph))",
      path: ["\(parameter.element)"])
  }

  private mutating func find(_ id: String, in directory: BeanDirectory) throws(EnvironmentError) -> BeanDirectory.Found
  {
    if directory.find(id: id) == nil {
      hintsLeft -= 1
      if hintsLeft < 0 { throw EnvironmentError(.unknownBean, "no bean has the id '\(id)'", path: ["'\(id)'"]) }
    }
    return try directory.bean(id: id)
  }

  private mutating func select(
    _ type: Any.Type, in directory: BeanDirectory
  ) throws(EnvironmentError) -> BeanDirectory.Found? {
    var memory = candidates
    defer { candidates = memory }
    return try directory.select(type) { Self.candidates(for: type, in: $0, &memory) }
  }

  private static func candidates(
    for type: Any.Type, in directory: BeanDirectory, _ memory: inout [CandidateKey: [Int32]]
  ) -> [Int32] {
    guard TypeRelation.isExistential(type) else { return directory.candidates(for: type) }
    let key = CandidateKey(directory: ObjectIdentifier(directory), type: ObjectIdentifier(type))
    if let known = memory[key] { return known }
    let found = directory.candidates(for: type)
    memory[key] = found
    return found
  }

  mutating func bind(
    _ parameter: Parameter, to bean: BeanDirectory.Found, in graph: EnvironmentGraph
  ) throws(EnvironmentError) -> RecipeDraft.Target {
    let entry = bean.entry
    try parameter.check(entry)
    if let target = target(for: bean, from: graph) { return target }
    throw entry.notOpen
  }

  /// Nearest environment first, then in order of definition.
  private mutating func bindAll(
    _ parameter: Parameter, in graph: EnvironmentGraph
  ) throws(EnvironmentError) -> [RecipeDraft.Target] {
    let directory = graph.directory
    var targets: [RecipeDraft.Target] = []
    for (home, hops) in directory.chain {
      for number in Self.candidates(for: parameter.element, in: home, &candidates) {
        let entry = home.entries[Int(number)]
        if entry.isSeed || directory.hides(entry, hops: hops) { continue }
        let bean = BeanDirectory.Found(directory: home, number: number, hops: hops)
        guard let target = target(for: bean, from: graph) else { throw entry.notOpen }
        targets.append(target)
      }
    }
    return targets
  }

  /// A provider may reach into scopes that open later, so a candidate anywhere below is good enough.
  private func check(provided: Parameter, id: String?, in graph: EnvironmentGraph) throws(EnvironmentError) {
    if let id, graph.directory.find(id: id) == nil, !graph.below.contains(where: { $0.directory.names[id] != nil }) {
      throw EnvironmentError(
        .unknownBean, "no bean has the id '\(id)'\(graph.directory.hint(forId: id))", path: ["'\(id)'"])
    }
    switch provided.kind {
    case .invalid(let reason): throw EnvironmentError(.invalidDeclaration, reason)
    case .provider(let inner): try check(provided: inner, id: id, in: graph)
    case .seed: throw provided.misplacedSeed
    case .environment, .configuration, .optional, .all: break
    case .one where id != nil: break
    case .one:
      let isVisible = graph.directory.chain.contains { !$0.directory.candidates(for: provided.element).isEmpty }
      if isVisible || graph.below.contains(where: { !$0.directory.candidates(for: provided.element).isEmpty }) {
        return
      }
      throw EnvironmentError(
        .unknownBean, "no bean of type \(provided.element), neither here nor in a scope below",
        path: ["\(provided.element)"])
    }
  }

  /// "; children of … have one", where the bean exists but further in.
  private func whereElse(_ type: Any.Type, _ graph: EnvironmentGraph) -> String {
    DependencyResolver.whereElse(type, graph.below.map(\.directory))
  }

  static func whereElse(_ type: Any.Type, _ below: [BeanDirectory]) -> String {
    let holders = below.filter { !$0.candidates(for: type).isEmpty }.map { "'\($0.name)'" }
    return holders.isEmpty ? "" : "; children of scope \(holders.joined(separator: ", ")) have one, use a Provider"
  }

  // MARK: properties

  /// A property of the declaration, resolved.
  private typealias Declared = (injection: PropertyInjection, property: RecipeDraft.BoundProperty)

  private mutating func resolveProperties(of draft: RecipeDraft) {
    let definition = draft.definition
    var declared: [Declared] = []
    for property in definition.properties {
      guard let setter = property.setter,
        let dependency = resolve(property.value, as: setter.parameter, of: draft, .property(property.name))
      else { continue }
      declared.append((property, RecipeDraft.BoundProperty(source: .dependency(dependency), set: setter.set)))
    }
    if definition.injections.isEmpty {
      draft.properties = declared.map(\.property)
      return
    }
    let injected = resolveInjections(of: draft, &declared)
    // A key path may lead to an injected property: the declaration has the last word.
    draft.properties =
      declared.filter { !$0.injection.isPath }.map(\.property) + injected
      + declared.filter(\.injection.isPath).map(\.property)
  }

  private mutating func resolveInjections(
    of draft: RecipeDraft, _ declared: inout [Declared]
  ) -> [RecipeDraft.BoundProperty] {
    draft.definition.injections.compactMap { injection in
      guard injection.stopgap != nil, declared.contains(where: { $0.injection.sets(injection) == nil }) else {
        return property(for: injection, of: draft)
      }
      let (faults, inactive) = (draft.faults, draft.inactive)
      draft.inactive = nil
      let property = property(for: injection, of: draft)
      let fault = draft.faults.count > faults.count ? draft.faults.last : draft.inactive
      // What is wrong with it does not matter where the declaration sets the property; that shows when it does.
      (draft.faults, draft.inactive) = (faults, inactive)
      if let fault { guess(injection, fault, &declared) }
      return property
    }
  }

  /// Has the key paths that may lead to the property set it; where none did, the fault is a fault after all.
  private func guess(
    _ injection: ClassInjection, _ fault: EnvironmentError, _ declared: inout [Declared]
  ) {
    let stopgap = injection.stopgap
    let candidates = declared.indices.filter { declared[$0].injection.sets(injection) == nil }
    for index in candidates {
      let set = declared[index].property.set
      let (isFirst, isLast) = (index == candidates.first, index == candidates.last)
      declared[index].property = declared[index].property.setting { object, argument in
        if isFirst {
          argument.object?.retain()
          stopgap?.set(object, argument)
        }
        try set(object, argument)
        if isLast, stopgap?.isLeft(object) == true { throw fault }
      }
    }
  }

  private mutating func property(for injection: ClassInjection, of draft: RecipeDraft) -> RecipeDraft.BoundProperty? {
    let parameter = injection.setter.parameter
    let found: RecipeDraft.Dependency?
    switch injection.source {
    case .bean(let id): found = dependency(parameter, id: id, of: draft, .other(injection.point))
    case .named(let id):
      guard hasCandidateWithId(for: parameter, draft.graph) else {
        draft.faults.append(
          draft.definition.fault(
            .unknownBean, "\(injection.point): no bean of type \(parameter.element) has an id"))
        return nil
      }
      return RecipeDraft.BoundProperty(
        source: .named(id, parameter, point: injection.point), set: injection.setter.set)
    case .configuration(let value):
      let bound = draft.definition.value(.configuration(value), parameter, at: injection.point)
      found = RecipeDraft.Dependency(parameter: parameter, binding: .value(bound))
    case .custom(let inject): found = injected(inject, injection, of: draft)
    }
    return found.map { RecipeDraft.BoundProperty(source: .dependency($0), set: injection.setter.set) }
  }

  private func hasCandidateWithId(for parameter: Parameter, _ graph: EnvironmentGraph) -> Bool {
    // A provider may reach into scopes that open later.
    if case .provider = parameter.kind { return true }
    return graph.directory.chain.contains { directory, _ in
      directory.candidates(for: parameter.element).contains { directory.entries[Int($0)].id != nil }
    }
  }

  private func injected(
    _ inject: Inject, _ injection: ClassInjection, of draft: RecipeDraft
  ) -> RecipeDraft.Dependency? {
    let isServed =
      draft.graph.chain.contains { $0.has(.injection) }
      || draft.graph.parentPlan.map { !$0.injections.isEmpty } ?? false
    guard isServed else {
      draft.faults.append(
        draft.definition.fault(
          .invalidDeclaration, "\(injection.point): no Injection is defined that serves \(type(of: inject))"))
      return nil
    }
    return RecipeDraft.Dependency(
      parameter: injection.setter.parameter, binding: .injection(inject, injection.property))
  }
}

extension Parameter {
  var misplacedSeed: EnvironmentError {
    EnvironmentError(
      .invalidDeclaration,
      "\(wanted) is a seed, which only the factory given to bindFactory(…).to(factory:) can take", path: ["\(wanted)"])
  }

  /// Throws where a bean cannot be used as what the parameter asks for.
  func check(_ entry: BeanDirectory.Entry) throws(EnvironmentError) {
    let type: Any.Type = entry.isSeed ? wanted : element
    guard entry.type == element || TypeRelation.isUsable(entry.type, as: type) else {
      throw entry.fault(.typeMismatch, "\(entry.label) is a \(entry.type), not a \(element)")
    }
  }
}

extension BeanDirectory {
  /// The seed of exactly that type.
  func seed(of type: Any.Type) -> Found? {
    for (directory, hops) in chain {
      if let first = directory.entries.first, first.isSeed, first.type == type {
        return Found(directory: directory, number: 0, hops: hops)
      }
    }
    return nil
  }
}

extension BeanDirectory.Entry {
  var notOpen: EnvironmentError {
    var error = fault(.scopeNotActive, "\(label) lives in scope '\(lifetime.name)', which is not open here")
    error.scope = lifetime.name
    return error
  }
}
