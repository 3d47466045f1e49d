import BeansReflection

/// Finds the bean and the environment of each dependency, and the faults of dependencies that cannot be resolved.
struct DependencyResolver {
  /// The definitions whose dependencies are still unresolved. A list, not a recursion: chains may be as long as memory
  /// allows.
  private var pending: [BeanDefinition] = []
  /// The dependencies of all definitions. Each definition has ranges of this list.
  private(set) var dependencies: [BeanDefinition.Dependency] = []
  /// The injection point of each dependency, for graphs; nil if none will be drawn.
  private(set) var points: [InjectionPoint]?
  /// The definitions made anew for beans of environments that have started.
  private(set) var inherited: InheritedDefinitions
  let memory = CandidateMemory()
  /// The parameters whose type alone selects a bean. Lookups of these are compiled in advance.
  private(set) var asked: [Parameter] = []
  private var seen: Set<ObjectIdentifier>
  /// The number of hints that may still be computed. A hint costs a walk over all ids; the first few are enough.
  private var hintsLeft = 20

  /// - Parameters:
  ///   - outer: the declarations of environments that have started, nearest first.
  ///   - known: the parameters that beans further out have.
  ///   - keepsPoints: whether the injection points of dependencies are kept.
  init(_ outer: [DeclaredBeans], known: [Parameter], keepsPoints: Bool) {
    inherited = InheritedDefinitions(outer)
    points = keepsPoints ? [] : nil
    seen = Set(known.map { ObjectIdentifier($0) })
  }

  // MARK: beans

  /// Returns the bean as seen from a graph; nil if the bean's scope is not open there. Places the bean in the graph of
  /// the environment that holds it.
  mutating func locate(_ bean: BeanDirectory.Found, from graph: EnvironmentGraph) -> DefinedBean? {
    // Fast path: most dependencies are declared in the same graph and have been placed before.
    if bean.hops == 0 {
      let definition = graph.definitions[Int(bean.number)]
      if definition.isPlaced { return .definition(Unretained(definition), hops: 0) }
    }
    let home = graph.ancestor(bean.hops)
    switch bean.lifetime {
    case .singleton:
      guard let home else { return compiled(bean, graph) }
      return place(bean, home, .slot, in: home, bean.hops)
    case .prototype: return place(bean, home, .prototype, in: graph, 0)
    case .scope(let name):
      if let hops = graph.hops(toScope: name), let holder = graph.ancestor(hops) {
        return place(bean, home, .slot, in: holder, hops)
      }
      if graph.parentPlan?.isOpen(name) == true { return compiled(bean, graph) }
      guard let home else { return graph.outerScopes.contains(name) ? compiled(bean, graph) : nil }
      if home.isRegistered(name) { return place(bean, home, .scoped, in: home, bean.hops) }
      if home.isKnown(bean.lifetime) { return nil }
      // The scope does not exist, which is reported once at the bean itself and not at its dependents.
      home.definitions[Int(bean.number)].isAtFault = true
      return place(bean, home, .prototype, in: home, bean.hops)
    }
  }

  private func compiled(_ bean: BeanDirectory.Found, _ graph: EnvironmentGraph) -> DefinedBean? {
    graph.parentPlan?.locate(bean, hops: Int32(graph.depth + 1)).map { .planned($0) }
  }

  private mutating func place(
    _ bean: BeanDirectory.Found, _ home: EnvironmentGraph?, _ kind: Recipe.Kind, in holder: EnvironmentGraph,
    _ hops: Int
  ) -> DefinedBean? {
    if bean.hops > 0, let known = holder.placed(bean.number, in: bean.directory) {
      return .definition(Unretained(known), hops: Int32(hops))
    }
    guard let definition = home?.definitions[Int(bean.number)] ?? inherited.definition(of: bean) else { return nil }
    let placed = holder.place(definition, kind)
    pending.append(placed)
    return .definition(Unretained(placed), hops: Int32(hops))
  }

  // MARK: one definition

  mutating func resolvePending() {
    while let next = pending.popLast() { resolve(next) }
  }

