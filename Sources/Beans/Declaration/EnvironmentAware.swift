/// A bean that receives the environment in which it is built, after its properties and before the post processors.
public protocol EnvironmentAware: AnyObject {
  /// The environment, which the container sets once. The environment drops the bean when it finishes, which breaks the
  /// reference cycle.
  var environment: Environment? { get set }
}
