import BeansReflection

/// A bean that receives the environment in which it is built, after its properties and before the post processors.
public protocol EnvironmentAware: AnyObject {
  /// The environment, which the container sets once. The environment drops the bean when it finishes, which breaks the
  /// reference cycle.
  var environment: Environment? { get set }
}

/// The code behind one kind of `Inject`.
///
/// To add a kind, subclass `Inject` and `Injection` and define a bean of the `Injection` subclass. It serves its
/// environment and all environments below; the nearest one of a kind is used. It is infrastructure: built before
/// ordinary beans, after configuration sources and scopes, and not post-processed.
open class Injection: @unchecked Sendable {  // `kind` is immutable; each subclass protects its own state
  /// The kind that this serves: injections of exactly this class.
  let kind: Inject.Type

  /// Creates the code for injections of exactly that class.
  public init(for kind: Inject.Type) { self.kind = kind }

  /// Returns the value for one property of one bean, of the property's type.
  ///
  /// The container calls this each time it builds a bean with such a property, on the thread that builds the bean,
  /// possibly on several threads at once. You may look up beans in the environment. nil sets an optional property to
  /// nil; a value of another type is a `.typeMismatch`.
  ///
  /// - Parameters:
  ///   - inject: the injection that the class declares for the property.
  ///   - property: the property to be set.
  ///   - environment: the environment in which the bean is built.
  /// - Throws: any error: the bean is not built. This implementation throws `.invalidDeclaration`: a subclass overrides
  ///   it.
  open func computeValue(_ inject: Inject, property: PropertyDescriptor, environment: Environment) throws -> Any? {
    throw EnvironmentError(.invalidDeclaration, "\(type(of: self)) does not override computeValue")
  }
}

/// A scope whose end another component, its host, controls: an event loop, for example.
///
/// As a factory's scope object it decides where the beans of the child are released, and may finish the child by itself.
/// An `AbstractBeanScope` may also be registered: the beans that it keeps are released in the same place.
public protocol HostedScope: ChildScope {
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
