public import BeansConfiguration

/// A class that the container can build without a factory.
public protocol Initializable: AnyObject, SendableMetatype {
  /// Creates an instance. The container calls this once for each instance, on the thread that builds the bean.
  init()
}

extension ProcessInfoConfigurationSource: Initializable {}

/// A bean with a callback for its completion.
public protocol Bean {
  /// Completes the bean. The container calls this once, on the final object, after all injections and post processors,
  /// before any lookup returns the bean.
  ///
  /// - Throws: any error: the bean is dropped, and its lookup throws `.creationFailed`.
  func postConstruct() throws
}

/// A bean that awaits something before it is complete.
///
/// Every bean that takes it is built after it. `ready()` and `getBean(awaiting:)` await it. Until it is complete, a lookup that
/// needs it throws `.notReady`. It is a bean of an environment or of a factory's children, not a prototype.
public protocol AsyncBean {
  /// Completes the bean. The container calls this once, on the final object, after all injections and post processors,
  /// before any lookup returns the bean.
  ///
  /// - Throws: any error: the bean is dropped, and each call that waits for it throws `.creationFailed`.
  func postConstruct() async throws
}

/// A bean with resources that must be released.
public protocol DisposableBean {
  /// Releases the bean's resources. The container calls this once when the owning scope finishes, in reverse order of
  /// creation. Prototypes are not tracked. Lookups from here throw `.finished`: keep the references that you need.
  ///
  /// - Throws: any error: it is logged and reported as `.destructionFailed`, and stops no other release.
  func preDestroy() throws
}

/// A bean whose release is asynchronous.
///
/// `shutdown() async` and scopes bound to an event loop await the release in its place in the order. A synchronous
/// `shutdown()` cannot wait: it releases all others, then throws an error that names the bean.
public protocol AsyncDisposableBean {
  /// Releases the bean's resources. The container calls this once when the owning scope finishes.
  ///
  /// - Throws: any error: it is logged and reported as `.destructionFailed`, and stops no other release.
  func preDestroy() async throws
}

/// A bean that makes another one.
///
/// Declare it with `.target(T.self)`: lookups of `T` return the result of `create`, made once for each instance of the
/// declared scope (singleton: once), post-processed and released like any bean. One declaration defines two beans: the
/// bean's id names the product, `"&id"` the factory. Properties, arguments, callbacks and requirements of the
/// declaration belong to the factory. Both live in the declared scope, except that one factory for each environment
/// makes all prototypes.
public protocol FactoryBean: SendableMetatype {
  /// The type of the products, or a superclass or protocol of it.
  associatedtype Product
  /// Makes one product, on the thread that builds it, after the factory is complete.
  ///
  /// A product that is not of the declared target is a `.typeMismatch`.
  ///
  /// - Throws: any error: the lookup of the product throws `.creationFailed`.
  func create() throws -> Product
}

/// A processor of every bean that is built after it in its environment and the environments below, which may replace
/// the bean.
///
/// Post processors run in the order of their definition, those of ancestors first. The beans that a post processor
/// needs are built before it and are not processed.
public protocol BeanPostProcessor {
  /// Returns the bean, or an object of the bean's declared type that replaces it.
  ///
  /// - Throws: any error: the bean is dropped, and its lookup throws `.creationFailed`.
  func process(_ bean: AnyObject) throws -> AnyObject
}
