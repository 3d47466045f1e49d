public import BeansConfiguration

/// A class the container can build by itself.
public protocol Initializable: AnyObject, SendableMetatype {
  /// Called once per instance, on the thread that builds the bean.
  init()
}

extension ProcessInfoConfigurationSource: Initializable {}

/// A bean that wants to know when it is complete.
public protocol Bean {
  /// Called once, on the final object, after all injections and post processors, before anyone can look the bean up.
  ///
  /// - Throws: whatever failed: the bean is dropped, and whoever asked for it gets `.creationFailed`.
  func postConstruct() throws
}

/// A bean that has something to await before it is complete.
///
/// Everything that takes it is built after it. `ready()` awaits it, and `readyBean`; until it is there, a lookup that
/// needs it throws `.notReady`. A bean of an environment or of a factory's children, no prototype.
public protocol AsyncBean {
  /// Called once, on the final object, after all injections and post processors, before anyone can look the bean up.
  ///
  /// - Throws: whatever failed: the bean is dropped, and whoever waits for it gets `.creationFailed`.
  func postConstruct() async throws
}

/// A bean that holds something to give back.
public protocol DisposableBean {
  /// Called once when the owning scope finishes, in reverse order of creation. Prototypes are not tracked. Lookups
  /// from here throw `.finished`: keep what you need.
  ///
  /// - Throws: whatever failed: it is logged and reported as `.destructionFailed`, and stops no other release.
  func preDestroy() throws
}

/// A bean whose release has to wait for something.
///
/// Awaited in its place in the order by `shutdown() async` and by scopes bound to an event loop. A synchronous
/// `shutdown()` cannot wait: it releases all others, then throws an error that names the bean.
public protocol AsyncDisposableBean {
  /// Called once when the owning scope finishes.
  ///
  /// - Throws: whatever failed: it is logged and reported as `.destructionFailed`, and stops no other release.
  func preDestroy() async throws
}

/// A bean that makes another one.
///
/// Declare it with `.target(T.self)`: whoever asks for a `T` gets what `create` returns, once per instance of the
/// declared scope (singleton: once), post-processed and released like any bean. Two beans come of one declaration: the
/// bean's id names the product, `"&id"` the factory. Properties, arguments, callbacks and requirements of the declaration
/// are the factory's. Both live in the declared scope, except that prototypes come from one factory per environment.
public protocol FactoryBean: SendableMetatype {
  /// What the factory makes, or a superclass or protocol of it.
  associatedtype Product
  /// Makes one product, on the thread that builds it, after the factory is complete.
  ///
  /// A product that is not of the declared target is a `.typeMismatch`.
  ///
  /// - Throws: whatever failed: whoever asked for the product gets `.creationFailed`.
  func create() throws -> Product
}

/// Sees every bean built after it in its environment and the environments below, and may replace it.
///
/// Post processors run in the order of their definition, those of ancestors first. The beans a post processor needs
/// are built before it and are not processed.
public protocol BeanPostProcessor {
  /// Returns the bean, or an object of the bean's declared type to use in its place.
  ///
  /// - Throws: whatever failed: the bean is dropped, and whoever asked for it gets `.creationFailed`.
  func process(_ bean: AnyObject) throws -> AnyObject
}
