/// Names one kind of factory and says what it makes.
public protocol FactoryTag: SendableMetatype {
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

/// The seed of one product, as the factory given to `bindFactory(…).to(factory:)` takes it.
///
/// Says of a parameter that it comes from the caller of `Factory.build` and from nowhere else: it may stand at any
/// position there, once, and is a fault at startup (`.invalidDeclaration`) everywhere else.
public struct Assisted<Element> {
  @usableFromInline let value: Element

  /// Wraps a seed by hand, for tests of types that take one.
  @inlinable
  public init(_ value: Element) { self.value = value }

  /// The seed.
  @inlinable
  public func get() -> Element { value }

  /// What `transform`, called once and at once, makes of the seed.
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
  /// The next argument, as the type that is asked for.
  @inlinable @inline(__always)
  mutating func take<Value>() -> Value { take(as: Value.self) }

  /// The next argument, or the seed where the parameter asks for that: it is none of the arguments.
  ///
  /// Inlined where the types are known, so that the question is the compiler's.
  @inlinable @inline(__always)
  mutating func take<Value, Seed>(as type: Value.Type = Value.self, or seed: Assisted<Seed>) -> Value {
    if type == Assisted<Seed>.self { return uncheckedCast(seed, to: type) }
    return take(as: type)
  }
}

/// Where a factory bean makes its products, as far as a `Factory` has to know.
@usableFromInline
protocol ProductBuilder: AnyObject, Sendable {
  /// The arguments of a product for which there is nothing to do but to call its function, all of which stand; nil where
  /// there is more to it. To be followed by `end`.
  func begin() throws -> (arguments: Arguments, use: HazardPointer)?
  func end(_ use: HazardPointer)
  /// A complete product, made by `create`; a value in its box.
  func build(_ create: (Arguments) throws -> AnyObject) throws -> AnyObject
  /// The rest of what is done to a product that turned out to be an instance of a subclass.
  func complete(_ object: AnyObject) throws -> AnyObject
  func failure(_ error: any Error) -> EnvironmentError
}

/// Builds products from a seed and from beans; a bean that `bindFactory` declares.
///
/// Found by its type, so by its tag: as a parameter, a property or through `getBean(Factory<Tag>.self)`. What a product
/// needs besides the seed comes from the environment the factory lives in, and is checked when that starts: a factory is
/// a longer-lived bean, so its products cannot hold what is shorter-lived, except through a `Provider`.
///
/// Keep a factory as long as you like: it holds its environment, as a `Provider` does. The end of the environment drops
/// the bean and so breaks the circle.
public struct Factory<Tag: AssistedFactory>: Sendable {
  @usableFromInline let builder: any ProductBuilder
  @usableFromInline let create: @Sendable (Arguments, Assisted<Tag.Seed>) throws -> Tag.Element

  init(
    _ builder: any ProductBuilder, _ create: @escaping @Sendable (Arguments, Assisted<Tag.Seed>) throws -> Tag.Element
  ) {
    self.builder = builder
    self.create = create
  }

  /// A new product: nobody keeps it, and nobody releases it but the caller.
  ///
  /// It is completed like any bean (`EnvironmentAware`, post processors, `postConstruct()`). From any thread.
  ///
  /// - Throws: `.finished` when the factory's environment has been finished; `.creationFailed` with what the product's
  ///   own factory threw in `underlying`; what building a missing bean throws.
  @inlinable
  public func build(_ seed: Tag.Seed) throws -> Tag.Element {
    guard let (arguments, use) = try builder.begin() else { return try buildWithCare(seed) }
    defer { builder.end(use) }
    let product: Tag.Element
    do { product = try create(arguments, Assisted(seed)) } catch { throw builder.failure(error) }
    // The size answers for the compiler what the type would answer at run time only, for most values.
    if MemoryLayout<Tag.Element>.size == MemoryLayout<AnyObject>.size, Tag.Element.self is AnyObject.Type,
      type(of: product) != Tag.Element.self
    {
      return try Self.read(builder.complete(uncheckedCast(product, to: AnyObject.self)))
    }
    return product
  }

  @usableFromInline @inline(never)
  func buildWithCare(_ seed: Tag.Seed) throws -> Tag.Element {
    try Self.read(
      builder.build { arguments in
        let product = try create(arguments, Assisted(seed))
        // A class by its type is an object by its representation.
        return Tag.Element.self is AnyObject.Type ? uncheckedCast(product, to: AnyObject.self) : ValueBox(product)
      })
  }

  @usableFromInline
  static func read(_ object: AnyObject) throws -> Tag.Element {
    if let product = Box.read(object, as: Tag.Element.self) { return product }
    throw BeanCallback.mismatch(object, Tag.Element.self)
  }
}

extension Factory where Tag.Seed == Void {
  /// A new product, of a factory without a seed; see `build(_:)`.
  ///
  /// - Throws: as `build(_:)`.
  @inlinable
  public func build() throws -> Tag.Element { try build(()) }
}
