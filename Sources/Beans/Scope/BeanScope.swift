/// Builds instances for a scope: what the scope is handed in `prepare` and `get`.
public protocol BeanFactory {
  /// A new, complete instance: injected, processed, `postConstruct` run. Values arrive in a box that only the container
  /// opens.
  func create(_ bean: BeanDeclaration) throws -> AnyObject
}

/// How long instances live, where neither "singleton" nor "prototype" nor a factory's scope is right.
///
/// Install one with `registerScope` or by defining it as a bean; name it in `.scope("…")`. The environment that
/// declares a bean of the scope builds it; the scope decides when, and whether to keep it. `get` may be called from any
/// thread, concurrently.
public protocol BeanScope: AnyObject, Sendable {
  /// What declarations call it.
  var name: String { get }
  /// Once per bean of this scope, after validation. `bean` is the same object in every later call for that bean.
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws
  /// An instance, new or kept.
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject
  /// The end: release what is kept. Called once by the environment that registered the scope, and by anyone earlier.
  func finish()
}

/// A factory's scope whose end belongs to somebody else, such as an event loop.
///
/// The environment keeps its beans in its own slots; the scope says where they are released and may finish the
/// environment by itself.
public protocol HostedScope: BeanScope {
  /// Called once, before the environment is handed out.
  func opened(_ environment: Environment)
  /// Called after each lookup in the environment itself, and when one of its children has ended. Any thread; be quick.
  func used()
  /// Whether the calling thread may release: the host's own, or any when the host does not run.
  var canReleaseHere: Bool { get }
  /// Runs the work where beans are released; false where that place is gone and the caller has to do it.
  func release(_ work: @escaping @Sendable () -> Void) -> Bool
  /// Runs asynchronous releases, if possible in the same place.
  func release(asynchronously work: @escaping @Sendable () async -> Void)
  /// Called once, after everything has been released.
  func closed()
}
