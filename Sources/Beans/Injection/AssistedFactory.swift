/// Names one kind of factory and says what it makes. The `Tag` of the proposal that assisted injection comes from.
public protocol FactoryTag {
  /// What the factory makes.
  associatedtype Element
}

/// A tag that says what each product is built from, besides beans.
///
/// A tag keeps the places where factories are injected short, and unchanged when the seed changes:
///
///     struct AssistedSeed: AssistedFactory {
///       typealias Seed = String
///       typealias Element = CustomerDetailViewController
///     }
public protocol AssistedFactory: FactoryTag {
  /// What `Factory.build` is given. `Void` for none, a tuple for several values.
  associatedtype Seed
}

/// The tag of factories whose products are built from beans alone: that of `bindFactory` without `with`.
public struct EmptySeed<Element>: AssistedFactory {
  /// Nothing.
  public typealias Seed = Void
}
