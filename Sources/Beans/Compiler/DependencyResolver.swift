import BeansReflection

/// Finds the bean and the environment of each dependency, and the faults of dependencies that cannot be resolved.
struct DependencyResolver {
  /// The beans whose dependencies are still unresolved. A list, not a recursion: chains may be as long as memory allows.
  private var pending: [PlacedBean] = []
  /// The dependencies of all beans. Each bean has ranges of this list.
  private(set) var dependencies: [PlacedBean.Dependency] = []
  /// The injection point of each dependency. A list of its own: graphs read the points, and compilation copies the
  /// dependencies.
  private(set) var points: [InjectionPoint] = []
  let bindings = BeanBindings()
  let memory = CandidateMemory()
  /// The parameters, here and further out, whose type alone selects a bean. Lookups of these are compiled in advance.
  private(set) var parameters: [Parameter]
  private var seen: Set<ObjectIdentifier>
  /// The number of hints that may still be computed. A hint costs a walk over all ids; the first few are enough.
  private var hintsLeft = 20

  init(_ input: CompilerInput) {
    parameters = input.parent?.parameters ?? []
    seen = Set(parameters.map { ObjectIdentifier($0) })
  }

  // MARK: beans

  /// Returns the bean as seen from a graph; nil if the bean's scope is not open there. Places the bean in the graph of
  /// the environment that holds it.
  mutating func locate(_ bean: BeanDirectory.Found, from graph: EnvironmentGraph) -> DefinedBean? {
    // Fast path: most dependencies are declared in the same graph and have been placed before.
    if bean.hops == 0, let placed = graph.placed(bean.number) {
      return .placed(Unretained(placed), hops: 0)
    }
    let home = graph.ancestor(bean.hops)
    switch bean.lifetime {
    case .singleton:
      guard let home else { return compiled(bean, graph) }
      return place(bean, home, .slot, in: home, bean.hops)
    case .prototype: return place(bean, home, .prototype, in: graph, 0)
    case .scope(let name):
      if let hops = graph.directory.hops(toScope: name) {
        guard let holder = graph.ancestor(hops) else { return compiled(bean, graph) }
        return place(bean, home, .slot, in: holder, hops)
      }
      guard let home else { return if graph.input.outerScopes.contains(name) { compiled(bean, graph) } else { nil } }
      if home.isRegistered(name) { return place(bean, home, .scoped, in: home, bean.hops) }
      if home.isKnown(bean.lifetime) { return nil }
      // The scope does not exist, which is reported once at the bean itself and not at its dependents.
      home.changeFaulty { $0.insert(bean.number) }
      return place(bean, home, .prototype, in: home, bean.hops)
    }
  }

  private func compiled(_ bean: BeanDirectory.Found, _ graph: EnvironmentGraph) -> DefinedBean? {
    graph.parentPlan?.locate(bean, hops: Int32(graph.depth + 1)).map { .planned($0.bean, $0.recipe) }
  }

  private mutating func place(
    _ bean: BeanDirectory.Found, _ home: EnvironmentGraph?, _ kind: Recipe.Kind, in holder: EnvironmentGraph,
    _ hops: Int
  ) -> DefinedBean? {
    let (definition, directory) = (bean.definition, bean.directory)
    if bean.hops > 0, let known = holder.placed(bean.number, from: directory) {
      return .placed(Unretained(known), hops: Int32(hops))
    }
    let binding: BeanBinding?
    if home != nil {
      binding = bindings.known(definition)
    } else {
      // A bean that lives as long as the environment which declares it is built there alone.
      guard definition.lifetime != Lifetime(directory.scopeName ?? "singleton") else { return nil }
      binding = bindings.binding(of: definition, directory.declarations)
    }
    let placed = holder.place(
      definition, from: directory, kind, binding, isAtFault: home?.faulty.contains(bean.number) ?? false)
    pending.append(placed)
    return .placed(Unretained(placed), hops: Int32(hops))
  }

  // MARK: one bean

