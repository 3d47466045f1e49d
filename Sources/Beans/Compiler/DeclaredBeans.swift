import BeansConfiguration

/// The input of a compilation.
struct CompilerInput {
  /// The environment that is compiled, together with the children of its factories.
  let home: Unretained<Environment>
  /// The plan of the environment further out, which has started.
  let parent: Plan?
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
  /// Whether values may be missing when the first beans are built.
  var hasSources = false
  /// The parameters that beans have, here and further out.
  var parameters: [Parameter] = []
}

/// The declarations of one environment, or of all children of one factory. A started environment retains them, with the
/// user's code to which its beans refer, for environments further in: these inherit templates and place some beans again.
final class DeclaredBeans {
  /// The declarations and those embedded in them, in order.
  private(set) var specs: [FrozenSpec] = []
  let configuration: ConfigurationManager
  private var frozen: BeanDirectory?
  /// The declarations of the children of factories, at any depth.
  private(set) var below: [DeclaredBeans] = []
  /// The declarations and factories that no element of `specs` retains.
  private var retained: [AnyObject] = []

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

  /// Retains a declaration or a factory to which a bean refers.
  func keep<Object: AnyObject>(_ object: Object) -> Object {
    retained.append(object)
    return object
  }

  func keep(below: [DeclaredBeans]) { self.below = below }
}
