public import Beans

/// The code behind one kind of `Inject`.
///
/// To add a kind, subclass `Inject` and `Injection` and define a bean of the `Injection` subclass. It serves its
/// environment and all environments below; the nearest one of a kind is used. It is infrastructure: built before
/// ordinary beans, after configuration sources and scopes, and not post-processed.
open class Injection: @unchecked Sendable {  // `kind` is immutable; each subclass protects its own state
  /// The kind that this serves: injections of exactly this class.
  package let kind: AnyClass

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

extension Injection: InjectionProvider {
  package func value(
    for request: AnyObject, of property: PropertyDescriptor, in environment: Environment
  ) throws -> Any? {
    guard let inject = request as? Inject else { return nil }
    return try computeValue(inject, property: property, environment: environment)
  }
}