  mutating func resolvePending() {
    while let next = pending.popLast() { resolve(next) }
  }

  private mutating func resolve(_ bean: PlacedBean) {
    let (spec, factory) = (bean.definition.spec, bean.definition.factory)
    let requirements = add(spec.with { $0.requirements }, at: { _ in .requirement }) {
      var values: [BoundValue] = []
      return $0.resolve(.bind($1.value, as: $1.parameter, at: .requirement, &values), of: bean)
    }
    let hasFactory = bean.hasFactory
    var arguments = 0..<0
    if hasFactory {
      arguments = self.arguments(of: bean, spec.with { $0.arguments }, factory.with { $0.parameters })
    }
    let (properties, injected) = properties(of: bean)
    if hasFactory, let product = bean.definition.product { arguments = assemble(product, arguments, of: bean) }
    bean.connect(requirements: requirements, arguments: arguments, injected: injected, properties: properties)
  }

  /// Resolves the parameters of a factory. Returns the range of their dependencies.
  private mutating func arguments(
    of bean: PlacedBean, _ given: [(index: Int, value: BeanValue)], _ parameters: [Parameter]
  ) -> Range<Int> {
    // By position: a loop over values would copy each of them.
    for position in given.indices where !parameters.indices.contains(given[position].index) {
      let (index, value) = given[position]
      bean.note(
        .unknownArgument,
        "argument \(index) does not exist: the factory takes \(parameters.count), counted from 0", at: value.origin)
    }
    return add(parameters.indices, at: { .parameter($0) }) { resolver, index in
      let parameter = parameters[index]
      if index == 0, let maker = bean.definition.maker {
        // A product's only argument is its factory. The arguments of the declaration belong to the factory.
        let maker = bean.graph.directory.found(maker.number, in: bean.directory)
        return resolver.dependency(parameter, on: maker, of: bean, .parameter(0))
      }
      if index == 0, let decorated = bean.definition.decorated {
        let home = decorated.home?.object ?? bean.directory
        // A missing one has been reported.
        if decorated.bean == nil { return nil }
        let inner = bean.graph.directory.found(decorated.number, in: home)
        return resolver.dependency(parameter, on: inner, of: bean, .parameter(0))
      }
      // The caller of an assisted factory supplies the parameter.
      if bean.definition.product != nil, case .seed = parameter.kind {
        if let value = bean.spec.value.argument(index) {
          bean.note(.misplacedSeed, "argument \(index) is the seed, which cannot be pinned", at: value.origin)
        }
        return nil
      }
      if let position = given.firstIndex(where: { $0.index == index }) {
        let value = given[position].value
        // A bean that has no other values needs no binding.
        if case .reference(let id) = value {
          return resolver.dependency(parameter, id: id, of: bean, .parameter(index))
        }
        resolver.checkRequiredIds(in: value, of: bean, .parameter(index))
        // A decorator that decorates nothing has no binding, and its values are never used.
        var values: [BoundValue] = []
        let point = bean.binding?.arguments[index] ?? .bind(value, as: parameter, at: .parameter(index), &values)
        return resolver.resolve(point, of: bean)
      }
      if resolver.seen.insert(ObjectIdentifier(parameter)).inserted { resolver.parameters.append(parameter) }
      return resolver.dependency(parameter, of: bean, .parameter(index))
    }
  }

  /// Adds the dependency found for each wanted element, with its injection point. Returns the range of those added.
  private mutating func add<Wanted>(
    _ wanted: some Sequence<Wanted>, at point: (Wanted) -> InjectionPoint,
    _ find: (inout DependencyResolver, Wanted) -> PlacedBean.Dependency?
  ) -> Range<Int> {
    let first = dependencies.count
    for wanted in wanted {
      guard let found = find(&self, wanted) else { continue }
      dependencies.append(found)
      points.append(point(wanted))
    }
    return first..<dependencies.count
  }

