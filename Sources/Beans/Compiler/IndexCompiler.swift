import BeansReflection

/// Compiles the index of all expected lookups: by class, by declared type, by id, and by the parameters that beans have.
struct IndexCompiler {
  private let graph: EnvironmentGraph
  private var resolver: DependencyResolver

  /// The maximum number of levels further out at which the index contains the ids of a factory's children.
  private static let farthest = 16

  init(_ graph: EnvironmentGraph, _ resolver: DependencyResolver) { (self.graph, self.resolver) = (graph, resolver) }

  /// Returns the index.
  ///
  /// - Parameter compiler: the compiler of the plan's operands.
  mutating func compile(_ compiler: inout OperandCompiler) -> LookupIndex {
    graph.chosen = chooseBeans()
    var seen: Set<ObjectIdentifier> = []
    var types: [(type: ObjectIdentifier, operand: Operand)] = []
    for (type, bean) in graph.chosen {
      let bean = bean.map { graph.directory.decorated($0, as: type) }
      // A bean of a class is read as a protocol by the layout of a parameter.
      if let bean, bean.type != type, TypeRelation.isExistential(type) { continue }
      seen.insert(ObjectIdentifier(type))
      guard let bean, let operand = operand(of: bean, &compiler) else { continue }
      types.append((ObjectIdentifier(type), operand))
    }
    for parameter in resolver.parameters where seen.insert(ObjectIdentifier(parameter.wanted)).inserted {
      guard let source = try? resolver.resolve(parameter, id: nil, in: graph) else { continue }
      types.append((ObjectIdentifier(parameter.wanted), compiler.operand(source, for: parameter)))
    }
    return LookupIndex(types: types, named: namedOperands(&compiler))
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
    let levels = if graph.parent == nil { Int.max } else { 1 }
    for (home, _) in directory.chain.prefix(levels) {
      for type in home.types where seen.insert(ObjectIdentifier(type)).inserted { choose(type) }
    }
    for (type, bean) in graph.parent?.chosen ?? [] where seen.insert(ObjectIdentifier(type)).inserted {
      if directory.ids.isEmpty, directory.candidates(for: type).isEmpty {
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
  private mutating func namedOperands(
    _ compiler: inout OperandCompiler
  ) -> [(type: ObjectIdentifier, id: String, operand: Operand)] {
    let directory = graph.directory
    var named: [(type: ObjectIdentifier, id: String, operand: Operand)] = []
    named.reserveCapacity(directory.ids.count)
    // Graphs further in start from this list.
    let isKept = !graph.children.isEmpty
    var kept: [(id: String, bean: BeanDirectory.Found)] = []
    // Beans of one type are often declared in sequence.
    var (last, types): (Any.Type?, [Any.Type]) = (nil, [])
    // Functions that are called directly, not closures: a closure's writes would run a dynamic exclusivity check each
    // time.
    func superclasses(of type: Any.Type) -> [Any.Type] { Array(ClassHierarchy.classes(of: type).dropFirst()) }
    func add(_ id: String, _ bean: BeanDirectory.Found) {
      if isKept { kept.append((id, bean)) }
      let type = bean.type
      if type != last { (last, types) = (type, [type] + superclasses(of: type)) }
      // Decorators may wrap the bean behind some of these types.
      for type in types {
        guard let operand = operand(of: directory.decorated(bean, as: type), &compiler) else { continue }
        named.append((ObjectIdentifier(type), id, operand))
      }
    }
    func addBeans(of home: BeanDirectory, _ hops: Int) {
      let hasPrivateBeans = home.hasPrivateBeans
      for bean in home.beans {
        guard let id = bean.id, !hasPrivateBeans || bean.privateTo == nil,
          hops == 0 || !directory.isTaken(BeanId(id), before: hops)
        else { continue }
        add(id, BeanDirectory.Found(directory: home, number: bean.number, hops: hops))
      }
      for alias in home.aliases where hops == 0 || !directory.isTaken(BeanId(alias), before: hops) {
        if let bean = try? directory.bean(id: alias) { add(alias, bean) }
      }
    }
    if let outer = graph.parent {
      addBeans(of: directory, 0)
      for (id, bean) in outer.named where directory.ids[BeanId(id)] == nil && !isFar(bean.directory, bean.hops + 1) {
        add(id, bean.further)
      }
    } else {
      for (home, hops) in directory.chain where !isFar(home, hops) { addBeans(of: home, hops) }
    }
    graph.named = kept
    return named
  }

  /// Returns the operand for a lookup of a bean by one of its classes, or by its own type: an instance of a class is
  /// read directly, any other value from its box. Returns nil if the bean's scope is not open here.
  private mutating func operand(of bean: BeanDirectory.Found, _ compiler: inout OperandCompiler) -> Operand? {
    let reading: Reading = if bean.definition.isClass { .reference } else { .boxed }
    return resolver.locate(bean, from: graph).map { compiler.operand($0, reading) }
  }
}
