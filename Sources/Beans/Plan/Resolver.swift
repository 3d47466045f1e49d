import BeansReflection

// The one decision where an argument, a property or the result of a lookup comes from. Startup and lookups take it alike.

extension BeanDirectory {
  /// Returns the source of a parameter, a property or a lookup. Throws if there is none, or several equally good ones.
  ///
  /// - Parameters:
  ///   - parameter: the request.
  ///   - id: the id of the requested bean; nil for a request by type.
  ///   - module: the module of the declaration that has the parameter; beans that are private to it are found.
  ///   - below: the beans of factories' children, which a provider may reach.
  ///   - hasHints: whether to search for a similar id, which costs a walk over all ids.
  ///   - memory: the outward searches of a compilation.
  ///   - locate: returns a bean of this directory, or of one further out, as the environment sees it.
  func resolve<Bean>(
    _ parameter: Parameter, id: String?, from module: ObjectIdentifier? = nil, below: ArraySlice<BeanDirectory>,
    hasHints: Bool = true, _ memory: CandidateMemory? = nil, locate: (Found) throws(EnvironmentError) -> Bean
  ) throws(EnvironmentError) -> Source<Bean> {
    switch parameter.kind {
    case .invalid(let cause, let reason):
      throw EnvironmentError(cause: cause, reason, path: ["\(parameter.element)"])
    case .environment: return .computed(.environment, .reference)
    // An optional configuration is delivered as the configuration itself.
    case .configuration: return .computed(.configuration, .reference)
    case .seed: throw parameter.misplacedSeed
    case .provider(let provided):
      try check(provided: provided, id: id, from: module, below, hasHints: hasHints, memory)
      return .computed(.provider(parameter, id: id, from: hasPrivateBeans(for: module, below) ? module : nil), .boxed)
    case .current(let inner):
      try check(current: inner, from: module, below, memory)
      return .computed(.provider(parameter, id: nil, from: hasPrivateBeans(for: module, below) ? module : nil), .boxed)
    case .lazy(let inner):
      return try resolve(inner, id: id, from: module, below: below, hasHints: hasHints, memory, locate: locate)
    case .one, .optional, .all, .named, .distinct, .owned: break
    }
    return try select(parameter, id: id, from: module, below: below, hasHints: hasHints, memory).map {
      bean throws(EnvironmentError) in
      if parameter.isOwned { try checkOwned(bean) }
      return try locate(bean)
    }
  }

  /// Returns the bean with an id, as a parameter requests it. The part of `resolve` that most dependencies need.
  func bean(
    _ id: String, as parameter: Parameter, from module: ObjectIdentifier?, hasHints: Bool
  ) throws(EnvironmentError) -> Found {
    let found: Found
    do throws(EnvironmentError) { found = try bean(id: id, from: module, hasHints: hasHints) } catch {
      throw error.saying(error.message + hint(forNameless: parameter, from: module))
    }
    return decorated(try check(found, for: parameter, from: module), as: parameter.element)
  }

  /// Throws unless the bean is a prototype: `Owned` requires one, because the environment releases every other bean.
  func checkOwned(_ bean: Found) throws(EnvironmentError) {
    if bean.lifetime == .prototype { return }
    throw bean.definition.misfit(
      .keptBeanOwned,
      "\(bean.definition.label) (\(bean.lifetime.name)) is released by its environment: only a prototype can be Owned")
  }

  /// Throws if the beans of a provider or a `Current` are to be owned, and none that it may find is a prototype. Of a
  /// list, each bean that is visible here has to be one.
  private func checkOwned(
    provided: Parameter, id: String?, from module: ObjectIdentifier?, _ below: ArraySlice<BeanDirectory>,
    _ memory: CandidateMemory?
  ) throws(EnvironmentError) {
    guard provided.isOwned else { return }
    let visible: [Found]
    if let id {
      visible = (try? bean(id: id, from: module, hasHints: false)).map { [$0] } ?? []
    } else {
      let criteria = provided.criteria(from: module)
      let isOfAll = !provided.isOfOneBean
      let near = all(provided.element, criteria, memory)
      visible = isOfAll ? near : near.filter { $0.hops == near.first?.hops }
      if isOfAll, let kept = visible.first(where: { $0.lifetime != .prototype }) { try checkOwned(kept) }
    }
    let inside = below.flatMap { directory in
      directory.candidates(for: provided.element).map { directory.found($0, in: directory) }
    }
    let found = visible + inside
    if let first = found.first, found.allSatisfy({ $0.lifetime != .prototype }) { try checkOwned(first) }
  }

