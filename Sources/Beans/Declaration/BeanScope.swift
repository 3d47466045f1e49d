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

/// The life of one child of a factory, which the factory's `scope:` makes for each child.
///
/// It determines when the child ends and, as a `HostedScope`, where its beans are released. The beans themselves live in
/// the child, which builds each of them once: unlike a registered `BeanScope`, the object is not asked for them. An
/// `AbstractBeanScope` is a complete one.
public protocol ChildScope: AnyObject, Sendable {
  /// The name of the factory's scope.
  var name: String { get }
  /// Prepares a bean of the child, before the child is returned. The container calls this once for each bean that is not
  /// a prototype. `factory.create(bean)` returns the child's own instance. A `HostedScope` receives `opened` instead.
  ///
  /// - Throws: any error: the opening of the child fails with it.
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws
  /// Ends the scope. The child calls this once, after its beans have been released; other code may call it earlier, to
  /// end the child.
  func finish()
}

/// A class of scopes that share one name. Where a bean is such a scope, startup knows that no factory has the name.
package protocol ScopeOfOneName: ChildScope {
  static var scopeName: String { get }
}
