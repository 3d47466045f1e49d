import BeansConfiguration

/// The declarations of one environment, or of all children of one factory. A started environment retains them, with the
/// user's code to which its beans refer: environments further in inherit templates and place some beans again.
final class DeclaredBeans: @unchecked Sendable {  // written by the thread that compiles, and then only read
  /// The declarations and those embedded in them, in order.
  private(set) var specs: [FrozenSpec] = []
  /// The nearest template of each declaration that has one, by the declaration's number.
  private(set) var nearestTemplates = [Int: FrozenSpec]()
  let configuration: ConfigurationManager
  private var frozen: BeanDirectory?
  /// The declarations and factories that no element of `specs` retains.
  private var retained: [AnyObject] = []

  init(_ configuration: ConfigurationManager) { self.configuration = configuration }

  var directory: BeanDirectory {
    // `freeze(_:_:)` runs before the first access.
    guard let frozen else { preconditionFailure("beans are asked for before they are known") }
    return frozen
  }

  /// Stores the result of reading the declarations. Nothing is added later.
  func freeze(_ directory: BeanDirectory, _ specs: [FrozenSpec], _ nearestTemplates: [Int: FrozenSpec]) {
    frozen = directory
    self.specs = specs
    self.nearestTemplates = nearestTemplates
  }

  /// Retains a declaration or a factory to which a bean refers.
  func keep<Object: AnyObject>(_ object: Object) -> Object {
    retained.append(object)
    return object
  }
}
