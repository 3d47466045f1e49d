@_spi(BeansPackage) import BeansSupport

/// What a parameter, a property or a lookup asks for.
///
/// Made when a bean is declared, once per type: the generic type is known there and nowhere else.
@usableFromInline
class Dependency: @unchecked Sendable {  // immutable, once `of` has answered it
  enum Shape {
    /// Exactly one bean.
    case one
    /// One bean or nil.
    case optional
    /// Every bean.
    case all
    /// A `Provider`.
    case provider
    /// The environment in which the bean is built.
    case environment
    /// That environment's configuration.
    case configuration
    /// The seed of a product.
    case assisted
    /// Nothing the container can give; the message says why.
    case invalid(String)
  }

  /// The type that is delivered: `T`, `T?`, `[T]`, `Provider<T>`.
  let wanted: Any.Type
  /// The type that beans are searched for.
  let element: Any.Type
  let shape: Shape
  /// Whether a class instance can be delivered without a box.
  let isReference: Bool

  /// The list of just this one, for all factories with one parameter. Written once, before anybody else knows it; as
  /// long-lived as the process.
  @exclusivity(unchecked) @usableFromInline private(set) var alone: [Dependency] = []

  init(wanted: Any.Type, element: Any.Type, shape: Shape, isReference: Bool) {
    self.wanted = wanted
    self.element = element
    self.shape = shape
    self.isReference = isReference
  }

  /// The `ValueBox` of the wanted type around beans found (none for an absent optional); nil where one does not fit.
  func box(_ beans: [Any]) -> AnyObject? { nil }
  /// A `ValueBox` of a provider; only for `.provider`.
  func provider(in environment: Environment, id: String?) -> AnyObject? { nil }
  /// What a provider's target looks like from inside; only for `.provider`.
  var provided: Dependency? { nil }
  /// The argument for a fixed value, or nil where the value is not of the wanted type.
  func argument(fixed value: Any) -> Argument? { nil }

  /// One for all that ask for the type. Costs a lock and a probe, once the type is known.
  @usableFromInline
  static func of<Wanted>(_ type: Wanted.Type) -> Dependency {
    let key = AddressKey(type)
    if let dependency = known.withLock({ $0[key] }) { return dependency }
    let made = wrapper(type)?.dependency ?? Single<Wanted>(wanted: type)
    return known.withLock { known in
      if let dependency = known[key] { return dependency }
      made.alone = [made]
      known[key] = made
      return made
    }
  }

  private static let known = Locked<[AddressKey: Dependency]>([:])
}

/// Types that ask the container for something else than one bean of their own type.
protocol DependencyWrapper {
  static var dependency: Dependency { get }
}

extension Dependency {
  /// Whether `type` is one of the container's wrappers, which no bean may be.
  static func isWrapper(_ type: Any.Type) -> Bool { wrapper(type) != nil }

  /// A cast, quicker for a type that the runtime has not seen: such a value is the type and its witness table.
  private static func wrapper(_ type: Any.Type) -> (any DependencyWrapper.Type)? {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    guard let witness = TypeRelation.shape(of: (any DependencyWrapper).self, for: metadata)?.witnesses.first else {
      return nil
    }
    return unsafeBitCast((metadata, witness), to: (any DependencyWrapper.Type).self)
  }

  /// One bean of type `Wanted`.
  final class Single<Wanted>: Dependency, @unchecked Sendable {
    init(wanted: Wanted.Type) {
      super.init(wanted: wanted, element: wanted, shape: .one, isReference: wanted is AnyObject.Type)
    }

    override func box(_ beans: [Any]) -> AnyObject? { (beans.first as? Wanted).map { ValueBox($0) } }

    override func argument(fixed value: Any) -> Argument? {
      guard let value = value as? Wanted else { return nil }
      return isReference
        ? Argument(owning: value as AnyObject, access: .reference) : Argument(owning: ValueBox(value), access: .boxed)
    }
  }

  /// One bean of type `Wrapped`, or nil.
  final class Maybe<Wrapped>: Dependency, @unchecked Sendable {
    init(_ type: Wrapped.Type) {
      super.init(
        wanted: Wrapped?.self, element: type,
        shape: type == ConfigurationManager.self
          ? .configuration
          : Dependency.isWrapper(type) ? .invalid("an optional of \(type) cannot be injected") : .optional,
        isReference: type is AnyObject.Type)
    }

    override func box(_ beans: [Any]) -> AnyObject? {
      guard let bean = beans.first else { return ValueBox<Wrapped?>(nil) }
      return (bean as? Wrapped).map { ValueBox<Wrapped?>($0) }
    }

    override func argument(fixed value: Any) -> Argument? {
      guard let value = value as? Wrapped? else { return nil }
      return Argument(owning: ValueBox<Wrapped?>(value), access: .boxed)
    }
  }

  /// All beans of type `Element`.
  final class Every<Element>: Dependency, @unchecked Sendable {
    init(_ type: Element.Type) {
      super.init(
        wanted: [Element].self, element: type,
        shape: Dependency.isWrapper(type) ? .invalid("an array of \(type) cannot be injected") : .all,
        isReference: false)
    }

    override func box(_ beans: [Any]) -> AnyObject? {
      let elements = beans.compactMap { $0 as? Element }
      return elements.count == beans.count ? ValueBox(elements) : nil
    }

    override func argument(fixed value: Any) -> Argument? {
      (value as? [Element]).map { Argument(owning: ValueBox($0), access: .boxed) }
    }
  }

  /// A `Provider` of `Provided`, which may itself be optional or an array.
  final class Deferred<Provided>: Dependency, @unchecked Sendable {
    private let inner: Dependency

    init(_ type: Provided.Type) {
      inner = Dependency.of(type)
      super.init(wanted: Provider<Provided>.self, element: inner.element, shape: .provider, isReference: false)
    }

    override var provided: Dependency? { inner }
    override func provider(in environment: Environment, id: String?) -> AnyObject? {
      ValueBox(Provider<Provided>(environment: environment, id: id))
    }
    override func argument(fixed value: Any) -> Argument? {
      (value as? Provider<Provided>).map { Argument(owning: ValueBox($0), access: .boxed) }
    }
  }

  /// The environment.
  final class Surroundings: Dependency, @unchecked Sendable {
    init() { super.init(wanted: Environment.self, element: Environment.self, shape: .environment, isReference: true) }

    override func argument(fixed value: Any) -> Argument? {
      (value as? Environment).map { Argument(owning: $0, access: .reference) }
    }
  }
}

extension Dependency {
  /// The configuration.
  final class Configuration: Dependency, @unchecked Sendable {
    init() {
      super.init(
        wanted: ConfigurationManager.self, element: ConfigurationManager.self, shape: .configuration, isReference: true)
    }

    override func argument(fixed value: Any) -> Argument? {
      (value as? ConfigurationManager).map { Argument(owning: $0, access: .reference) }
    }
  }
}

extension Optional: DependencyWrapper {
  static var dependency: Dependency { Dependency.Maybe(Wrapped.self) }
}

extension Array: DependencyWrapper {
  static var dependency: Dependency { Dependency.Every(Element.self) }
}

extension Provider: DependencyWrapper {
  static var dependency: Dependency { Dependency.Deferred(Bean.self) }
}

extension ConfigurationManager: DependencyWrapper {
  static var dependency: Dependency { Dependency.Configuration() }
}

extension Environment: DependencyWrapper {
  static var dependency: Dependency { Dependency.Surroundings() }
}
