/// The definitions that one compilation makes anew for beans of environments that have started.
struct InheritedDefinitions {
  /// The declarations of these environments, nearest first.
  private let outer: [DeclaredBeans]
  private var made = [Plan.EntryKey: BeanDefinition]()

  init(_ outer: [DeclaredBeans]) { self.outer = outer }

  /// The definitions made so far.
  var all: some Collection<BeanDefinition> { made.values }

  /// Returns the definition of a bean, the same one each time; nil if the bean's environment is not among `outer`.
  mutating func definition(of bean: BeanDirectory.Found) -> BeanDefinition? {
    let key = Plan.EntryKey(bean.directory, bean.number)
    if let known = made[key] { return known }
    guard let level = outer.first(where: { $0.directory === bean.directory }),
      let kept = level.beans[bean.number]
    else { return nil }
    let (spec, factory) = (kept.spec, kept.factory)
    let factoryBean = kept.maker.map { number in
      let type = factory.parameters[0].wanted
      return BeanDefinition(
        FrozenSpec(BeanSpec(type: type, location: spec.location)), type: type, lifetime: .singleton, factory: factory,
        entry: number, home: Unretained(level))
    }
    let definition = BeanDefinition(
      spec, type: bean.type, lifetime: bean.lifetime, factory: factory, entry: bean.number, maker: factoryBean,
      decorated: kept.decorated, home: Unretained(level))
    // The bean's own environment has reported the faults when it started.
    _ = definition.bindProperties()
    definition.collectValues()
    made[key] = definition
    return definition
  }
}
