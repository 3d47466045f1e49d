/// Builds products from a seed and from beans; a bean that `bindFactory` declares.
///
/// Found by its type, so by its tag: as a parameter, a property or through `getBean(Factory<Tag>.self)`. What a product
/// needs besides the seed comes from the environment the factory lives in, and is checked when that starts: a factory is
/// a longer-lived bean, so its products cannot hold what is shorter-lived, except through a `Provider`.
///
/// Keep a factory as long as you like: it holds its environment, as a `Provider` does, and the beans it has handed out.
/// The end of the environment drops the bean and so breaks the circle.
public struct Factory<Tag: AssistedFactory>: Sendable {
  @usableFromInline let assembly: Assembly
  @usableFromInline let constructor: AssistedConstructor<Tag>

  init(_ assembly: Assembly, _ constructor: AssistedConstructor<Tag>) {
    self.assembly = assembly
    self.constructor = constructor
  }

  /// A new product: nobody keeps it, and nobody releases it but the caller.
  ///
  /// It is completed like any bean (`EnvironmentAware`, post processors, `postConstruct()`). Where there is nothing to
  /// complete and its beans exist, this costs little more than calling the constructor with them: one atomic load and
  /// no lock. From any thread.
  ///
  /// - Throws: `.finished` when the factory's environment has been finished; `.creationFailed` with what the product's
  ///   own factory threw in `underlying`; what building a missing bean throws.
  @inlinable
  public func build(_ seed: Tag.Seed) throws -> Tag.Element {
    guard let arguments = assembly.settledArguments() else { return try buildWithCare(seed) }
    let product: Tag.Element
    do {
      product = try constructor.create(arguments, Assisted(seed))
    } catch { throw assembly.failure(error) }
    // The size answers for the compiler what the type would answer at run time only, for most values.
    if MemoryLayout<Tag.Element>.size == MemoryLayout<AnyObject>.size, Tag.Element.self is AnyObject.Type,
      ObjectIdentifier(type(of: unsafeBitCast(product, to: AnyObject.self))) != ObjectIdentifier(Tag.Element.self)
    {
      return try assembly.completeUnforeseen(product)
    }
    return product
  }

  @usableFromInline @inline(never)
  func buildWithCare(_ seed: Tag.Seed) throws -> Tag.Element {
    try assembly.build { try constructor.create($0, Assisted(seed)) }
  }
}

extension Factory where Tag.Seed == Void {
  /// A new product, of a factory without a seed; see `build(_:)`.
  @inlinable
  public func build() throws -> Tag.Element { try build(()) }
}
