package import BeansErrors
@_spi(BeansPackage) import BeansSupport
import BeansReflection
import Synchronization

/// The request of a parameter, a property or a lookup. One object exists for each type.
@usableFromInline
package final class Parameter: Sendable {
  package enum Kind: Sendable {
    /// One bean, which must exist.
    case one
    /// One bean or nil.
    case optional
    /// Every bean.
    case all
    /// Every bean that has an id, by its id; a bean of exactly the dictionary's type has precedence.
    case named
    /// Every bean, without equal ones; a bean of exactly the set's type has precedence.
    case distinct
    /// A `Provider` of another request.
    case provider(Parameter)
    /// A `Lazy` of another request.
    case lazy(Parameter)
    /// An `Owned` bean.
    case owned(Parameter)
    /// A `Current` bean of the children that are open.
    case current(Parameter)
    /// The environment in which the bean is built.
    case environment
    /// The configuration of that environment.
    case configuration
    /// The seed of a product.
    case seed
    /// An unsupported type; the message contains the reason.
    case invalid(FaultCause, String)
  }

  /// The type that is delivered: `T`, `T?`, `[T]`, `Provider<T>`.
  let wanted: Any.Type
  /// The type of the beans that are searched.
  let element: Any.Type
  package let kind: Kind
  /// The qualifier that the beans must have.
  let qualifier: Any.Type?
  /// The wrapper in which each bean is delivered; nil for the bean itself.
  let each: Parameter?
  /// Whether beans are delivered in a wrapper: each for itself, or the only one.
  let isWrapped: Bool
  /// Whether the taker owns the beans: the wrapper is `Owned`, or a `Lazy` of one.
  let isOwned: Bool
  /// Whether the beans need not exist before the object that takes them.
  let isDeferred: Bool
  /// Whether a class instance can be delivered without a box.
  let isReference: Bool
  /// Returns the `ValueBox` of the wanted type around the beans found (none for an absent optional); nil where one does
  /// not fit.
  let box: @Sendable ([Any]) -> AnyObject?
  /// Whether this is an array of objects, none of which needs a box.
  let isArrayOfObjects: Bool
  /// Returns the object, or the box, for a value given in a declaration; nil where the value is not of the wanted type.
  let given: @Sendable (Any) -> AnyObject?
  /// The reading of the objects that `given` returns.
  let givenReading: Reading
  /// Returns the box of the wrapper that gets its beans from the source; nil for the source of another kind.
  let wrap: @Sendable (BeanSource) -> AnyObject?

  /// Creates the request of a parameter's type. A declaration may give a value for it, except for a seed.
  init<Wanted>(
    _ wanted: Wanted.Type, element: Any.Type, _ kind: Kind, isReference: Bool = Wanted.self is AnyObject.Type,
    qualifier: Any.Type? = nil, each: Parameter? = nil,
    isArrayOfObjects: Bool = false, box: @escaping @Sendable ([Any]) -> AnyObject? = { _ in nil },
    wrap: @escaping @Sendable (BeanSource) -> AnyObject? = { _ in nil }
  ) {
    let isSeed = if case .seed = kind { true } else { false }
    self.wanted = wanted
    self.element = element
    self.kind = kind
    self.isReference = isReference
    (isWrapped, isOwned, isDeferred) =
      switch each?.kind ?? kind {
      case .lazy(let inner): (true, inner.isOwned, true)
      case .owned: (true, true, false)
      default: (each != nil, false, false)
      }
    self.box = box
    self.isArrayOfObjects = isArrayOfObjects
    self.given = { value in
      (isSeed ? nil : value as? Wanted).map { Wanted.self is AnyObject.Type ? $0 as AnyObject : ValueBox($0) }
    }
    givenReading = Wanted.self is AnyObject.Type ? .reference : .boxed
    self.qualifier = qualifier ?? each?.qualifier
    self.each = each
    self.wrap = wrap
  }

  /// Whether the request is for one bean, in any form: then a collection of such requests is possible.
  var isOfOneBean: Bool {
    switch kind {
    case .one, .owned: true
    case .lazy(let inner): inner.isOfOneBean
    case .optional, .all, .named, .distinct, .provider, .current, .environment, .configuration, .seed, .invalid: false
    }
  }

  /// Whether the request is for a provider of beans that its taker owns.
  var providesOwned: Bool {
    guard case .provider(let provided) = kind else { return false }
    return provided.isOwned
  }

  /// Returns the argument for a value given in a declaration; nil where the value is not of the wanted type.
  func argument(given value: Any) -> Argument? { given(value).map { Argument($0, givenReading) } }

  /// Returns the parameter for a type: the same object in each call.
  @usableFromInline
  static func of<Wanted>(_ type: Wanted.Type) -> Parameter {
    let place = Int(bitPattern: ObjectIdentifier(type)) >> 4 & 255
    if let found = recent[place].load(ordering: .acquiring)?.object, found.wanted == type { return found }
    let parameter = find(type)
    recent[place].store(Unretained(parameter), ordering: .releasing)
    return parameter
  }

  private static func find<Wanted>(_ type: Wanted.Type) -> Parameter {
    let key = ObjectIdentifier(type)
    if let parameter = known.withLock({ $0[key] }) { return parameter }
    // A cast is slow for a type that the runtime has not seen.
    let made = mayBeWrapper(type) ? (type as? any ParameterType.Type)?.parameter ?? single(type) : single(type)
    return known.withLock { known in
      if let parameter = known[key] { return parameter }
      known[key] = made
      return made
    }
  }

  /// Returns the parameters for several types, in order.
  @inlinable @inline(__always)
  static func all<each Wanted>(_ types: repeat (each Wanted).Type) -> [Parameter] {
    var (parameters, count): ([Parameter], Int) = ([], 0)
    repeat count += (each types, 1).1
    parameters.reserveCapacity(count)
    repeat parameters.append(Parameter.of(each types))
    return parameters
  }

  private static let known = Locked<[ObjectIdentifier: Parameter]>([:])
  /// A cache of known parameters, which is read without the lock. The address of a type decides its place.
  private static let recent: FrozenArray<Atomic<Unretained<Parameter>?>> = {
    var places = FrozenArray<Atomic<Unretained<Parameter>?>>(capacity: 256)
    for _ in 0..<256 { places.append(Atomic(nil)) }
    return places
  }()

  /// Returns the request of one bean of the type.
  private static func single<Wanted>(_ type: Wanted.Type) -> Parameter {
    Parameter(type, element: type, .one, box: { ($0.first as? Wanted).map { ValueBox($0) } })
  }

  /// Returns the request of a bean that has to exist, of any type.
  static func requirement(_ type: Any.Type) -> Parameter {
    func open<Required>(_ type: Required.Type) -> Parameter {
      Parameter(type, element: type, .one, isReference: true, box: { _ in ValueBox(()) })
    }
    return open(type)
  }

  /// Whether a type requests something other than a bean of its own type, so that no bean may have it.
  static func isWrapper(_ type: Any.Type) -> Bool {
    mayBeWrapper(type) && (type as? any ParameterType.Type).map { !($0 is any CollectedType.Type) } ?? false
  }

  private static func mayBeWrapper(_ type: Any.Type) -> Bool {
    let (certain, possible) = wrappers.conformances(of: type)
    return certain | possible != 0
  }

  private static let wrappers = ProtocolList([(any ParameterType).self])
}

/// The origin of the beans of a wrapper.
enum BeanSource {
  /// The lookups of a `Provider` or a `Current`.
  case lookup(any BeanLookup, id: String?)
  /// The bean of a `Lazy`.
  case deferred(any DeferredBean)
  /// The bean of an `Owned`.
  case owned(any OwnedInstance)
}

/// A type that requests something other than one bean of its own type.
protocol ParameterType {
  static var parameter: Parameter { get }
}

/// A parameter type that may also be the type of a bean.
protocol CollectedType: ParameterType {}
