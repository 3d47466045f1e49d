import Synchronization

/// The content of a declaration: a value.
///
/// A declaration replaces fields of its spec and computes their values before. The compiler can therefore prove that the
/// spec does not change while it is read, and no access checks that at run time.
package struct BeanSpec {
  /// The number that distinguishes declarations, even after they are deallocated; copies have the number of the
  /// original.
  package let number = BeanSpec.count.add(1, ordering: .relaxed).newValue
  /// The bean's own type; nil for a template without a class.
  package internal(set) var type: Any.Type?
  package internal(set) var id: String?
  /// The id of the declaration that this one inherits from.
  var template: String?
  package internal(set) var scopeName: String?
  package internal(set) var isLazy: Bool?
  package internal(set) var isAbstract = false
  package internal(set) var isPrimary = false
  /// Whether the compiler knows the type to be `Sendable`; `isTargetSendable` is the same for a factory bean's
  /// products.
  var isSendable = false
  var isTargetSendable = false
  /// Whether the bean is a decorator: its first parameter is the decorated bean, of the same type.
  package internal(set) var isDecorator = false
  var location: SourceLocation
  /// The user's factory, or one that returns the user's instance.
  var factory: FactoryFunction?
  /// A class's own `init()`, which a template's factory overrides.
  var initializer: FactoryFunction?
  /// The instance that the user passed to `bean(_:)`.
  var instance: InstanceHolder?
  /// Parameters that are not resolved by their type, in order of their index.
  var arguments: [(index: Int, value: BeanValue)] = []
  /// The properties in the order in which they were set.
  var properties: [PropertyInjection] = []
  /// The type of a factory bean's products.
  var target: Any.Type?
  /// The box of the rare parts; nil while no part is set. Copies share it.
  var options: ValueBox<Options>?

  package struct Options {
    /// Beans that must exist before this one is built.
    var requirements: [(parameter: Parameter, value: BeanValue)] = []
    /// The types that the declaration states as superclasses or conformances.
    var stated: [Any.Type] = []
    /// The module that declares the bean; `isPrivate` restricts the bean to it.
    var module: IncludedModule?
    package internal(set) var isPrivate = false
    /// Types that distinguish the bean from others of its type.
    var qualifiers: [Any.Type] = []
    /// Conditions of the declaration, which is active only if all of them hold.
    var conditions: [BeanCondition] = []
    var postConstructs: [BeanCallback] = []
    var onDestroys: [BeanCallback] = []
    var listeners: [EventHandler] = []
    /// Work that begins with each instance, and ends before its release.
    package internal(set) var works: [any AttachedWork] = []
    /// The decision about a run that fails; nil where a failure ends the environment.
    var restarts: RestartPolicy?
    /// The reason why several threads may share the bean although its type is not known to be `Sendable`.
    var sharing: String?
    /// The time limit for the release of an instance.
    var releaseLimit: Duration?
    /// Whether other code releases the instances.
    var isExternallyOwned = false
    /// Faults of the declaration itself, which startup reports with all other faults.
    var faults: [(cause: FaultCause, message: String)] = []

    /// The key of the module to which the bean is restricted.
    var privateTo: ObjectIdentifier? { if isPrivate { module?.key } else { nil } }

    /// Whether the options neither name users' code nor change the release.
    var hasNoCode: Bool {
      postConstructs.isEmpty && onDestroys.isEmpty && works.isEmpty && restarts == nil && releaseLimit == nil
        && !isExternallyOwned
    }
  }

  private static let count = Atomic(0)

  /// The parts that few declarations set.
  var rare: Options {
    get { options?.value ?? Options() }
    set { options = ValueBox(newValue) }
  }

  func argument(_ index: Int) -> BeanValue? { arguments.first { $0.index == index }?.value }

  /// The name of the declaration in faults before it is a bean.
  package var written: String {
    let name = id.map { "\(kind) '\($0)'" } ?? kind
    return if isDecorator { "decorator of \(name)" } else { name }
  }
  var kind: String { type.map { "\($0)" } ?? "template" }
}

extension BeanSpec {
  /// Creates the spec of a declaration with the arguments of `Environment.bean`.
  @inline(__always)
  init(
    _ type: Any.Type?, _ id: String?, _ parent: String?, _ lazy: Bool, _ abstract: Bool, _ location: SourceLocation,
    _ factory: FactoryFunction? = nil
  ) {
    self.init(
      type: type, id: id, template: parent, isLazy: lazy ? true : nil, isAbstract: abstract, location: location,
      factory: factory)
  }

  // MARK: copies

  /// Inherits everything that this spec does not set itself; a class's plain `init()` is not set in this sense.
  mutating func inherit(_ template: BeanSpec) {
    isLazy = isLazy ?? template.isLazy
    scopeName = scopeName ?? template.scopeName
    if target == nil { (target, isTargetSendable) = (template.target, template.isTargetSendable) }
    instance = instance ?? template.instance
    for (index, value) in template.arguments {
      arguments.set(index, argument(index)?.inheriting(value) ?? value)
    }
    if let given = template.options?.value { rare.inherit(given) }
    properties = properties.reduce(template.properties) { $0.setting($1.inheriting($0)) }
  }