  private mutating func resolve(_ definition: BeanDefinition) {
    let (spec, factory) = (definition.spec, definition.factory)
    let requirements =
      spec.requirements.isEmpty
      ? 0..<0
      : add(spec.requirements, { _ in .requirement }) {
        $0.resolve($1.value, as: $1.parameter, of: definition, .requirement)
      }
    let hasFactory = definition.hasFactory
    let arguments: Range<Int>
    if let maker = definition.maker {
      // A product's only argument is its factory. The arguments of the declaration belong to the factory.
      let bean = definition.graph.directory.found(maker.entry, in: definition.directory)
      arguments = add(factory.parameters, { _ in .parameter(0) }) {
        $0.dependency($1, on: bean, of: definition, .parameter(0))
      }
    } else if hasFactory {
      arguments = self.arguments(of: definition, spec.arguments, factory.parameters)
    } else {
      arguments = 0..<0
    }
    let (properties, injected) = properties(of: definition)
    let product = hasFactory ? factory.product : nil
    let assembled = product.map { assemble($0, arguments, of: definition) }
    definition.connect(
      requirements: requirements, arguments: assembled ?? arguments, injected: injected, properties: properties)
  }

  /// Resolves the parameters of a factory. Returns the range of their dependencies.
  private mutating func arguments(
    of definition: BeanDefinition, _ given: [(index: Int, value: BeanValue)], _ parameters: [Parameter]
  ) -> Range<Int> {
    // By position: a loop over values would copy each of them.
    for position in given.indices where !parameters.indices.contains(given[position].index) {
      let (index, value) = given[position]
      definition.note(
        .unknownArgument,
        "argument \(index) does not exist: the factory takes \(parameters.count), counted from 0", at: value.origin)
    }
    let first = dependencies.count
    var rest = parameters.indices
    if let decorated = definition.decorated?.value, let parameter = parameters.first {
      rest = 1..<parameters.count
      let home = decorated.home?.object ?? definition.directory
      // A missing one has been reported.
      let bean = decorated.isMissing ? nil : definition.graph.directory.found(decorated.number, in: home)
      if let bean, let found = dependency(parameter, on: bean, of: definition, .parameter(0)) {
        append(found, at: .parameter(0))
      }
    }
    for index in rest {
      let parameter = parameters[index]
      if definition.factory.product != nil, isSeed(parameter, at: index, of: definition) { continue }
      if let position = given.firstIndex(where: { $0.index == index }) {
        let value = given[position].value
        checkIds(in: value, of: definition, .parameter(index))
        if let found = resolve(value, as: parameter, of: definition, .parameter(index)) {
          append(found, at: .parameter(index))
        }
        continue
      }
      if seen.insert(ObjectIdentifier(parameter)).inserted { asked.append(parameter) }
      if let found = dependency(parameter, of: definition, .parameter(index)) {
        append(found, at: .parameter(index))
      }
    }
    return first..<dependencies.count
  }

  /// Adds the dependency found for each wanted element, with its injection point. Returns the range of those added.
  private mutating func add<Wanted>(
    _ wanted: [Wanted], _ point: (Wanted) -> InjectionPoint,
    _ find: (inout DependencyResolver, Wanted) -> BeanDefinition.Dependency?
  ) -> Range<Int> {
    let first = dependencies.count
    for wanted in wanted {
      if let found = find(&self, wanted) { append(found, at: point(wanted)) }
    }
    return first..<dependencies.count
  }

  private mutating func append(_ dependency: BeanDefinition.Dependency, at point: @autoclosure () -> InjectionPoint) {
    dependencies.append(dependency)
    if points != nil { points?.append(point()) }
  }

  /// Moves the resolved arguments to the product, and makes the product builder the factory's only argument.
  private mutating func assemble(
    _ product: (type: Any.Type, function: FactoryFunction), _ arguments: Range<Int>, of maker: BeanDefinition
  ) -> Range<Int> {
    let made = maker.makeProduct(product)
    for fault in made.bindProperties() { maker.note(fault) }
    made.collectValues()
    let (properties, injected) = properties(of: made)
    made.connect(arguments: arguments, injected: injected, properties: properties)
    maker.product = made
    // The faults of a product are faults of its factory.
    for fault in made.faults { maker.note(fault) }
    maker.refusal = maker.refusal ?? made.refusal
    (made.faults, made.refusal) = ([], nil)
    return add([made], { _ in .parameter(0) }) {
      BeanDefinition.Dependency(parameter: Parameter.of((any ProductBuilder).self), source: .products($1))
    }
  }

  /// Whether the caller of the factory supplies the parameter, as its seed.
  private func isSeed(_ parameter: Parameter, at index: Int, of definition: BeanDefinition) -> Bool {
    guard case .seed = parameter.kind else { return false }
    if let value = definition.spec.value.argument(index) {
      definition.note(.misplacedSeed, "argument \(index) is the seed, which cannot be pinned", at: value.origin)
    }
    return true
  }