  /// Selects the beans for a parameter: one, or those of the nearest environment first, then in order of definition.
  private func select(
    _ parameter: Parameter, id: String?, from module: ObjectIdentifier?, below: ArraySlice<BeanDirectory>,
    hasHints: Bool, _ memory: CandidateMemory?
  ) throws(EnvironmentError) -> Source<Found> {
    if let id { return .bean(try bean(id, as: parameter, from: module, hasHints: hasHints)) }
    let criteria = parameter.criteria(from: module)
    if parameter.mayBeSeed, let seed = seed(of: parameter.wanted, memory) { return .bean(seed) }
    switch parameter.kind {
    case .all: return .all(all(parameter.element, criteria, memory), ids: [])
    case .named, .distinct:
      if let bean = try select(parameter.wanted, criteria, memory) { return .bean(bean) }
      let visible = all(parameter.element, criteria, memory)
      let isNamed = if case .named = parameter.kind { true } else { false }
      let found = isNamed ? visible.filter { $0.idOfDecorated != nil } : visible
      if !found.isEmpty { return .all(found, ids: isNamed ? found.compactMap(\.idOfDecorated) : []) }
      if let first = visible.first?.definition {
        throw EnvironmentError(
          cause: .noIdOfType,
          "no \(parameter.description) has an id, which would be its key: \(first.label) (\(first.location.origin)) needs one",
          path: ["\(parameter.element)"])
      }
    default:
      if let bean = try select(parameter.element, criteria, memory) {
        return .bean(decorated(try check(bean, for: parameter, from: module), as: parameter.element))
      }
      if case .optional = parameter.kind {
        return .computed(.absent(parameter), parameter.isReference ? .reference : .boxed)
      }
    }
    let (hint, cause) = missing(parameter, from: module, in: below, hasHints: hasHints)
    throw EnvironmentError(
      cause: cause, "no \(parameter.description) can be seen from '\(name)'\(hint)", path: ["\(parameter.element)"])
  }

  private func all(_ type: Any.Type, _ criteria: Criteria, _ memory: CandidateMemory?) -> [Found] {
    var found: [Found] = []
    for (home, numbers) in levels(with: type, memory) {
      let hops = depth - home.depth
      for number in numbers {
        let bean = Found(directory: home, number: number, hops: hops)
        if home.hasPrivateBeans || criteria.qualifier != nil, !bean.definition.meets(criteria) { continue }
        if !bean.definition.isSeed, !hides(bean.definition, hops: hops) { found.append(decorated(bean, as: type)) }
      }
    }
    return found
  }

  /// Returns the bean. Throws if the parameter cannot take it.
  func check(
    _ bean: Found, for parameter: Parameter, from module: ObjectIdentifier? = nil
  ) throws(EnvironmentError) -> Found {
    if let qualifier = parameter.qualifier, !bean.definition.qualifiers.contains(ObjectIdentifier(qualifier)) {
      throw bean.definition.misfit(
        .otherQualifier,
        "\(bean.definition.label) has no qualifier \(qualifier)"
          + hint(forInactive: bean.definition.id, as: parameter, from: module))
    }
    if bean.type == parameter.element { return bean }
    let wanted: Any.Type = bean.definition.isSeed ? parameter.wanted : parameter.element
    if TypeRelation.isUsable(bean.definition.type, as: wanted) { return bean }
    throw bean.definition.misfit(
      .typeMismatch,
      "\(bean.definition.label) is a \(TypeMismatch(bean.definition.type, parameter.element))"
        + hint(forInactive: bean.definition.id, as: parameter, from: module))
  }

  private func hasPrivateBeans(for module: ObjectIdentifier?, _ below: ArraySlice<BeanDirectory>) -> Bool {
    module != nil && (seesPrivateBeans || below.contains(where: \.hasPrivateBeans))
  }

  /// Throws unless some child can have the bean: a child declares it, or it is declared here or further out for the
  /// scope of a child.
  private func check(
    current inner: Parameter, from module: ObjectIdentifier?, _ below: ArraySlice<BeanDirectory>,
    _ memory: CandidateMemory?
  ) throws(EnvironmentError) {
    if case .invalid(let cause, let reason) = inner.kind { throw EnvironmentError(cause: cause, reason) }
    if case .seed = inner.kind { throw inner.misplacedSeed }
    try checkOwned(provided: inner, id: nil, from: module, below, memory)
    let criteria = inner.criteria(from: module)
    if below.contains(where: { $0.hasCandidate(for: inner.element, criteria) }) { return }
    let isForChildren = levels(with: inner.element, memory).contains { directory, numbers in
      numbers.map { directory.beans[Int($0)] }.contains { bean in
        if case .scope = bean.lifetime { bean.meets(criteria) } else { false }
      }
    }
    if isForChildren { return }
    let hint = hint(forInactive: inner.element, criteria, below: below)
    throw EnvironmentError(
      cause: hint.isEmpty ? .noneOfChild : .inactiveBean,
      "no child of '\(name)' has a \(inner.description) of its own\(hint)", path: ["\(inner.element)"])
  }

