import Synchronization

/// The content of a declaration: a value, which a declaration copies before it changes a spec that `define` has taken.
///
/// Its parts are replaced, never changed in place. The compiler can therefore prove that a part does not change while
/// it is read. Startup reads all parts for every bean.
final class BeanSpec {
  /// The number that distinguishes declarations, even after they are deallocated; copies have the number of the
  /// original.
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
  /// Whether the compiler knows the type to be `Sendable`; `isTargetSendable` is the same for a factory bean's
  /// products.
  var isSendable = false
  var isTargetSendable = false
  var location: SourceLocation
  /// The user's factory, or one that returns the user's instance.
  var factory: FactoryFunction?
  /// A class's own `init()`, which a template's factory overrides.
  var initializer: FactoryFunction?
  /// The instance that the user passed to `bean(_:)`.
  var instance: InstanceHolder?
  /// Parameters that are not resolved by their type, in order of their index.
  private(set) var arguments: [(index: Int, value: BeanValue)] = []
  /// The properties in the order in which they were set.
  private(set) var properties: [PropertyInjection] = []
  /// Beans that must exist before this one is built.
  var requirements: [(parameter: Parameter, value: BeanValue)] = []
  /// The types that the declaration states as superclasses or conformances.
  var stated: [Any.Type] = []
  /// The type of a factory bean's products.
  var target: Any.Type?
  /// Whether the bean is a decorator: its first parameter is the decorated bean, of the same type.
  var isDecorator = false
  var postConstructs: [BeanCallback] = []
  var onDestroys: [ReleaseCallback] = []
  /// Rarely used parts of a declaration, allocated on demand.
  private(set) var options: ValueBox<Options>?

  struct Options {
    /// The module that declares the bean; `isPrivate` restricts the bean to it.
    var module: IncludedModule?
    var isPrivate = false
    /// Types that distinguish the bean from others of its type.
    var qualifiers: [Any.Type] = []
    /// Conditions of the declaration, which is active only if all of them hold.
    var conditions: [BeanCondition] = []
    var listeners: [EventHandler] = []
    /// The reason why several threads may share the bean although its type is not known to be `Sendable`.
    var sharing: String?
    /// The time limit for the release of an instance.
    var releaseLimit: Duration?
    /// Whether other code releases the instances.
    var isExternallyOwned = false
  }

  /// Faults of the declaration itself, which startup reports with all other faults.
  var faults: [(cause: FaultCause, message: String)] = []
  /// Faults of single properties. Startup still resolves the bean.
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

  /// Inherits everything that this spec does not set itself; a class's plain `init()` is not set in this sense.
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
    // Releases the second reference, so that `all` is not copied.
    arguments = []
    if all.isEmpty { all.reserveCapacity(4) }
    let isInOrder = all.last.map { $0.index < index } ?? true
    if !isInOrder { all.removeAll { $0.index == index } }
    all.append((index, value))
    if !isInOrder { all.sort { $0.index < $1.index } }
    arguments = all
  }

  /// Sets a property. The last value of a property overrides earlier ones, and determines its place in the order.
  func set(_ property: PropertyInjection) {
    properties = properties.filter { $0.name != property.name } + [property]
  }

  /// Whether the declaration sets properties, or parameters to other values than beans by id.
  var hasValues: Bool {
    !properties.isEmpty || arguments.contains { if case .reference = $0.value { false } else { true } }
  }

  /// The beans declared in place, in parameters and properties, without those declared in place inside them.
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

  /// Changes the rarely used parts.
  func change(_ change: (inout Options) -> Void) {
    var options = options?.value ?? Options()
    change(&options)
    self.options = ValueBox(options)
  }

  /// Assigns the declaration to a module.
  func enter(_ module: IncludedModule) {
    change { $0.module = module }
    location = .known(location.origin.declared(in: module.name))
    arguments = arguments.map { ($0.index, $0.value.declared(in: module.name)) }
    properties = properties.map { PropertyInjection($0.name, $0.value.declared(in: module.name), $0.setter) }
  }

  /// The name of the declaration in faults before it is a bean.
  var written: String {
    let name = id.map { "\(kind) '\($0)'" } ?? kind
    return isDecorator ? "decorator of \(name)" : name
  }
  var kind: String { type.map { "\($0)" } ?? "template" }
}

// MARK: copies

extension BeanSpec {
  /// Returns the spec of the product of the factory bean that this declares. The factory keeps its construction and its
  /// callbacks.
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

  /// Returns the spec of a test's bean that replaces this one: found and shared like this one, and built by its own
  /// factory.
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

/// The injection of one property of one declaration: its name, its value and its setter.
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
  /// The setter; nil for a name, which startup looks up in the bean's class.
  let setter: PropertySetter?

  init(_ name: Name, _ value: BeanValue, _ setter: PropertySetter? = nil) {
    (self.name, self.value, self.setter) = (name, value, setter)
  }

  var isPath: Bool { if case .path = name { true } else { false } }
}

/// A closure that a user attached to a declaration, with the type that it expects.
@usableFromInline
struct BeanCallback: Sendable {
  let owner: Any.Type
  private let body: @Sendable (AnyObject) throws -> Void

  @usableFromInline
  init(_ owner: Any.Type, _ body: @escaping @Sendable (AnyObject) throws -> Void) {
    self.owner = owner
    self.body = body
  }

  /// Creates a callback from a closure. Inlined into the module that declares the bean, so that it is compiled for the
  /// concrete type.
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

  /// Calls the closure. `object` is an `owner`, as startup has checked.
  func callAsFunction(_ object: AnyObject) throws { try body(object) }
}