  /// Resolves a value of the declaration for one parameter or property. Faults are located at `origin`, if given.
  private mutating func resolve(
    _ value: BeanValue, as parameter: Parameter, of definition: BeanDefinition, _ point: InjectionPoint,
    at origin: EnvironmentError.Origin? = nil
  ) -> BeanDefinition.Dependency? {
    if case .reference(let id) = value { return dependency(parameter, id: id, of: definition, point, at: origin) }
    if case .declared(let value, let origin) = value {
      return resolve(value, as: parameter, of: definition, point, at: origin)
    }
    if case .merged(let value) = value { return resolve(value, as: parameter, of: definition, point, at: origin) }
    if let bound = definition.value(value, as: parameter, at: point, origin: origin) {
      return BeanDefinition.Dependency(parameter: parameter, source: .value(bound))
    }
    switch value {
    case .inject(let inject): return dependency(parameter, id: inject.id, of: definition, point, at: origin)
    case .bean(let bean): return dependency(parameter, on: bean, of: definition, point, at: origin)
    case .list, .map: return compose(value, as: parameter, of: definition, point, at: origin)
    case .null, .value, .text, .reference, .declared, .id, .merged:
      definition.note(.nilValue, "\(point): nil is not a \(parameter.wanted)", at: origin)
      return nil
    }
  }

  /// Notes a fault for each id in a value that no bean has.
  @inline(__always)
  private mutating func checkIds(in value: BeanValue, of definition: BeanDefinition, _ point: InjectionPoint) {
    if value.mayRequireIds { checkRequiredIds(in: value, of: definition, point) }
  }

  @inline(never)
  private mutating func checkRequiredIds(in value: BeanValue, of definition: BeanDefinition, _ point: InjectionPoint) {
    for (id, origin) in value.requiredIds {
      _ = dependency(.requirement(Any.self), id: id, of: definition, point, at: origin)
    }
  }

  /// Resolves a collection that contains beans. Each owner receives a collection of its own.
  private mutating func compose(
    _ value: BeanValue, as parameter: Parameter, of definition: BeanDefinition, _ point: InjectionPoint,
    at origin: EnvironmentError.Origin?
  ) -> BeanDefinition.Dependency? {
    guard let collection = value.collection(as: parameter) else {
      let kind = if case .map = value { "map" } else { "list" }
      definition.note(.noCollection, "\(point): a \(kind) is not a \(parameter.wanted)", at: origin)
      return nil
    }
    let parts = value.parts(of: collection, at: point)
    // Every part is resolved, so that all faults are found.
    var found: [BeanDefinition.Dependency] = []
    for part in parts {
      if let dependency = resolve(part.value, as: part.parameter, of: definition, part.point, at: origin) {
        found.append(dependency)
      }
    }
    guard found.count == parts.count else { return nil }
    return BeanDefinition.Dependency(parameter: parameter, source: .composed(found, collection))
  }

  private mutating func dependency(
    _ parameter: Parameter, id: String? = nil, on bean: BeanDirectory.Found? = nil, of definition: BeanDefinition,
    _ point: InjectionPoint, at origin: EnvironmentError.Origin? = nil
  ) -> BeanDefinition.Dependency? {
    let graph = definition.graph
    do throws(EnvironmentError) {
      let source: Source<DefinedBean> =
        if let bean {
          .bean(try found(graph.directory.check(bean, for: parameter), in: graph))
        } else {
          try resolve(parameter, id: id, from: definition.module, in: graph)
        }
      return BeanDefinition.Dependency(parameter: parameter, source: .resolved(source))
    } catch {
      definition.note(error, of: point, at: origin)
      return nil
    }
  }

  private mutating func dependency(
    _ parameter: Parameter, on declaration: BeanDeclaration, of definition: BeanDefinition,
    _ point: InjectionPoint, at origin: EnvironmentError.Origin?
  ) -> BeanDefinition.Dependency? {
    let directory = definition.graph.directory
    if let bean = directory.bean(declared: declaration.spec.number, memory) {
      let decorated = directory.decorated(bean, as: parameter.element)
      return dependency(parameter, on: decorated, of: definition, point, at: origin)
    }
    if let fault = directory.fault(ofDeclaration: declaration.spec) {
      definition.note(fault, of: point, at: origin)
    }
    return nil
  }

  // MARK: one dependency

