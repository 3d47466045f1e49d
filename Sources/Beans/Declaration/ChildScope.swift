/// The life of one child of a factory, which the factory's `scope:` makes for each child.
///
/// It determines when the child ends and, as an `ExecutorScope` or a `LoopScope`, where its beans are released. The beans
/// themselves live in the child, which builds each of them once: unlike a registered `BeanScope`, the object is not asked
/// for them. An `AbstractBeanScope` is a complete one.
public protocol ChildScope: AnyObject, Sendable {
  /// The name of the factory's scope.
  var name: String { get }
  /// Prepares a bean of the child, before the child is returned. The container calls this once for each bean that is not
  /// a prototype. `factory.create(bean)` returns the child's own instance. A scope that decides where beans are released is
  /// not asked.
  ///
  /// - Throws: any error: the opening of the child fails with it.
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws
  /// Ends the scope. The child calls this once, after its beans have been released; other code may call it earlier, to
  /// end the child.
  func finish()
}

/// A scope whose end another component, its host, controls: an event loop, for example.
///
/// As a factory's scope object it decides where the beans of the child are released, and may finish the child by itself.
/// An `AbstractBeanScope` may also be registered: the beans that it keeps are released in the same place.
package protocol HostedScope: ChildScope {
  /// Notes the environment of a factory's child. The container calls this once, before it returns the child.
  func opened(_ environment: Environment)
  /// Notes a use of the child. The container calls this after each lookup in the child itself, and when one of its
  /// children has ended. Runs on any thread; be quick.
  func used()
  /// Whether the calling thread may release beans: the host's own thread, or any thread if the host does not run.
  var canReleaseHere: Bool { get }
  /// Runs the work where beans are released; returns false if that place no longer exists and the caller has to run the
  /// work.
  func release(_ work: @escaping @Sendable () -> Void) -> Bool
  /// Runs asynchronous releases, if possible in the same place.
  func release(asynchronously work: @escaping @Sendable () async -> Void)
  /// Notes the end of a factory's child. The container calls this once, after every release.
  func closed()
}

/// A class of scopes that share one name. Where a bean is such a scope, startup knows that no factory has the name.
package protocol ScopeOfOneName: ChildScope {
  static var scopeName: String { get }
}
