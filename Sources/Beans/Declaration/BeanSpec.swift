import Synchronization

/// What a user says about one bean: a value, which a declaration copies before it changes what `define` has taken.
///
/// Its parts are replaced, never changed in place: then the compiler sees by itself that nobody changes one while it is
/// read, and startup reads them all for every bean.
final class BeanSpec {
  /// Tells declarations apart, also after they have gone; copies have the number of the original.
  let number: Int
  /// The bean's own type; nil for a template without a class.
  var type: Any.Type?
  var id: String?
  /// The id of the declaration that this one inherits from.
  var template: String?
  var scopeName: String?
  var isLazy: Bool?
  var isAbstract = false
  var isPrimary = false
  /// Whether the compiler knows that the type is `Sendable`, and what a factory bean makes.
  var isSendable = false
  var isTargetSendable = false
  var location: SourceLocation
  /// What the user gave: a factory or an instance.
  var factory: FactoryFunction?
  /// A class's own `init()`, which a template's factory overrules.
  var initializer: FactoryFunction?
  /// The instance that was handed in.
  var instance: InstanceHolder?
  /// Parameters that are not resolved by their type, in order of their index.
  private(set) var arguments: [(index: Int, value: BeanValue)] = []
  /// In the order in which they were set.
  private(set) var properties: [PropertyInjection] = []
  /// What must exist before the bean is built.
  var requirements: [(parameter: Parameter, value: BeanValue)] = []
  /// What the declaration says the bean conforms to.
  var stated: [Any.Type] = []
  /// What a factory bean makes.
  var target: Any.Type?
  /// Whether the first parameter is another bean of the type, which this one stands before.
  var isDecorator = false
  var postConstructs: [BeanCallback] = []
  var onDestroys: [ReleaseCallback] = []
  /// What few declarations say.
  private(set) var options: ValueBox<Options>?

  struct Options {
    /// The module that declares it, and whether nobody else finds it.
    var module: IncludedModule?
    var isPrivate = false
    /// Types that tell the bean from others of its type.
    var qualifiers: [Any.Type] = []
    /// What has to hold for the declaration to count, all of it.
    var conditions: [BeanCondition] = []
    var listeners: [EventHandler] = []
    /// Why several threads may share the bean although its type is not known to be `Sendable`.
    var sharing: String?
    /// How long the release of an instance may take.
    var releaseLimit: Duration?
    /// Whether somebody else releases the instances.
    var isExternallyOwned = false
  }

  /// What the declaration says is wrong with itself, reported at startup with all other faults.
  var faults: [(cause: FaultCause, message: String)] = []
  /// What is wrong with single properties: the bean is looked at all the same.
  var propertyFaults: [String] = []

  private static let count = Atomic(0)

  init(type: Any.Type?, id: String?, location: SourceLocation) {
    number = Self.count.add(1, ordering: .relaxed).newValue
    self.type = type
    self.id = id
    self.location = location
  }

  init(copying other: BeanSpec) {
    number = other.number
    (type, id, template, scopeName) = (other.type, other.id, other.template, other.scopeName)
    (isLazy, isAbstract, isPrimary, location) = (other.isLazy, other.isAbstract, other.isPrimary, other.location)
    (factory, initializer, instance) = (other.factory, other.initializer, other.instance)
    (arguments, properties, requirements) = (other.arguments, other.properties, other.requirements)
    (stated, target, faults, propertyFaults) = (other.stated, other.target, other.faults, other.propertyFaults)
    (postConstructs, onDestroys) = (other.postConstructs, other.onDestroys)
    (isDecorator, options) = (other.isDecorator, other.options)
    (isSendable, isTargetSendable) = (other.isSendable, other.isTargetSendable)
  }

  /// Takes over everything that this spec does not set itself; a class's plain `init()` does not count as set.
  func inherit(_ template: BeanSpec) {
    isLazy = isLazy ?? template.isLazy
    scopeName = scopeName ?? template.scopeName
    if target == nil { (target, isTargetSendable) = (template.target, template.isTargetSendable) }
    instance = instance ?? template.instance
    for (index, value) in template.arguments where argument(index) == nil { setArgument(index, value) }
    requirements = template.requirements + requirements
    if postConstructs.isEmpty { postConstructs = template.postConstructs }
    if onDestroys.isEmpty { onDestroys = template.onDestroys }
    if template.options != nil, listeners.isEmpty { change { $0.listeners = template.listeners } }
    if let limit = template.releaseLimit, releaseLimit == nil { change { $0.releaseLimit = limit } }
    if template.isExternallyOwned { change { $0.isExternallyOwned = true } }
    if let sharing = template.options?.value.sharing, options?.value.sharing == nil { change { $0.sharing = sharing } }
    let own = properties
    properties = template.properties
    for property in own { set(property) }
  }

  func argument(_ index: Int) -> BeanValue? { arguments.first { $0.index == index }?.value }

  func setArgument(_ index: Int, _ value: BeanValue) {
    var all = arguments
    // So that `all` is not copied.
    arguments = []
    if all.isEmpty { all.reserveCapacity(4) }
    let isInOrder = all.last.map { $0.index < index } ?? true
    if !isInOrder { all.removeAll { $0.index == index } }
    all.append((index, value))
    if !isInOrder { all.sort { $0.index < $1.index } }
    arguments = all
  }

