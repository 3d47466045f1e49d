/// The seed of one product, as the factory given to `bindFactory(…).to(factory:)` takes it.
///
/// Says of a parameter that it comes from the caller of `Factory.build` and from nowhere else: it may stand at any
/// position there, once, and is a fault at startup (`.invalidDeclaration`) everywhere else. Costs as much as the seed
/// itself: nothing is boxed.
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
  public func map<T>(_ transform: (Element) throws -> T) rethrows -> Assisted<T> { Assisted<T>(try transform(value)) }
}

extension Assisted: Sendable where Element: Sendable {}

extension Assisted: DependencyWrapper {
  static var dependency: Dependency { Dependency.Seed(Element.self) }
}

extension Dependency {
  /// The seed of a product.
  final class Seed<Element>: Dependency, @unchecked Sendable {
    init(_ type: Element.Type) {
      super.init(wanted: Assisted<Element>.self, element: type, shape: .assisted, isReference: false)
    }
  }
}

extension Arguments {
  /// The next argument, or the seed where the parameter asks for that: it is none of the arguments.
  ///
  /// Inlined where the types are known, so that the question is the compiler's.
  @inlinable @inline(__always)
  mutating func take<Value, Seed>(as type: Value.Type, or seed: Assisted<Seed>) -> Value {
    if type == Assisted<Seed>.self { return unsafeBitCast(seed, to: type) }
    return take(as: type)
  }
}
