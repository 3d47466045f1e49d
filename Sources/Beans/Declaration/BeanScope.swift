/// A builder of instances for a scope, which `prepare` and `get` receive.
public protocol BeanFactory {
  /// Builds a new, complete instance: injected, processed, `postConstruct` run. Values arrive in a box that only the
  /// container opens.
  ///
  /// - Throws: as `Environment.getBean`; `.invalidDeclaration` for a bean other than the argument of `prepare` or
  ///   `get`.
  func create(_ bean: BeanDeclaration) throws -> AnyObject
}

/// A lifetime of instances, for cases where neither "singleton" nor "prototype" nor a factory's scope is right.
///
/// Install a scope with `registerScope`, or define it as a bean. Name it in `.scope("…")`. The environment that declares a bean of the scope builds the bean. The scope decides when, and
/// whether to keep the instance: every lookup calls it. `get` may be called from any thread, concurrently.
public protocol BeanScope: AnyObject, Sendable {
  /// The name that declarations use.
  var name: String { get }
  /// Prepares a bean of this scope. The container calls this once for each bean, after validation. `bean` is the same
  /// object in every later call for that bean.
  ///
  /// - Throws: any error: the startup fails with it.
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws
  /// Returns an instance, new or kept.
  ///
  /// - Throws: the error of building the bean, or an `EnvironmentError` of the scope's own: the lookup throws it.
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject
  /// Ends the scope and releases the kept instances. The environment of the scope calls this once; other code may call
  /// it earlier.
  func finish()
}