  mutating func resolve(
    _ parameter: Parameter, id: String?, from module: ObjectIdentifier? = nil, in graph: EnvironmentGraph
  ) throws(EnvironmentError) -> Source<DefinedBean> {
    do throws(EnvironmentError) {
      if let id, case .one = parameter.kind {
        let bean = try graph.directory.bean(id, as: parameter, from: module, hasHints: hintsLeft > 0)
        return .bean(try found(bean, in: graph))
      }
      return try graph.directory.resolve(
        parameter, id: id, from: module, below: graph.belowDirectories, hasHints: hintsLeft > 0, memory
      ) { bean throws(EnvironmentError) in try found(bean, in: graph) }
    } catch {
      if id != nil { hintsLeft -= 1 }
      throw error
    }
  }

  private mutating func found(
    _ bean: BeanDirectory.Found, in graph: EnvironmentGraph
  ) throws(EnvironmentError) -> DefinedBean {
    if let found = locate(bean, from: graph) { return found }
    throw bean.entry.notOpen
  }

  // MARK: properties

  /// Resolves all properties of a definition. Returns them and the range of their dependencies.
  private mutating func properties(of definition: BeanDefinition) -> ([BeanCode.Property], injected: Range<Int>) {
    if definition.given.isEmpty, definition.injections.isEmpty { return ([], 0..<0) }
    var declared: [PropertyAssignment] = []
    for property in definition.given {
      checkIds(in: property.value, of: definition, .property(property.name))
      guard let setter = property.setter,
        let dependency = resolve(property.value, as: setter.parameter, of: definition, .property(property.name))
      else { continue }
      declared.append(
        PropertyAssignment(
          BeanCode.Property(set: setter.set), dependency, declared: property, at: .property(property.name)))
    }
    let injected = resolveInjections(of: definition, &declared)
    let properties = declared.ordered(with: injected)
    return (properties.map(\.code), add(properties, \.point) { $1.dependency })
  }

  /// Resolves the injections of the class. The fault of one that the declaration may override is deferred.
  private mutating func resolveInjections(
    of definition: BeanDefinition, _ declared: inout [PropertyAssignment]
  ) -> [PropertyAssignment] {
    definition.injections.compactMap { injection in
      guard injection.stopgap != nil, declared.contains(where: { $0.mayBe(injection) }) else {
        return property(for: injection, of: definition)
      }
      let (faults, refusal) = (definition.faults, definition.refusal)
      definition.refusal = nil
      let property = property(for: injection, of: definition)
      let fault = definition.faults.count > faults.count ? definition.faults.last : definition.refusal?.value
      // The fault is irrelevant if the declaration sets the property, which is only known when the key paths have been
      // set.
      (definition.faults, definition.refusal) = (faults, refusal)
      if let fault { declared.deferFault(fault, of: injection) }
      return property
    }
  }

  private mutating func property(
    for injection: ClassInjection, of definition: BeanDefinition
  ) -> PropertyAssignment? {
    let parameter = injection.setter.parameter
    let found: BeanDefinition.Dependency?
    switch injection.source {
    case .bean(let id): found = dependency(parameter, id: id, of: definition, injection.point)
    case .named(let id):
      guard hasCandidateWithId(for: parameter, definition.graph) else {
        definition.noteMissingIds(for: injection)
        return nil
      }
      return PropertyAssignment(
        BeanCode.Property(named: (id, parameter, "\(injection.point)"), set: injection.setter.set), nil,
        at: injection.point)
    case .configuration(let value):
      let bound = definition.value(.configuration(value), parameter, at: injection.point)
      found = BeanDefinition.Dependency(parameter: parameter, source: .value(bound))
    case .custom(let inject): found = injected(inject, injection, of: definition)
    }
    return found.map { PropertyAssignment(BeanCode.Property(set: injection.setter.set), $0, at: injection.point) }
  }

  private func hasCandidateWithId(for parameter: Parameter, _ graph: EnvironmentGraph) -> Bool {
    // A provider may reach into scopes that open later.
    if case .provider = parameter.kind { return true }
    return graph.directory.levels(with: parameter.element, memory).contains { directory, numbers in
      numbers.contains { directory.entries[Int($0)].id != nil }
    }
  }

  private func injected(
    _ inject: Inject, _ injection: ClassInjection, of definition: BeanDefinition
  ) -> BeanDefinition.Dependency? {
    let isServed =
      definition.graph.seesInjection
      || definition.graph.parentPlan.map { !$0.injections.isEmpty } ?? false
    guard isServed else {
      definition.noteUnserved(inject, at: injection.point)
      return nil
    }
    return BeanDefinition.Dependency(
      parameter: injection.setter.parameter, source: .injection(inject, injection.property))
  }
}