  /// Returns the spec of the product of the factory bean that this declares. The factory keeps its construction and its
  /// callbacks.
  func product(_ type: Any.Type) -> BeanSpec {
    var product = BeanSpec(
      type: type, id: id, isLazy: isLazy, isPrimary: isPrimary, isSendable: isTargetSendable, location: location)
    if let options = options?.value {
      product.rare = Options(
        module: options.module, isPrivate: options.isPrivate, qualifiers: options.qualifiers,
        conditions: options.conditions, restarts: options.restarts, sharing: options.sharing,
        releaseLimit: options.releaseLimit, isExternallyOwned: options.isExternallyOwned)
    }
    return product
  }

  /// Returns the spec of a test's bean that replaces this one: found and shared like this one, and built by its own
  /// factory.
  func replacement(_ type: Any.Type, at location: SourceLocation) -> BeanSpec {
    var replacement = BeanSpec(
      type: type, id: id, scopeName: scopeName, isLazy: isLazy, isPrimary: isPrimary, location: location)
    if let options = options?.value {
      replacement.rare = Options(module: options.module, isPrivate: options.isPrivate, qualifiers: options.qualifiers)
    }
    return replacement
  }
}

extension BeanSpec.Options {
  /// Inherits the parts of a template that these do not set.
  fileprivate mutating func inherit(_ template: BeanSpec.Options) {
    requirements = template.requirements + requirements
    if postConstructs.isEmpty { postConstructs = template.postConstructs }
    if onDestroys.isEmpty { onDestroys = template.onDestroys }
    if listeners.isEmpty { listeners = template.listeners }
    if works.isEmpty { works = template.works }
    restarts = restarts ?? template.restarts
    sharing = sharing ?? template.sharing
    releaseLimit = releaseLimit ?? template.releaseLimit
    isExternallyOwned = isExternallyOwned || template.isExternallyOwned
  }
}

/// A spec that `define` has taken, or one with its templates merged. Nothing changes it, so all definitions that are made
/// from it share it.
@dynamicMemberLookup
package final class FrozenSpec {
  let value: BeanSpec

  init(_ value: BeanSpec) { self.value = value }

  package subscript<Value>(dynamicMember field: KeyPath<BeanSpec, Value>) -> Value {
    @inline(__always) get { value[keyPath: field] }
  }

  /// Whether the declaration sets properties, or parameters to other values than beans by id.
  var hasValues: Bool {
    !value.properties.isEmpty || value.arguments.contains { if case .reference = $0.value { false } else { true } }
  }

  /// The beans declared in place, in parameters and properties, without those declared in place inside them.
  var embedded: [BeanDeclaration] {
    if !hasValues { return [] }
    return value.arguments.flatMap(\.value.embedded) + value.properties.flatMap(\.value.embedded)
  }

  // The rare parts, with the values of a spec without any.

  package subscript<Element>(dynamicMember part: KeyPath<BeanSpec.Options, [Element]>) -> [Element] {
    @inline(__always) get { value.options?.value[keyPath: part] ?? [] }
  }

  subscript<Wrapped>(dynamicMember part: KeyPath<BeanSpec.Options, Wrapped?>) -> Wrapped? {
    @inline(__always) get { value.options?.value[keyPath: part] ?? nil }
  }

  package subscript(dynamicMember part: KeyPath<BeanSpec.Options, Bool>) -> Bool {
    @inline(__always) get { value.options?.value[keyPath: part] ?? false }
  }
}

// MARK: parts

extension [(index: Int, value: BeanValue)] {
  /// Sets the value of one parameter, in order of the indices.
  mutating func set(_ index: Int, _ value: BeanValue) {
    if isEmpty { reserveCapacity(4) }
    if last.map({ $0.index < index }) ?? true { return append((index, value)) }
    removeAll { $0.index == index }
    insert((index, value), at: firstIndex { $0.index > index } ?? endIndex)
  }
}

extension [PropertyInjection] {
  /// Returns the list with one more property. The last value of a property overrides earlier ones, and determines its
  /// place in the order.
  func setting(_ property: PropertyInjection) -> [PropertyInjection] {
    filter { $0.name != property.name } + [property]
  }
}

/// The injection of one property of one declaration: its name, its value and its setter.
package struct PropertyInjection {
  package enum Name: Hashable, CustomStringConvertible {
    case path(AnyKeyPath)
    case text(String)

    package var description: String {
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

  /// Returns the injection with its value added to the one of the same property in a template, if it is to be merged.
  func inheriting(_ template: [PropertyInjection]) -> PropertyInjection {
    guard let inherited = template.first(where: { $0.name == name }) else { return self }
    return PropertyInjection(name, value.inheriting(inherited.value), setter)
  }

  var isPath: Bool { if case .path = name { true } else { false } }
}