  /// Moves the resolved arguments to the product, and makes the product builder the factory's only argument.
  private mutating func assemble(
    _ product: BeanDefinition, _ arguments: Range<Int>, of maker: PlacedBean
  ) -> Range<Int> {
    let binding = bindings.binding(of: product, maker.directory.declarations)
    let made = PlacedBean(
      product, from: maker.directory, in: maker.graph, .product, slot: -1, binding, isAtFault: false)
    for fault in binding?.faults ?? [] { maker.note(fault) }
    let (properties, injected) = properties(of: made)
    made.connect(arguments: arguments, injected: injected, properties: properties)
    maker.product = made
    // The faults of a product are faults of its factory.
    for fault in made.faults { maker.note(fault) }
    maker.refusal = maker.refusal ?? made.refusal
    (made.faults, made.refusal) = ([], nil)
    let builder = PlacedBean.Dependency(parameter: .of((any ProductBuilder).self), source: .products(made))
    return add([builder], at: { _ in .parameter(0) }) { $1 }
  }

  /// Resolves a value of the declaration for one parameter or property.
  private mutating func resolve(_ given: BoundValue, of bean: PlacedBean) -> PlacedBean.Dependency? {
    let (parameter, point, origin) = (given.parameter, given.point, given.origin)
    if !given.needsBean { return PlacedBean.Dependency(parameter: parameter, source: .value(given)) }
    switch given.given {
    case .bean(let id): return dependency(parameter, id: id, of: bean, point, at: origin)
    case .declaration(let declaration):
      let directory = bean.graph.directory
      if let found = directory.bean(declared: declaration.spec.number) {
        let decorated = directory.decorated(found, as: parameter.element)
        return dependency(parameter, on: decorated, of: bean, point, at: origin)
      }
      if let fault = directory.fault(ofDeclaration: declaration.spec) { bean.note(fault, of: point, at: origin) }
    case .parts(let parts, let type):
      // Each owner receives a collection of its own. Every part is resolved, so that all faults are found.
      var found: [PlacedBean.Dependency] = []
      for part in parts {
        if let dependency = resolve(part, of: bean) { found.append(dependency) }
      }
      guard found.count == parts.count else { return nil }
      return PlacedBean.Dependency(parameter: parameter, source: .composed(found, type))
    case .unfit(let cause, let value): bean.note(cause, "\(point): \(value) is not a \(parameter.wanted)", at: origin)
    case .value, .text, .configuration, .section: break
    }
    return nil
  }

  /// Notes a fault for each id in a value that no bean has.
  private mutating func checkRequiredIds(in value: BeanValue, of bean: PlacedBean, _ point: InjectionPoint) {
    for (id, origin) in value.requiredIds {
      _ = dependency(.requirement(Any.self), id: id, of: bean, point, at: origin)
    }
  }

  private mutating func dependency(
    _ parameter: Parameter, id: String? = nil, on found: BeanDirectory.Found? = nil, of bean: PlacedBean,
    _ point: InjectionPoint, at origin: EnvironmentError.Origin? = nil
  ) -> PlacedBean.Dependency? {
    let graph = bean.graph
    do throws(EnvironmentError) {
      let source: Source<DefinedBean> =
        if let found {
          .bean(try self.found(graph.directory.check(found, for: parameter), in: graph))
        } else {
          try resolve(parameter, id: id, from: bean.definition.module, in: graph)
        }
      return PlacedBean.Dependency(parameter: parameter, source: .resolved(source))
    } catch {
      bean.note(error, of: point, at: origin)
      return nil
    }
  }

  // MARK: one dependency

  mutating func resolve(
    _ parameter: Parameter, id: String?, from module: ObjectIdentifier? = nil, in graph: EnvironmentGraph
  ) throws(EnvironmentError) -> Source<DefinedBean> {
    let (directory, hasHints) = (graph.directory, hintsLeft > 0)
    do throws(EnvironmentError) {
      if let id, case .one = parameter.kind {
        let bean = try directory.bean(id, as: parameter, from: module, hasHints: hasHints)
        return .bean(try found(bean, in: graph))
      }
      let search = BeanSearch(
        directory: directory, id: id, module: module, below: graph.belowDirectories, hasHints: hasHints, memory: memory)
      return try search.resolve(parameter).map { bean throws(EnvironmentError) in try found(bean, in: graph) }
    } catch {
      if id != nil { hintsLeft -= 1 }
      throw error
    }
  }