  /// Throws unless a provider can find the bean. A provider may reach scopes that open later, so a candidate anywhere
  /// below is sufficient.
  private func check(
    provided: Parameter, id: String?, from module: ObjectIdentifier?, _ below: ArraySlice<BeanDirectory>,
    hasHints: Bool, _ memory: CandidateMemory?
  ) throws(EnvironmentError) {
    if let id, find(id: id, from: module) == nil, !below.contains(where: { $0.ids[BeanId(id)] != nil }) {
      throw unknownId(id, hint(forInactive: id, from: module, below: below))
    }
    try checkOwned(provided: provided, id: id, from: module, below, memory)
    switch provided.kind {
    case .invalid(let cause, let reason): throw EnvironmentError(cause: cause, reason)
    case .provider(let inner): try check(provided: inner, id: id, from: module, below, hasHints: hasHints, memory)
    case .seed: throw provided.misplacedSeed
    case .one where id == nil:
      let criteria = provided.criteria(from: module)
      let isSeen = levels(with: provided.element, memory).contains { directory, numbers in
        numbers.contains { directory.beans[Int($0)].meets(criteria) }
      }
      if isSeen || below.contains(where: { $0.hasCandidate(for: provided.element, criteria) }) { return }
      let (hint, cause) = missing(provided, from: module, in: below, hasHints: hasHints)
      throw EnvironmentError(
        cause: cause, "no \(provided.description), neither here nor in a scope below\(hint)",
        path: ["\(provided.element)"])
    case .current(let inner): try check(current: inner, from: module, below, memory)
    case .lazy(let inner), .owned(let inner):
      try check(provided: inner, id: id, from: module, below, hasHints: hasHints, memory)
    case .one, .environment, .configuration, .optional, .all, .named, .distinct: break
    }
  }

  func hasCandidate(for type: Any.Type, _ criteria: Criteria) -> Bool {
    candidates(for: type).contains { beans[Int($0)].meets(criteria) }
  }

  /// Returns the seed of exactly that type.
  func seed(of type: Any.Type, _ memory: CandidateMemory?) -> Found? {
    for (directory, numbers) in levels(with: type, memory) where numbers.first == 0 {
      let first = directory.beans[0]
      if first.isSeed, first.type == type { return found(0, in: directory) }
    }
    return nil
  }
}

extension BeanDirectory.Found {
  /// The id of the bean; for a decorator, the id of its decorated bean.
  var idOfDecorated: String? { definition.decorated.map(\.id) ?? definition.id }
}

extension BeanDefinition {
  /// A fault of a lookup or of a taker that the bean does not fit. It has the origin of that one: the declaration of the
  /// bean, which is correct, is on its path.
  func misfit(_ cause: FaultCause, _ message: String) -> EnvironmentError {
    EnvironmentError(
      cause: cause, "\(message); it is declared at \(location.origin)", steps: [step], origin: nil)
  }

  var notOpen: EnvironmentError {
    var error = fault(.scopeNotActive, Lifetime.notOpen(lifetime.name, label))
    error.scope = lifetime.name
    return error
  }
}

extension Parameter {
  func criteria(from module: ObjectIdentifier?) -> BeanDirectory.Criteria {
    BeanDirectory.Criteria(module: module, tag: qualifier)
  }

  var isLazy: Bool { if case .lazy = kind { true } else { false } }
  /// The name of the missing bean in faults.
  var description: String { "bean of type \(element)" + (qualifier.map { " with qualifier \($0)" } ?? "") }

  /// Whether the type is not a bean's, so that only a seed can have exactly this type.
  var mayBeSeed: Bool { if case .one = kind { false } else { true } }

  var misplacedSeed: EnvironmentError {
    EnvironmentError(
      cause: .misplacedSeed,
      "\(wanted) is a seed, which only the factory given to bindFactory(…).to(factory:) can take", path: ["\(wanted)"])
  }
}
