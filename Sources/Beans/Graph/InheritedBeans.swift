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

/// What one environment, or all children of one factory, declares. An environment that has started keeps it for those
/// further in: templates, and beans that are compiled anew for each environment that asks.
final class DeclaredBeans {
  /// Declarations and those that stand in them, in order.
  private(set) var specs: [BeanSpec] = []
  let configuration: ConfigurationManager
  private var frozen: BeanDirectory?
  /// By the number of their entries.
  fileprivate var beans: [Int32: (spec: BeanSpec, factory: FactoryFunction, maker: Int32?)] = [:]

  init(_ configuration: ConfigurationManager) { self.configuration = configuration }

  var directory: BeanDirectory {
    // Set before anything asks for it.
    guard let frozen else { preconditionFailure("beans are asked for before they are known") }
    return frozen
  }

  /// What has been read; nothing is added later.
  func freeze(_ directory: BeanDirectory, _ specs: [BeanSpec]) {
    frozen = directory
    self.specs = specs
  }

  /// Keeps what environments further in compile anew.
  func keep(_ definitions: [BeanDefinition]) {
    for definition in definitions where definition.lifetime != .singleton {
      beans[definition.entry] = (definition.spec, definition.factory, definition.maker?.entry)
    }
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
        home: Unretained(level))
    }
    let made = BeanDefinition(
      spec, type: bean.entry.type, lifetime: bean.entry.lifetime, factory: factory, entry: bean.number,
      maker: factoryBean, home: Unretained(level))
    // Found without a fault when its own environment started.
    _ = made.bindProperties()
    made.collectValues()
    definitions[key] = made
    return made
  }
}