  private mutating func found(
    _ bean: BeanDirectory.Found, in graph: EnvironmentGraph
  ) throws(EnvironmentError) -> DefinedBean {
    if let found = locate(bean, from: graph) { return found }
    throw bean.definition.notOpen
  }

  // MARK: properties

  /// Resolves all properties of a bean. Returns them and the range of their dependencies.
  private mutating func properties(of bean: PlacedBean) -> ([BeanCode.Property], injected: Range<Int>) {
    guard let binding = bean.binding, !(binding.given.isEmpty && binding.injections.isEmpty) else { return ([], 0..<0) }
    var declared: [PropertyAssignment] = []
    for (property, value) in zip(binding.given, binding.properties) {
      checkRequiredIds(in: property.value, of: bean, .property(property.name))
      guard let setter = property.setter, let value, let dependency = resolve(value, of: bean) else { continue }
      declared.append(
        PropertyAssignment(
          code: BeanCode.Property(set: setter.set), dependency: dependency, point: .property(property.name),
          declared: property))
    }
    let injected = resolveInjections(binding.injections, of: bean, &declared)
    let properties = declared.ordered(with: injected)
    return (properties.map(\.code), add(properties, at: \.point) { $1.dependency })
  }

  /// Resolves the injections of the class. The fault of one that the declaration may override is deferred.
  private mutating func resolveInjections(
    _ injections: [(injection: ClassInjection, value: BoundValue?)], of bean: PlacedBean,
    _ declared: inout [PropertyAssignment]
  ) -> [PropertyAssignment] {
    injections.compactMap { injection, value in
      guard injection.stopgap != nil, declared.contains(where: { $0.mayBe(injection) }) else {
        return property(for: injection, value, of: bean)
      }
      let (faults, refusal) = (bean.faults, bean.refusal)
      bean.refusal = nil
      let property = property(for: injection, value, of: bean)
      let fault = if bean.faults.count > faults.count { bean.faults.last } else { bean.refusal?.value }
      // The fault is irrelevant if the declaration sets the property, which is only known when the key paths have been
      // set.
      (bean.faults, bean.refusal) = (faults, refusal)
      if let fault { declared.deferFault(fault, of: injection) }
      return property
    }
  }

  private mutating func property(
    for injection: ClassInjection, _ value: BoundValue?, of bean: PlacedBean
  ) -> PropertyAssignment? {
    let (parameter, point) = (injection.setter.parameter, injection.point)
    var code = BeanCode.Property(set: injection.setter.set)
    var found: PlacedBean.Dependency?
    switch injection.source {
    case .bean(let id): found = dependency(parameter, id: id, of: bean, point)
    case .named(let id):
      guard hasCandidateWithId(for: parameter, bean.graph) else {
        bean.noteMissingIds(for: injection)
        return nil
      }
      code.named = (id, parameter, "\(point)")
    case .configuration: found = value.map { PlacedBean.Dependency(parameter: parameter, source: .value($0)) }
    case .custom(let request):
      guard bean.graph.directory.visibleTraits.contains(.injection) else {
        bean.noteUnserved(request, at: point)
        return nil
      }
      found = PlacedBean.Dependency(parameter: parameter, source: .injection(request, injection.property))
    }
    if found == nil, code.named == nil { return nil }
    return PropertyAssignment(code: code, dependency: found, point: point)
  }

  private func hasCandidateWithId(for parameter: Parameter, _ graph: EnvironmentGraph) -> Bool {
    // A provider may reach into scopes that open later.
    if case .provider = parameter.kind { return true }
    return graph.directory.levels(with: parameter.element, memory).contains { directory, numbers in
      numbers.contains { directory.beans[Int($0)].id != nil }
    }
  }
}
