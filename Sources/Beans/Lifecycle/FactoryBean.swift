/// A bean that makes another one.
///
/// Declare it with `.target(T.self)`: whoever asks for a `T` gets what `create` returns, once per instance of the
/// declared scope (singleton: once), post-processed and released like any bean. Two beans come of one declaration: the
/// bean's id names the product, `"&id"` the factory. Properties, arguments, callbacks and requirements of the declaration
/// are the factory's. Both live in the declared scope, except that prototypes come from one factory per environment.
public protocol FactoryBean {
  /// What the factory makes, or a superclass or protocol of it.
  associatedtype Product

  /// Makes one product, on the thread that builds it, after the factory is complete.
  ///
  /// A product that is not of the declared target is a `.typeMismatch`.
  func create() throws -> Product
}
