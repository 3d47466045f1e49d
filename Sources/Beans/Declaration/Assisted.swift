/// The tag of one kind of factory, which names the type of its products.
public protocol FactoryTag: SendableMetatype {
  /// The type of the products.
  associatedtype Element
}

/// A tag that also names the type of the seed from which, besides beans, each product is built.
///
/// A tag keeps the injection points of factories short, and unchanged when the type of the seed changes:
///
///     struct AssistedSeed: AssistedFactory {
///       typealias Seed = String
///       typealias Element = CustomerDetailViewController
///     }
public protocol AssistedFactory: FactoryTag {
  /// The type of the argument of `Factory.build`: `Void`, the default, for none, a tuple for several values.
  associatedtype Seed = Void
}

/// The tag of factories whose products are built from beans alone: the tag of `bindFactory` without `with`.
public struct EmptySeed<Element>: AssistedFactory {}

/// The seed of one product, as a parameter of the factory given to `bindFactory(…).to(factory:)`.
///
/// An `Assisted` parameter takes its value from the caller of `Factory.build` and from no other source. The factory may
/// have one such parameter, at any position. Everywhere else, the type is a fault at startup (`.invalidDeclaration`).
public struct Assisted<Element> {
  @usableFromInline let value: Element

  /// Wraps a seed by hand, for tests of types that take one.
  @inlinable
  public init(_ value: Element) { self.value = value }

  /// Returns the seed.
  @inlinable
  public func get() -> Element { value }

  /// Returns the seed as `transform` converts it. Calls `transform` once, before it returns.
  @inlinable
  public func map<T>(_ transform: @Sendable (Element) throws -> T) rethrows -> Assisted<T> {
    Assisted<T>(try transform(value))
  }
}

extension Assisted: Sendable where Element: Sendable {}

extension Assisted: ParameterType {
  static var parameter: Parameter { Parameter(Assisted<Element>.self, element: Element.self, .seed) }
}

extension Arguments {
  /// Takes all arguments, as a tuple whose element of the type `Assisted<Seed>` is the seed. That is not among the
  /// arguments.
  @inlinable @inline(__always)
  func take<each Value, Seed>(
    as types: repeat (each Value).Type, or seed: Assisted<Seed>
  ) -> (repeat each Value) {
    TupleMemory.tuple(of: (repeat each Value).self) { memory in
      var rest = self
      for type in repeat each types {
        if type == Assisted<Seed>.self {
          memory.append(seed)
        } else {
          if let object = rest.nextObject { memory.append(object) } else { memory = rest.store(1, in: memory) }
          rest = rest.withoutFirst
        }
      }
    }
  }
}

/// The part of a factory bean that a `Factory` uses to make its products.
@usableFromInline
protocol ProductBuilder: AnyObject, Sendable {
  /// Returns the arguments of a product if all of them are available and calling the product's function is the only
  /// work; nil if there is more to do. A caller that receives arguments calls `end` afterwards.
  func begin() throws -> (arguments: Arguments, use: HazardPointer)?
  func end(_ use: HazardPointer)
  /// Builds a complete product with `create`; returns a value in its box.
  func build(_ create: (Arguments) throws -> AnyObject) throws -> AnyObject
  /// Completes a product that turned out to be an instance of a subclass.
  func complete(_ object: AnyObject) throws -> AnyObject
  func failure(_ error: any Error) -> EnvironmentError
}

/// Builds products from a seed and from beans. `bindFactory` declares the factory as a bean.
///
/// A factory is found by its type, and so by its tag: as a parameter, a property or through
/// `getBean(Factory<Tag>.self)`. The other arguments of a product come from the environment of the factory, whose
/// startup checks them. A factory is a longer-lived bean, so its products cannot hold shorter-lived beans, except
/// through a `Provider`.
///
/// You may keep a factory for any time. It holds its environment, as a `Provider` does. The end of the environment
/// drops the reference to the bean and so breaks the cycle.
public struct Factory<Tag: AssistedFactory>: Sendable {
  @usableFromInline let builder: any ProductBuilder
  @usableFromInline let create: @Sendable (Arguments, Assisted<Tag.Seed>) throws -> Tag.Element

  /// Builds a new product, which the caller owns: the container neither keeps nor releases it.
  ///
  /// The product is completed like any bean (`EnvironmentAware`, post processors, `postConstruct()`). Callable from any
  /// thread.
  ///
  /// - Throws: `.finished` when the factory's environment has been finished; `.creationFailed` with the error of the
  ///   product's own factory in `underlying`; the error of building a missing bean.
  @inlinable
  public func build(_ seed: Tag.Seed) throws -> Tag.Element {
    guard let (arguments, use) = try builder.begin() else { return try buildWithCare(seed) }
    defer { builder.end(use) }
    let product: Tag.Element
    do { product = try create(arguments, Assisted(seed)) } catch { throw builder.failure(error) }
    // For most values, the size decides at compile time; the type would decide only at run time.
    if MemoryLayout<Tag.Element>.size == MemoryLayout<AnyObject>.size, Tag.Element.self is AnyObject.Type,
      type(of: product) != Tag.Element.self
    {
      return try BeanCallback.read(builder.complete(uncheckedCast(product, to: AnyObject.self)))
    }
    return product
  }

  @usableFromInline @inline(never)
  func buildWithCare(_ seed: Tag.Seed) throws -> Tag.Element {
    try BeanCallback.read(
      builder.build { arguments in
        let product = try create(arguments, Assisted(seed))
        // A type that is a class has the representation of an object.
        return Tag.Element.self is AnyObject.Type ? uncheckedCast(product, to: AnyObject.self) : ValueBox(product)
      })
  }
}

extension Factory where Tag.Seed == Void {
  /// Builds a new product of a factory without a seed; see `build(_:)`.
  ///
  /// - Throws: as `build(_:)`.
  @inlinable
  public func build() throws -> Tag.Element { try build(()) }
}
