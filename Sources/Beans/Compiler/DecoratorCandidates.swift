import BeansReflection

/// Finds the beans that the decorators of one environment apply to.
struct DecoratorCandidates {
  private let graph: EnvironmentGraph

  init(_ graph: EnvironmentGraph) { self.graph = graph }

  /// A bean to decorate.
  struct Candidate {
    let bean: BeanDefinition
    /// The bean inside the first decorator made here, by its directory, if it is further out, and its number.
    let inner: (home: Unretained<BeanDirectory>?, number: Int32)
    /// The lifetime that a decorator of the bean has.
    let lifetime: Lifetime
  }

  /// Returns the beans that are declared here, in order, then those visible from further out.
  ///
  /// - Parameters:
  ///   - type: the type of the decorator.
  ///   - module: the module of the decorator.
  ///   - beans: the beans declared here, without decorators.
  ///   - ids: the ids declared here, which hide beans further out.
  func candidates(
    for type: Any.Type, from module: ObjectIdentifier?, among beans: [BeanDefinition],
    _ ids: [BeanId: BeanDirectory.Meaning]
  ) -> [Candidate] {
    var found: [Candidate] = []
    for bean in beans where bean.type == type || TypeRelation.isUsable(bean.type, as: type) {
      if bean.isSeed || !bean.isVisible(from: module) { continue }
      found.append(Candidate(bean: bean, inner: (nil, bean.number), lifetime: bean.lifetime))
    }
    guard let outer = graph.outerDirectory else { return found }
    for (directory, hops) in outer.chain {
      for bean in directory.candidates(for: type).map({ directory.beans[Int($0)] }) {
        if bean.isSeed || !bean.isVisible(from: module) || outer.hides(bean, hops: hops) { continue }
        if let id = bean.beanId, ids[id] != nil { continue }
        let outermost = outer.decorated(.init(directory: directory, number: bean.number, hops: hops), as: type)
        let inner = (Unretained(outermost.directory), outermost.number)
        found.append(Candidate(bean: bean, inner: inner, lifetime: lifetime(ofDecorated: bean.lifetime)))
      }
    }
    return found
  }

  /// Returns the lifetime that the decorator of a bean from further out has here.
  private func lifetime(ofDecorated lifetime: Lifetime) -> Lifetime {
    switch lifetime {
    case .prototype: return .prototype
    case .singleton: return graph.usualLifetime
    case .scope(let name):
      let isOpenFurtherOut = graph.outerDirectory?.hops(toScope: name) != nil
      return if isOpenFurtherOut { graph.usualLifetime } else { lifetime }
    }
  }
}
