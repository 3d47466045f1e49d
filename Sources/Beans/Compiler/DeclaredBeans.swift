import BeansConfiguration

/// The input of a compilation.
struct CompilerInput {
  /// The environment that is compiled, together with the children of its factories.
  let home: Unretained<Environment>
  /// The plan of the environment further out, which has started.
  let parent: Plan?
  /// Returns the slots of the only environment of a plan; nil for the plan of a factory.
  let slots: (Plan) -> Slots?
  /// The names of scopes that users have registered in the environment itself; `outerScopes` has those from further
  /// out.
  let scopeNames: [String]
  let outerScopes: [String]
  /// The declarations of environments further out, nearest first.
  let outer: [DeclaredBeans]
  /// Whether the log records each bean.
  let isTraced: Bool
  /// The replacements that a hook makes in the declarations.
  let overrides: BeanOverrides?
  /// Whether a hook observes the release of each bean.
  let isObserved: Bool
  /// Whether the injection points of dependencies are kept, for graphs.
  var keepsPoints = false
  /// Whether values may be missing when the first beans are built.
  var hasSources = false
  /// The parameters that beans have, here and further out.
  var parameters: [Parameter] = []
}

/// The declarations of one environment, or of all children of one factory. A started environment retains them for
/// environments further in, which inherit templates and compile some beans anew.
final class DeclaredBeans {
  /// The declarations and those embedded in them, in order.
  private(set) var specs: [FrozenSpec] = []
  let configuration: ConfigurationManager
  private var frozen: BeanDirectory?
  /// The declarations of the children of factories, at any depth.
  private(set) var below: [DeclaredBeans] = []
  /// The beans that environments further in compile anew, by entry.
  private(set) var beans = [Int32: Kept]()

  /// The parts from which a definition is made anew.
  struct Kept {
    let spec: FrozenSpec
    let factory: FactoryFunction
    /// The entry of the factory bean that makes the bean.
    let maker: Int32?
    let decorated: ValueBox<BeanDirectory.Decorated>?
  }

  init(_ configuration: ConfigurationManager) { self.configuration = configuration }

  var directory: BeanDirectory {
    // `freeze(_:_:)` runs before the first access.
    guard let frozen else { preconditionFailure("beans are asked for before they are known") }
    return frozen
  }

  /// Stores the result of reading the declarations. Nothing is added later.
  func freeze(_ directory: BeanDirectory, _ specs: [FrozenSpec]) {
    frozen = directory
    self.specs = specs
  }

  /// Keeps the beans that environments further in compile anew: those with another lifetime than the environment that
  /// declares them.
  ///
  /// - Parameters:
  ///   - definitions: the beans declared here.
  ///   - usual: the lifetime of beans that name no scope.
  ///   - below: the declarations of the children of factories, at any depth.
  func keep(_ definitions: [BeanDefinition], usual: Lifetime, below: [DeclaredBeans] = []) {
    // A comparison with a constant is cheaper than one of names, and there are many definitions.
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
