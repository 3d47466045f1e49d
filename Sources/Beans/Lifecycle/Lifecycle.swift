/// A class the container can build by itself.
public protocol Initializable: AnyObject {
  /// Called once per instance, on the thread that builds the bean.
  init()
}

/// A bean that wants to know when it is complete.
public protocol Bean {
  /// Called once, on the final object, after all injections and post processors, before anyone can look the bean up.
  func postConstruct() throws
}

/// A bean that holds something to give back.
public protocol DisposableBean {
  /// Called once when the owning scope finishes, in reverse order of creation. Prototypes are not tracked. Lookups
  /// from here throw `.finished`: keep what you need.
  func preDestroy() throws
}

/// A bean whose release has to wait for something.
///
/// Awaited in its place in the order by `shutdown() async` and by scopes bound to an event loop. A synchronous
/// `shutdown()` cannot wait: it releases all others, then throws an error that names the bean.
public protocol AsyncDisposableBean {
  /// Called once when the owning scope finishes.
  func preDestroy() async throws
}

/// A bean that is handed the environment it is built in, after its properties and before the post processors.
public protocol EnvironmentAware: AnyObject {
  /// Set once by the container. The environment drops the bean when it finishes, which breaks the cycle.
  var environment: Environment? { get set }
}

/// Sees every bean built after it in its environment and the environments below, and may replace it.
///
/// Post processors run in the order of their definition, those of ancestors first. The beans a post processor needs
/// are built before it and are not processed.
public protocol BeanPostProcessor {
  /// Returns the bean, or an object of the bean's declared type to use in its place.
  func process(_ bean: AnyObject) throws -> AnyObject
}
