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
  /// What was declared further out, nearest first.
  let outer: [DeclaredBeans]
  /// Whether each bean is spoken of in the log.
  let isTraced: Bool
  /// What a test puts in the place of declarations.
  let overrides: BeanOverrides?
  /// Whether a test is told of the end of each bean.
  let isObserved: Bool
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
  /// What the children of factories declare, at any depth.
  private(set) var below: [DeclaredBeans] = []
  /// By the number of their entries.
  private(set) var beans: [Int32: Kept] = [:]

  /// What a definition is made of anew.
  struct Kept {
    let spec: BeanSpec
    let factory: FactoryFunction
    /// The entry of the factory bean that makes it.
    let maker: Int32?
    let decorated: ValueBox<BeanDirectory.Decorated>?
  }

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

  /// Keeps what environments further in compile anew: beans that do not live as long as what declares them.
  ///
  /// - Parameters:
  ///   - definitions: what is declared here.
  ///   - usual: the lifetime of what declares them.
  ///   - below: what the children of factories declare, at any depth.
  func keep(_ definitions: [BeanDefinition], usual: Lifetime, below: [DeclaredBeans] = []) {
    // Compared with a constant where that does: names cost more, and there are many definitions.
    let isSingleton = usual == .singleton
    for definition in definitions
    where isSingleton ? definition.lifetime != .singleton : definition.lifetime != usual {
      beans[definition.entry] = Kept(
        spec: definition.spec, factory: definition.factory, maker: definition.maker?.entry,
        decorated: definition.decorated)
    }
    self.below = below
  }
}
