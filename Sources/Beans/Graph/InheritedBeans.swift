import BeansConfiguration

/// What a compilation begins with.
struct CompilerInput {
  /// The plan of the environment further out, which has started.
  let parent: Plan?
  /// The slots of the one environment of a plan; nil for plans of factories.
  let slots: (Plan) -> Slots?
  /// Names of scopes that users have registered in the environment itself, and further out.
  let scopeNames: [String]
  let outerScopes: [String]
  /// What was declared further out.
  let inherited: InheritedBeans
  /// Whether each bean is spoken of in the log.
  let isTraced: Bool
  /// Whether values may be missing when the first beans are built.
  var hasSources = false
  /// What beans ask for, here and further out.
  var parameters: [Parameter] = []
}

/// What one environment declares, for those further in that inherit from it.
struct DeclaredSpecs {
  let names: [String: BeanDirectory.Name]
  let specs: [BeanSpec]

  /// The declaration with an id, or of which that is an alias; `outer` are those further out.
  func find(_ id: String, _ outer: ArraySlice<DeclaredSpecs>) -> BeanSpec? {
    guard let name = names[id] else { return nil }
    if let target = name.details?.outer { return outer.lazy.compactMap { $0.find(target, outer.dropFirst()) }.first }
    return name.position < 0 ? nil : specs[Int(name.position)]
  }
}

/// What an environment that has started keeps of its declarations for those further in: templates, and beans that are
/// compiled anew for each environment that asks.
final class DeclaredBeans {
  /// Declarations by id.
  let specs: DeclaredSpecs
  /// By the number of their entries.
  fileprivate let beans: [Int32: (spec: BeanSpec, factory: FactoryFunction, maker: Int32?)]
  let directory: BeanDirectory
  let configuration: ConfigurationManager

  init(_ graph: EnvironmentGraph) {
    specs = graph.specs
    directory = graph.directory
    configuration = graph.declarations.configuration
    var beans: [Int32: (BeanSpec, FactoryFunction, Int32?)] = [:]
    for definition in graph.definitions where definition.lifetime != .singleton {
      beans[definition.entry] = (definition.spec, definition.factory, definition.maker?.entry)
    }
    self.beans = beans
  }
}

/// The declarations of all environments further out that have started, nearest first.
final class InheritedBeans {
  let levels: [DeclaredBeans]
  private var definitions: [Plan.EntryKey: BeanDefinition] = [:]

  init(_ levels: [DeclaredBeans]) { self.levels = levels }

  /// Those that were made anew.
  var made: [BeanDefinition] { Array(definitions.values) }

  /// A definition made anew for a bean that was declared further out.
  func definition(of bean: BeanDirectory.Found) -> BeanDefinition? {
    let key = Plan.EntryKey(bean.directory, bean.number)
    if let known = definitions[key] { return known }
    guard let level = levels.first(where: { $0.directory === bean.directory }),
      let (spec, factory, maker) = level.beans[bean.number]
    else { return nil }
    let factoryBean = maker.map { number in
      BeanDefinition(
        BeanSpec(type: factory.parameters[0].wanted, id: nil, location: spec.location),
        type: factory.parameters[0].wanted, lifetime: .singleton, factory: factory, entry: number,
        home: .started(level))
    }
    let made = BeanDefinition(
      spec, type: bean.entry.type, lifetime: bean.entry.lifetime, factory: factory, entry: bean.number,
      maker: factoryBean, home: .started(level))
    // Found without a fault when its own environment started.
    _ = made.bindProperties()
    made.collectValues()
    definitions[key] = made
    return made
  }
}
