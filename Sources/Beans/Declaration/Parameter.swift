@_spi(BeansPackage) package import BeansErrors
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
    /// A part of the environment in which the bean is built.
    case part(EnvironmentPart)
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
  /// The type of an array of objects, none of which needs a box; nil for other requests.
  let assembled: (any AssembledType.Type)?
  /// The reading of the objects that `given` returns.
  let givenReading: Reading
  /// Returns the `ValueBox` of the wanted type around its beans; nil where one does not fit. Nil for a type of which a
  /// bean is a value itself.
  private let wrap: (@Sendable (BeanSource) -> AnyObject?)?

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - wanted: the type that is delivered.
  ///   - element: the type of the beans.
  ///   - kind: the kind.
  ///   - isRequirement: whether the bean only has to exist: its object is never read as the wanted type.
  ///   - qualifier: the qualifier of the beans, unless their wrapper has it.
  ///   - each: the wrapper of each bean.
  ///   - array: the type, if it is an array.
  ///   - wrap: makes the box of the wanted type, if a bean is not a value of it itself.
  init(
    _ wanted: Any.Type, element: Any.Type, _ kind: Kind, isRequirement: Bool = false, qualifier: Any.Type? = nil,
    each: Parameter? = nil, array: (any AssembledType.Type)? = nil, wrap: (@Sendable (BeanSource) -> AnyObject?)? = nil
  ) {
    self.wanted = wanted
    self.element = element
    self.kind = kind
    self.qualifier = qualifier ?? each?.qualifier
    self.each = each
    self.wrap = wrap
    (isWrapped, isOwned, isDeferred) =
      switch each?.kind ?? kind {
      case .lazy(let inner): (true, inner.isOwned, true)
      case .owned: (true, true, false)
      default: (each != nil, false, false)
      }
    // An optional of an object, and a qualified one, have the memory of the object.
    let isOfObjects = each == nil && element is AnyObject.Type
    switch kind {
    case .one, .optional: (isReference, assembled) = (isOfObjects || isRequirement, nil)
    case .all where isOfObjects: (isReference, assembled) = (false, array)
    default: (isReference, assembled) = (false, nil)
    }
    givenReading = if wanted is AnyObject.Type { .reference } else { .boxed }
  }

  /// Whether the request is for one bean, in any form: then a collection of such requests is possible.
  var isOfOneBean: Bool {
    switch kind {
    case .one, .owned: true
    case .lazy(let inner): inner.isOfOneBean
    case .optional, .all, .named, .distinct, .provider, .current, .part, .seed, .invalid: false
    }
  }

  /// Whether the request is for a provider of beans that its taker owns.
  var providesOwned: Bool {
    guard case .provider(let provided) = kind else { return false }
    return provided.isOwned
  }

  /// Returns the object, or the box, for a value given in a declaration; nil where the value is not of the wanted type,
  /// and for a seed.
  func given(_ value: Any) -> AnyObject? {
    if case .seed = kind { return nil }
    return Self.object(given: value, as: wanted, isClass: givenReading.isReference)
  }

  /// Returns the object, or the box, for a value of a type that a declaration gives; nil for a value of another type.
  static func object(given value: Any, as type: Any.Type, isClass: Bool) -> AnyObject? {
    func open<Value>(_ type: Value.Type) -> AnyObject? {
      (value as? Value).map { isClass ? $0 as AnyObject : ValueBox($0) }
    }
    return open(type)
  }

  /// Returns the argument for a value given in a declaration; nil where the value is not of the wanted type.
  func argument(given value: Any) -> Argument? { given(value).map { Argument($0, givenReading) } }

  /// Returns the `ValueBox` of the wanted type around its beans, none for an absent optional; nil where one does not
  /// fit. Not for classes, whose instances need no box.
  func box(_ source: BeanSource) -> AnyObject? {
    if let wrap { return wrap(source) }
    return given(source.beans.first ?? Any?.none as Any)
  }

  /// Returns the parameter for a type: the same object in each call.
  @usableFromInline
  static func of<Wanted>(_ type: Wanted.Type) -> Parameter {
    let place = Int(bitPattern: ObjectIdentifier(type)) >> 4 & 255
    if let found = recent[place].load(ordering: .acquiring)?.object, found.wanted == type { return found }
    let parameter = find(type)
    recent[place].store(Unretained(parameter), ordering: .releasing)
    return parameter
  }

  private static func find(_ type: Any.Type) -> Parameter {
    let key = ObjectIdentifier(type)
    if let parameter = known.withLock({ $0[key] }) { return parameter }
    let made = form(of: type)?.parameter ?? Parameter(type, element: type, .one)
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
  private static let recent = FrozenArray<Atomic<Unretained<Parameter>?>>(count: 256) { Atomic(nil) }

  /// Returns the request of a bean that has to exist, of any type.
  static func requirement(_ type: Any.Type) -> Parameter {
    Parameter(type, element: type, .one, isRequirement: true)
  }

  /// Whether a type requests something other than a bean of its own type, so that no bean may have it.
  static func isWrapper(_ type: Any.Type) -> Bool {
    form(of: type).map { !($0 is any CollectedType.Type) } ?? false
  }

  /// Returns the type as one that requests something other than one bean of its own type; nil for any other type.
  private static func form(of type: Any.Type) -> (any ParameterType.Type)? {
    let (certain, possible) = wrappers.conformances(of: type)
    // A cast is slow for a type that the runtime has not seen.
    return if certain | possible == 0 { nil } else { type as? any ParameterType.Type }
  }

  private static let wrappers = ProtocolList([(any ParameterType).self])
}

/// A part of an environment that a bean may take.
package enum EnvironmentPart: Sendable {
  /// The environment itself.
  case environment
  case configuration
}

/// The content of a value that a request delivers.
enum BeanSource {
  /// Beans, or the keys of a map and beans in turn.
  case beans([Any])
  /// The lookups of a `Provider` or a `Current`.
  case lookup(any BeanLookup, id: String?)
  /// The bean of a `Lazy`.
  case deferred(any DeferredBean)
  /// The bean of an `Owned`.
  case owned(any OwnedInstance)

  var beans: [Any] { if case .beans(let beans) = self { beans } else { [] } }
}

/// A type that requests something other than one bean of its own type.
protocol ParameterType {
  static var parameter: Parameter { get }
}

/// A parameter type that may also be the type of a bean.
protocol CollectedType: ParameterType {}
