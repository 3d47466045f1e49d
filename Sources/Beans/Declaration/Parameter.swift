import BeansErrors
@_spi(BeansPackage) import BeansSupport
import BeansReflection

/// What a parameter, a property or a lookup asks for. There is one for each type.
@usableFromInline
final class Parameter: Sendable {
  enum Kind: Sendable {
    /// Exactly one bean.
    case one
    /// One bean or nil.
    case optional
    /// Every bean.
    case all
    /// Every bean that has an id, by that; a bean of exactly the type first.
    case named
    /// Every bean, each once where two are equal; a bean of exactly the type first.
    case distinct
    /// A `Provider` of something.
    case provider(Parameter)
    /// A `Lazy` something.
    case lazy(Parameter)
    /// An `Owned` bean.
    case owned(Parameter)
    /// The `Current` one of the children that are open.
    case current(Parameter)
    /// The environment in which the bean is built.
    case environment
    /// That environment's configuration.
    case configuration
    /// The seed of a product.
    case seed
    /// Nothing the container can give; the message says why.
    case invalid(FaultCause, String)
  }

  /// The type that is delivered: `T`, `T?`, `[T]`, `Provider<T>`.
  let wanted: Any.Type
  /// The type that beans are searched for.
  let element: Any.Type
  let kind: Kind
  /// The qualifier that beans have to have.
  let qualifier: Any.Type?
  /// What each bean is delivered as, where that is more than the bean itself.
  let each: Parameter?
  /// Whether a class instance can be delivered without a box.
  let isReference: Bool
  /// The `ValueBox` of the wanted type around beans found (none for an absent optional); nil where one does not fit.
  let box: @Sendable ([Any]) -> AnyObject?
  /// The object, or the box, for a value given in a declaration; nil where the value is not of the wanted type.
  let given: @Sendable (Any) -> AnyObject?
  /// The box of a provider that looks there; nil for everything else.
  let makeProvider: (@Sendable (any BeanLookup, String?) -> AnyObject)?
  /// The box of what is evaluated when it is first asked for; nil for everything else.
  let makeLazy: (@Sendable (any DeferredBean) -> AnyObject)?
  /// The box of what somebody owns; nil for everything else.
  let makeOwned: (@Sendable (any OwnedInstance) -> AnyObject)?

  /// What a parameter of a type asks for. A value may be given for it, except for a seed.
  init<Wanted>(
    _ wanted: Wanted.Type, element: Any.Type, _ kind: Kind, isReference: Bool = Wanted.self is AnyObject.Type,
    qualifier: Any.Type? = nil, each: Parameter? = nil,
    box: @escaping @Sendable ([Any]) -> AnyObject? = { _ in nil },
    makeProvider: (@Sendable (any BeanLookup, String?) -> AnyObject)? = nil,
    makeLazy: (@Sendable (any DeferredBean) -> AnyObject)? = nil,
    makeOwned: (@Sendable (any OwnedInstance) -> AnyObject)? = nil
  ) {
    let isSeed = if case .seed = kind { true } else { false }
    self.wanted = wanted
    self.element = element
    self.kind = kind
    self.isReference = isReference
    self.box = box
    self.given = { value in
      (isSeed ? nil : value as? Wanted).map { Wanted.self is AnyObject.Type ? $0 as AnyObject : ValueBox($0) }
    }
    self.makeProvider = makeProvider
    self.qualifier = qualifier ?? each?.qualifier
    self.each = each
    self.makeLazy = makeLazy
    self.makeOwned = makeOwned
  }

  /// Whether it is one bean, in whatever form: then there may be several.
  var isOfOneBean: Bool {
    switch kind {
    case .one, .owned: true
    case .lazy(let inner): inner.isOfOneBean
    case .optional, .all, .named, .distinct, .provider, .current, .environment, .configuration, .seed, .invalid: false
    }
  }

  /// Whether it is a provider of what its taker owns.
  var providesOwned: Bool {
    guard case .provider(let provided) = kind else { return false }
    if case .owned = provided.kind { return true }
    if case .owned = provided.each?.kind { return true }
    return false
  }

  /// How what `given` answers is read.
  var givenReading: Reading { if case .optional = kind { .boxed } else { isReference ? .reference : .boxed } }

  /// The argument for a value given in a declaration; nil where the value is not of the wanted type.
  func argument(given value: Any) -> Argument? { given(value).map { Argument($0, givenReading) } }

  /// The parameter for a type: the same one for all that ask for it.
  @usableFromInline
  static func of<Wanted>(_ type: Wanted.Type) -> Parameter {
    let recent = recent.slots[Int32(truncatingIfNeeded: UInt(bitPattern: ObjectIdentifier(type)) >> 4) & 255]
    let found = Unretained<Parameter>(address: recent.content.word)?.object
    if let found, found.wanted == type { return found }
    let parameter = find(type)
    recent.store(.filled(ObjectReference(unretained: parameter)))
    return parameter
  }

  private static func find<Wanted>(_ type: Wanted.Type) -> Parameter {
    let key = ObjectIdentifier(type)
    if let parameter = known.withLock({ $0[key] }) { return parameter }
    // A cast is slow to answer for a type that the runtime has not seen.
    let made = mayBeWrapper(type) ? (type as? any ParameterType.Type)?.parameter ?? single(type) : single(type)
    return known.withLock { known in
      if let parameter = known[key] { return parameter }
      known[key] = made
      return made
    }
  }

  /// Those for several types, in order.
  @inlinable @inline(__always)
  static func all<each Wanted>(_ types: repeat (each Wanted).Type) -> [Parameter] {
    var (parameters, count): ([Parameter], Int) = ([], 0)
    repeat count += (each types, 1).1
    parameters.reserveCapacity(count)
    repeat parameters.append(Parameter.of(each types))
    return parameters
  }

  private static let known = Locked<[ObjectIdentifier: Parameter]>([:])
  /// Some of those that are known, each in a place that its type's address decides, to be read without the lock.
  private static let recent = SlotBlock(slots: 256, values: 0)

  /// One bean of the type.
  private static func single<Wanted>(_ type: Wanted.Type) -> Parameter {
    Parameter(type, element: type, .one, box: { ($0.first as? Wanted).map { ValueBox($0) } })
  }

  /// A bean that has to exist, of whatever type.
  static func requirement(_ type: Any.Type) -> Parameter {
    func open<Required>(_ type: Required.Type) -> Parameter {
      Parameter(type, element: type, .one, isReference: true, box: { _ in ValueBox(()) })
    }
    return open(type)
  }

  /// Whether a type asks the container for something else than a bean of its own type, so that no bean may be of it.
  static func isWrapper(_ type: Any.Type) -> Bool {
    mayBeWrapper(type) && (type as? any ParameterType.Type).map { !($0 is any CollectedType.Type) } ?? false
  }

  private static func mayBeWrapper(_ type: Any.Type) -> Bool {
    let (certain, possible) = wrappers.conformances(of: type)
    return certain | possible != 0
  }

  private static let wrappers = ProtocolList([(any ParameterType).self])
}

/// Types that ask the container for something else than one bean of their own type.
protocol ParameterType {
  static var parameter: Parameter { get }
}

/// Those of which a bean may be, too.
protocol CollectedType: ParameterType, SendableMetatype {
  /// The box of the collection of beans; nil where one does not fit.
  static func box(_ beans: [Any]) -> AnyObject?
}
