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
  open func computeValue(_ inject: Inject, property: PropertyDescriptor, environment: Environment) throws -> Any? {
    throw EnvironmentError(.invalidDeclaration, "\(type(of: self)) does not override computeValue")
  }
}
