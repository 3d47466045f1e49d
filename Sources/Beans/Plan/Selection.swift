import BeansReflection

/// What answers a parameter, as seen from one environment. Startup and lookups that nobody foresaw select by one rule.
enum Selection {
  /// What no bean is looked for.
  case computed(Computation, Reading)
  case bean(BeanDirectory.Found)
  /// Those of the nearest environment first, then in order of definition.
  case all([BeanDirectory.Found])
}

extension BeanDirectory {
  /// What answers a parameter.
  ///
  /// - Parameters:
  ///   - parameter: what is asked for.
  ///   - id: the id of the bean that is meant, if one is.
  ///   - below: the beans of factories' children, which a provider may reach.
  ///   - hasHints: whether an id that is almost one is named: that costs a walk over all ids.
  ///   - candidates: beans of a directory that can be used as a type.
  func select(
    _ parameter: Parameter, id: String?, below: [BeanDirectory], hasHints: Bool = true,
    _ candidates: (BeanDirectory, Any.Type) -> [Int32] = { $0.candidates(for: $1) }
  ) throws(EnvironmentError) -> Selection {
    switch parameter.kind {
    case .invalid(let reason): throw EnvironmentError(.invalidDeclaration, reason, path: ["\(parameter.element)"])
    case .environment: return .computed(.environment, .reference)
    // An optional of it is delivered as it is.
    case .configuration: return .computed(.configuration, .reference)
    case .seed: throw parameter.misplacedSeed
    case .provider(let provided):
      try check(provided: provided, id: id, below)
      return .computed(.provider(parameter, id: id), .boxed)
    case .one, .optional, .all: break
    }
    if let id { return .bean(try check(try bean(id: id, hasHints: hasHints), for: parameter)) }
    if parameter.mayBeSeed, let seed = seed(of: parameter.wanted) { return .bean(seed) }
    if case .all = parameter.kind { return .all(all(parameter.element, candidates)) }
    if let bean = try select(parameter.element, { candidates($0, parameter.element) }) {
      return .bean(try check(bean, for: parameter))
    }
    if case .optional = parameter.kind {
      return .computed(.absent(parameter), parameter.isReference ? .reference : .boxed)
    }
    let holders = below.filter { !$0.candidates(for: parameter.element).isEmpty }.map { "'\($0.name)'" }
    let elsewhere =
      holders.isEmpty ? "" : "; children of scope \(holders.joined(separator: ", ")) have one, use a Provider"
    throw EnvironmentError(
      .unknownBean, "no bean of type \(parameter.element) can be seen from '\(name)'\(elsewhere)",
      path: ["\(parameter.element)"])
  }

  private func all(_ type: Any.Type, _ candidates: (BeanDirectory, Any.Type) -> [Int32]) -> [Found] {
    var found: [Found] = []
    for (home, hops) in chain {
      for number in candidates(home, type) {
        let bean = Found(directory: home, number: number, hops: hops)
        if !bean.entry.isSeed, !hides(bean.entry, hops: hops) { found.append(bean) }
      }
    }
    return found
  }

  /// Throws where a bean cannot be used as what the parameter asks for.
  func check(_ bean: Found, for parameter: Parameter) throws(EnvironmentError) -> Found {
    if bean.type == parameter.element { return bean }
    let wanted: Any.Type = bean.entry.isSeed ? parameter.wanted : parameter.element
    if TypeRelation.isUsable(bean.entry.type, as: wanted) { return bean }
    throw bean.entry.fault(
      .typeMismatch, "\(bean.entry.label) is a \(bean.entry.type), not a \(parameter.element)")
  }

  /// A provider may reach into scopes that open later, so a candidate anywhere below is good enough.
  private func check(
    provided: Parameter, id: String?, _ below: [BeanDirectory]
  ) throws(EnvironmentError) {
    if let id, find(id: id) == nil, !below.contains(where: { $0.names[id] != nil }) {
      throw EnvironmentError(.unknownBean, "no bean has the id '\(id)'\(hint(forId: id))", path: ["'\(id)'"])
    }
    switch provided.kind {
    case .invalid(let reason): throw EnvironmentError(.invalidDeclaration, reason)
    case .provider(let inner): try check(provided: inner, id: id, below)
    case .seed: throw provided.misplacedSeed
    case .one where id == nil:
      if (chain.map(\.directory) + below).contains(where: { !$0.candidates(for: provided.element).isEmpty }) { return }
      throw EnvironmentError(
        .unknownBean, "no bean of type \(provided.element), neither here nor in a scope below",
        path: ["\(provided.element)"])
    case .one, .environment, .configuration, .optional, .all: break
    }
  }

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

extension Parameter {
  /// Whether it is one bean or several: what an id may name.
  var isOfBeans: Bool {
    switch kind {
    case .one, .optional, .all: true
    case .provider, .environment, .configuration, .seed, .invalid: false
    }
  }

  /// Whether it is no bean's type, so that only a seed can be exactly of it.
  var mayBeSeed: Bool { if case .one = kind { false } else { true } }

  var misplacedSeed: EnvironmentError {
    EnvironmentError(
      .invalidDeclaration,
      "\(wanted) is a seed, which only the factory given to bindFactory(…).to(factory:) can take", path: ["\(wanted)"])
  }
}
