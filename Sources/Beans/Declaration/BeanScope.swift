/// Builds instances for a scope: what the scope is handed in `prepare` and `get`.
public protocol BeanFactory {
  /// A new, complete instance: injected, processed, `postConstruct` run. Values arrive in a box that only the container
  /// opens.
  ///
  /// - Throws: as `Environment.getBean`; `.invalidDeclaration` for a bean other than the one that the scope was asked
  ///   for.
  func create(_ bean: BeanDeclaration) throws -> AnyObject
}

/// How long instances live, where neither "singleton" nor "prototype" nor a factory's scope is right.
///
/// Install one with `registerScope` or by defining it as a bean, or hand one to each child of a factory; name it in
/// `.scope("…")`. The environment that declares a bean of the scope builds it; the scope decides when, and whether to keep
/// it: it is asked at every lookup. `get` may be called from any thread, concurrently.
public protocol BeanScope: AnyObject, Sendable {
  /// What declarations call it.
  var name: String { get }
  /// Once for each bean of this scope, after validation. `bean` is the same object in every later call for that bean.
  ///
  /// - Throws: whatever failed: the startup, or the opening of the child, fails with it.
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws
  /// An instance, new or kept.
  ///
  /// - Throws: what building the bean throws, or an `EnvironmentError` of the scope's own: the lookup throws it.
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject
  /// The end: release what is kept. Called once by the environment that the scope belongs to, and by anyone earlier.
  func finish()
}

/// A class of scopes that are all called the same. Where a bean is one, startup knows that the name is not a factory's.
package protocol ScopeOfOneName: BeanScope {
  static var scopeName: String { get }
}
