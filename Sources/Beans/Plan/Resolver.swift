import BeansReflection

/// The one decision where an argument, a property or the result of a lookup comes from. Startup and lookups take it alike.
struct BeanSearch {
  /// The beans that can be seen.
  let directory: BeanDirectory
  /// The id of the requested bean; nil for a request by type.
  let id: String?
  /// The module of the declaration that requests the bean; beans that are private to it are found.
  var module: ObjectIdentifier?
  /// The beans of factories' children, which a provider may reach.
  let below: ArraySlice<BeanDirectory>
  /// Whether to search for a similar id, which costs a walk over all ids.
  var hasHints = true
  /// The outward searches of a compilation.
  var memory: CandidateMemory?

  /// Returns the source of a parameter, a property or a lookup. Throws if there is none, or several equally good ones.
  func resolve(_ parameter: Parameter) throws(EnvironmentError) -> Source<BeanDirectory.Found> {
    switch parameter.kind {
    case .invalid(let cause, let reason):
      throw EnvironmentError(cause: cause, reason, path: ["\(parameter.element)"])
    // An optional part is delivered as the part itself.
    case .part(let part): return .computed(.part(part), .reference)
    case .seed: throw parameter.misplacedSeed
    case .provider(let provided):
      try check(provided: provided)
      return .computed(.provider(parameter, id: id, from: moduleOfProvider), .boxed)
    case .current(let inner):
      try check(current: inner)
      return .computed(.provider(parameter, id: nil, from: moduleOfProvider), .boxed)
    case .lazy(let inner): return try resolve(inner)
    case .one, .optional, .all, .named, .distinct, .owned: break
    }
    let found = try select(parameter)
    if parameter.isOwned { _ = try found.map(checkOwned) }
    return found
  }

  /// Throws unless the bean is a prototype: `Owned` requires one, because the environment releases every other bean.
  private func checkOwned(_ bean: BeanDirectory.Found) throws(EnvironmentError) {
    let definition = bean.definition
    if definition.lifetime == .prototype { return }
    throw definition.misfit(
      .keptBeanOwned,
      "\(definition.label) (\(definition.lifetime.name)) is released by its environment: only a prototype can be Owned")
  }

  /// Throws if the beans of a provider or a `Current` are to be owned, and none that it may find is a prototype. Of a
  /// list, each bean that is visible here has to be one.
  private func checkOwned(provided: Parameter, id: String?) throws(EnvironmentError) {
    guard provided.isOwned else { return }
    let visible: [BeanDirectory.Found]
    if let id {
      visible = (try? directory.bean(id: id, from: module, hasHints: false)).map { [$0] } ?? []
    } else {
      let isOfAll = !provided.isOfOneBean
      let near = all(provided)
      visible = if isOfAll { near } else { near.filter { $0.hops == near.first?.hops } }
      if isOfAll, let kept = visible.first(where: { $0.lifetime != .prototype }) { try checkOwned(kept) }
    }
    let inside = below.flatMap { directory in
      directory.candidates(for: provided.element).map { directory.found($0, in: directory) }
    }
    let found = visible + inside
    if let first = found.first, found.allSatisfy({ $0.lifetime != .prototype }) { try checkOwned(first) }
  }

  /// Selects the beans for a parameter: one, or those of the nearest environment first, then in order of definition.
  private func select(_ parameter: Parameter) throws(EnvironmentError) -> Source<BeanDirectory.Found> {
    if let id { return .bean(try directory.bean(id, as: parameter, from: module, hasHints: hasHints)) }
    let criteria = parameter.criteria(from: module)
    if parameter.mayBeSeed, let seed = directory.seed(of: parameter.wanted, memory) { return .bean(seed) }
    switch parameter.kind {
    case .all: return .all(all(parameter), ids: [])
    case .named, .distinct:
      if let bean = try directory.select(parameter.wanted, criteria, memory) { return .bean(bean) }
      let visible = all(parameter)
      if case .distinct = parameter.kind, !visible.isEmpty { return .all(visible, ids: []) }
      let named = visible.filter { $0.idOfDecorated != nil }
      if !named.isEmpty { return .all(named, ids: named.compactMap(\.idOfDecorated)) }
      if let first = visible.first?.definition {
        throw EnvironmentError(
          cause: .noIdOfType,
          "no \(parameter.description) has an id, which would be its key: \(first.label) (\(first.location.origin)) needs one",
          path: ["\(parameter.element)"])
      }
    default:
      if let bean = try directory.select(parameter.element, criteria, memory) {
        return .bean(
          directory.decorated(try directory.check(bean, for: parameter, from: module), as: parameter.element))
      }
      if case .optional = parameter.kind {
        return .computed(.absent(parameter), parameter.isReference ? .reference : .boxed)
      }
    }
    throw missing(parameter, " can be seen from '\(directory.name)'")
  }

  private func missing(_ parameter: Parameter, _ place: String) -> EnvironmentError {
    let (hint, cause) = directory.missing(parameter, from: module, in: below, hasHints: hasHints)
    return EnvironmentError(
      cause: cause, "no \(parameter.description)\(place)\(hint)", path: ["\(parameter.element)"])
  }

  private func all(_ parameter: Parameter) -> [BeanDirectory.Found] {
    let (type, criteria) = (parameter.element, parameter.criteria(from: module))
    var found: [BeanDirectory.Found] = []
    for (home, numbers) in directory.levels(with: type, memory) {
      let hops = directory.depth - home.depth
      for number in numbers {
        let bean = home.beans[Int(number)]
        if home.hasPrivateBeans || criteria.qualifier != nil, !bean.meets(criteria) { continue }
        if bean.isSeed || directory.hides(bean, hops: hops) { continue }
        found.append(directory.decorated(.init(directory: home, number: number, hops: hops), as: type))
      }
    }
    return found
  }

