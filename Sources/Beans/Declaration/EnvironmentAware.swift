import BeansReflection

/// A bean that is handed the environment it is built in, after its properties and before the post processors.
public protocol EnvironmentAware: AnyObject {
  /// Set once by the container. The environment drops the bean when it finishes, which breaks the cycle.
  var environment: Environment? { get set }
}

/// The code behind one kind of `Inject`.
///
/// To add a kind, subclass `Inject` and `Injection` and define a bean of the latter: it serves its environment and all
/// below, where the nearest one of a kind decides. It is infrastructure: built before ordinary beans, after
/// configuration sources and scopes, not post-processed.
open class Injection: @unchecked Sendable {  // subclasses answer for what they add
  /// The kind it serves: injections of exactly this class.
  let kind: Inject.Type

  /// Creates the code for injections of exactly that class.
  public init(for kind: Inject.Type) { self.kind = kind }

  /// The value for one property of one bean, of the property's type.
  ///
  /// Called each time a bean with such a property is built, on the thread that builds it, possibly several at once. The
  /// environment may be asked for beans. nil sets an optional property to nil; a value of another type is a
  /// `.typeMismatch`.
  ///
  /// - Parameters:
  ///   - inject: what the class says about the property.
  ///   - property: the property to be set.
  ///   - environment: the environment in which the bean is built.
  /// - Throws: whatever failed: the bean is not built. Here `.invalidDeclaration`: a subclass overrides it.
  open func computeValue(_ inject: Inject, property: PropertyDescriptor, environment: Environment) throws -> Any? {
    throw EnvironmentError(.invalidDeclaration, "\(type(of: self)) does not override computeValue")
  }
}

/// A scope whose end belongs to somebody else, such as an event loop.
///
/// As a factory's scope it keeps nothing: the child keeps its beans in its own slots; the scope says where they are
/// released and may finish the child by itself. An `AbstractBeanScope` may also be registered: what it keeps is released
/// in the same place.
public protocol HostedScope: BeanScope {
  /// Called once for a factory's child, before that is handed out.
  func opened(_ environment: Environment)
  /// Called after each lookup in the child itself, and when one of its children has ended. Any thread; be quick.
  func used()
  /// Whether the calling thread may release: the host's own, or any when the host does not run.
  var canReleaseHere: Bool { get }
  /// Runs the work where beans are released; false where that place is gone and the caller has to do it.
  func release(_ work: @escaping @Sendable () -> Void) -> Bool
  /// Runs asynchronous releases, if possible in the same place.
  func release(asynchronously work: @escaping @Sendable () async -> Void)
  /// Called once for a factory's child, after everything has been released.
  func closed()
}