  /// The last word on a property counts, and takes its place in the order.
  func set(_ property: PropertyInjection) {
    properties = properties.filter { $0.name != property.name } + [property]
  }

  /// Whether properties are set, or parameters to anything but beans by their ids.
  var hasValues: Bool {
    !properties.isEmpty || arguments.contains { if case .reference = $0.value { false } else { true } }
  }

  /// Beans declared in place, in parameters and properties, not counting those that are declared in place in them.
  var embedded: [BeanDeclaration] {
    hasValues ? arguments.flatMap(\.value.embedded) + properties.flatMap(\.value.embedded) : []
  }

  var module: IncludedModule? { options?.value.module }
  var isPrivate: Bool { options?.value.isPrivate ?? false }
  var qualifiers: [Any.Type] { options?.value.qualifiers ?? [] }
  var conditions: [BeanCondition] { options?.value.conditions ?? [] }
  var listeners: [EventHandler] { options?.value.listeners ?? [] }
  var releaseLimit: Duration? { options?.value.releaseLimit }
  var isExternallyOwned: Bool { options?.value.isExternallyOwned ?? false }

  /// Says something that few declarations say.
  func change(_ change: (inout Options) -> Void) {
    var options = options?.value ?? Options()
    change(&options)
    self.options = ValueBox(options)
  }

  /// Makes it one of a module's.
  func enter(_ module: IncludedModule) {
    change { $0.module = module }
    location = .known(location.origin.declared(in: module.name))
    arguments = arguments.map { ($0.index, $0.value.declared(in: module.name)) }
    properties = properties.map { PropertyInjection($0.name, $0.value.declared(in: module.name), $0.setter) }
  }

  /// What faults call it before it is a bean.
  var written: String {
    let name = id.map { "\(kind) '\($0)'" } ?? kind
    return isDecorator ? "decorator of \(name)" : name
  }
  var kind: String { type.map { "\($0)" } ?? "template" }
}

// MARK: copies

extension BeanSpec {
  /// The product of a factory bean that this declares. The factory keeps its own: how it is built, and its callbacks.
  func product(_ type: Any.Type) -> BeanSpec {
    let product = BeanSpec(type: type, id: id, location: location)
    (product.isLazy, product.isPrimary, product.isSendable) = (isLazy, isPrimary, isTargetSendable)
    if let options {
      product.change {
        $0 = options.value
        $0.listeners = []
      }
    }
    return product
  }

  /// The bean of a test that takes the place of this one: found and shared as this one is, and built by itself.
  func replacement(_ type: Any.Type, at location: SourceLocation) -> BeanSpec {
    let replacement = BeanSpec(type: type, id: id, location: location)
    (replacement.scopeName, replacement.isPrimary, replacement.isLazy) = (scopeName, isPrimary, isLazy)
    if let options = options?.value {
      replacement.change {
        ($0.module, $0.isPrivate, $0.qualifiers) = (options.module, options.isPrivate, options.qualifiers)
      }
    }
    return replacement
  }
}

/// One property of one declaration: which, and where its value comes from.
struct PropertyInjection {
  enum Name: Hashable, CustomStringConvertible {
    case path(AnyKeyPath)
    case text(String)

    var description: String {
      switch self {
      case .path(let path): "\(path)"
      case .text(let name): "property '\(name)'"
      }
    }
  }

  let name: Name
  let value: BeanValue
  /// How it is set; nil for a name, which startup looks up in the bean's class.
  let setter: PropertySetter?

  init(_ name: Name, _ value: BeanValue, _ setter: PropertySetter? = nil) {
    (self.name, self.value, self.setter) = (name, value, setter)
  }

  var isPath: Bool { if case .path = name { true } else { false } }
}

/// A closure a user attached to a declaration, with the type it expects.
@usableFromInline
struct BeanCallback: Sendable {
  let owner: Any.Type
  private let body: @Sendable (AnyObject) throws -> Void

  @usableFromInline
  init(_ owner: Any.Type, _ body: @escaping @Sendable (AnyObject) throws -> Void) {
    self.owner = owner
    self.body = body
  }

  /// Inlined into the module that declares the bean, so that it is compiled for the concrete type.
  @inlinable @inline(__always)
  init<Instance>(_ body: @escaping @Sendable (Instance) throws -> Void) {
    self.init(Instance.self) { try body(BeanCallback.read($0)) }
  }

  @inlinable
  static func read<Instance>(_ object: AnyObject) throws -> Instance {
    if let instance = Box.read(object, as: Instance.self) { return instance }
    throw mismatch(object, Instance.self)
  }

  @usableFromInline
  static func mismatch(_ object: AnyObject, _ type: Any.Type) -> EnvironmentError {
    EnvironmentError(.typeMismatch, "\(Swift.type(of: Box.open(object))) is not a \(type)")
  }

  /// `object` is an `owner`: startup has checked it.
  func callAsFunction(_ object: AnyObject) throws { try body(object) }
}