  /// The module whose private beans a provider finds; nil if there are none.
  private var moduleOfProvider: ObjectIdentifier? {
    if module == nil { return nil }
    let levels = directory.chain.map(\.directory) + below
    return if levels.contains(where: \.hasPrivateBeans) { module } else { nil }
  }

  /// Throws unless some child can have the bean: a child declares it, or it is declared here or further out for the
  /// scope of a child.
  private func check(current inner: Parameter) throws(EnvironmentError) {
    if case .invalid(let cause, let reason) = inner.kind { throw EnvironmentError(cause: cause, reason) }
    if case .seed = inner.kind { throw inner.misplacedSeed }
    try checkOwned(provided: inner, id: nil)
    let criteria = inner.criteria(from: module)
    let isForChildren = { (bean: BeanDefinition) in if case .scope = bean.lifetime { true } else { false } }
    if hasBelow(inner) || isVisible(inner, where: isForChildren) { return }
    let hint = directory.hint(below: below) { $0.answers(to: inner.element, criteria) }
    throw EnvironmentError(
      cause: hint.isEmpty ? .noneOfChild : .inactiveBean,
      "no child of '\(directory.name)' has a \(inner.description) of its own\(hint)", path: ["\(inner.element)"])
  }

  /// Throws unless a provider can find the bean. A provider may reach scopes that open later, so a candidate anywhere
  /// below is sufficient.
  private func check(provided: Parameter) throws(EnvironmentError) {
    if let id, directory.find(id: id, from: module) == nil, !below.contains(where: { $0.ids[BeanId(id)] != nil }) {
      throw directory.unknownId(id, directory.hint(below: below) { $0.hasId(id, from: module) })
    }
    try checkOwned(provided: provided, id: id)
    switch provided.kind {
    case .invalid(let cause, let reason): throw EnvironmentError(cause: cause, reason)
    case .provider(let inner): try check(provided: inner)
    case .seed: throw provided.misplacedSeed
    case .one where id == nil:
      if isVisible(provided, where: { _ in true }) || hasBelow(provided) { return }
      throw missing(provided, ", neither here nor in a scope below")
    case .current(let inner): try check(current: inner)
    case .lazy(let inner), .owned(let inner): try check(provided: inner)
    case .one, .part, .optional, .all, .named, .distinct: break
    }
  }

  /// Whether a bean that can be seen meets the parameter and the condition.
  private func isVisible(_ parameter: Parameter, where holds: (BeanDefinition) -> Bool) -> Bool {
    let criteria = parameter.criteria(from: module)
    return directory.levels(with: parameter.element, memory).contains { home, numbers in
      numbers.map { home.beans[Int($0)] }.contains { holds($0) && $0.meets(criteria) }
    }
  }

  private func hasBelow(_ parameter: Parameter) -> Bool {
    let criteria = parameter.criteria(from: module)
    return below.contains { $0.hasCandidate(for: parameter.element, criteria) }
  }

  /// Returns the first directory of factories' children that has the bean of a lookup, which no other directory has.
  func holderBelow(_ parameter: Parameter) -> BeanDirectory? {
    if let id, directory.find(id: id, from: module) != nil { return nil }
    if let id { return below.first { $0.has(id: id, from: module) } }
    let criteria = parameter.criteria(from: module)
    return below.first { $0.hasCandidate(for: parameter.element, criteria) }
  }
}

extension BeanDirectory {
  /// Returns the bean with an id, as a parameter requests it. The part of a search that most dependencies need.
  func bean(
    _ id: String, as parameter: Parameter, from module: ObjectIdentifier?, hasHints: Bool
  ) throws(EnvironmentError) -> Found {
    let found: Found
    do throws(EnvironmentError) { found = try bean(id: id, from: module, hasHints: hasHints) } catch {
      throw error.saying(error.message + hint(forNameless: parameter, from: module))
    }
    return decorated(try check(found, for: parameter, from: module), as: parameter.element)
  }

  /// Returns the bean. Throws if the parameter cannot take it.
  func check(
    _ bean: Found, for parameter: Parameter, from module: ObjectIdentifier? = nil
  ) throws(EnvironmentError) -> Found {
    // Most beans have just the type.
    if parameter.qualifier == nil, bean.type == parameter.element { return bean }
    let definition = bean.definition
    if let qualifier = parameter.qualifier, !definition.qualifiers.contains(ObjectIdentifier(qualifier)) {
      throw definition.misfit(
        .otherQualifier,
        "\(definition.label) has no qualifier \(qualifier)"
          + hint(forInactive: definition.id, as: parameter, from: module))
    }
    if definition.type == parameter.element { return bean }
    let wanted: Any.Type = if definition.isSeed { parameter.wanted } else { parameter.element }
    if TypeRelation.isUsable(definition.type, as: wanted) { return bean }
    throw definition.misfit(
      .typeMismatch,
      "\(definition.label) is a \(TypeMismatch(definition.type, parameter.element))"
        + hint(forInactive: definition.id, as: parameter, from: module))
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
  var idOfDecorated: String? { definition.decorated.map { $0.bean?.id } ?? definition.id }
}

extension BeanDefinition {
  /// A fault of a lookup or of a taker that the bean does not fit. It has the origin of that one: the declaration of the
  /// bean, which is correct, is on its path.
  func misfit(_ cause: FaultCause, _ message: String) -> EnvironmentError {
    EnvironmentError(
      cause: cause, "\(message); it is declared at \(location.origin)", steps: [step], origin: nil)
  }

  var notOpen: EnvironmentError {
    fault(.scopeNotActive, Lifetime.notOpen(lifetime.name, label)).with { $0.scope = lifetime.name }
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
