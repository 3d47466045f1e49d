/// What a user says about one bean.
///
/// Nothing here checks for overlapping accesses: all members are simple, and read many times by each startup.
///
/// Declarations are written on one thread before the environment starts; startup reads them once and never again, so
/// a change made later has no effect.
public class BeanDeclaration {
  /// Something that must exist before the bean is built.
  enum Requirement {
    case id(String)
    case type(Any.Type)
    case declaration(BeanDeclaration)
  }

  // What startup reads of every declaration comes first, so that it stands in one cache line.

  /// The bean's own type; nil for a template without a class.
  let type: Any.Type?
  /// Of that type.
  let traits: LifecycleTraits
  @exclusivity(unchecked) private(set) var isLazy: Bool?
  @exclusivity(unchecked) private(set) var isAbstract = false
  @exclusivity(unchecked) private(set) var isPrimary = false
  /// Set by the first `define`; a second one is a fault.
  @exclusivity(unchecked) var isDefined = false
  /// nil until there is one of them.
  @exclusivity(unchecked) private var details: Details?
  /// What became of the declaration, until its environment has been dismantled. Held by the plan.
  @exclusivity(unchecked) unowned(unsafe) var definition: Definition?
  /// What the user gave: a factory or an instance.
  @exclusivity(unchecked) var constructor: BeanConstructor?
  /// Parameters that are not resolved by their type.
  @exclusivity(unchecked) private(set) var pinned = PinnedArguments()
  @exclusivity(unchecked) private(set) var key: IdKey?
  /// Where its plan knows it by its id: as the first of that id; see `IdTable`.
  @exclusivity(unchecked) private var numberOfName = UInt32.max
  /// Where the declaration is written.
  @exclusivity(unchecked) private(set) var place: SourcePlace
  @exclusivity(unchecked) private(set) var scopeName: String?
  /// A class's own `init()`, which a template's factory overrules.
  @exclusivity(unchecked) var defaultConstructor: BeanConstructor?
  /// The instance that was handed in, until its environment has released it.
  @exclusivity(unchecked) var instance: AnyObject?
  /// What startup found to be the bean's type, its templates included.
  @exclusivity(unchecked) var definedType: Any.Type?

  private init(type: Any.Type?, id: String?, parent: String?, lazy: Bool, abstract: Bool, place: SourcePlace) {
    self.type = type
    self.traits = type.map { .cached(of: $0) } ?? []
    self.key = id.map { IdKey($0) }
    self.isLazy = lazy ? true : nil
    self.isAbstract = abstract
    self.place = place
    if let parent { detailed.template = parent }
    if let type, traits.contains(.wrapper) {
      fault = "\(type) is not a bean: optionals, arrays and the container's own types cannot be declared"
    }
  }

  convenience init(
    type: Any.Type?, id: String?, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    origin: EnvironmentError.Origin
  ) {
    self.init(type: type, id: id, parent: parent, lazy: lazy, abstract: abstract, place: .known(origin))
  }

  convenience init(
    type: Any.Type?, id: String?, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString, line: UInt
  ) {
    self.init(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract, place: SourcePlace(file: file, line: line))
  }

  /// The factory behind a bean with a target: a bean of its own that has everything else from the declaration.
  init(factoryOf declaration: BeanDeclaration, _ type: Any.Type) {
    self.type = type
    self.traits = .cached(of: type)
    self.key = declaration.id.map { IdKey("&\($0)") }
    self.isPrimary = declaration.isPrimary
    self.place = declaration.place
    self.isDefined = true
    if !declaration.stated.isEmpty { detailed.stated = declaration.stated }
  }

  var id: String? { key?.id }
  var origin: EnvironmentError.Origin { place.origin }

  /// Says where the declaration is written, for one that is not written in Swift.
  @discardableResult public func declared(at origin: EnvironmentError.Origin) -> Self {
    with { $0.place = .known(origin) }
  }
  /// Names the bean. An id is unique in its environment and hides the same id of environments above.
  @discardableResult public func id(_ id: String) -> Self { with { $0.key = IdKey(id) } }
  /// Builds the bean when it is first asked for, instead of at startup.
  @discardableResult public func lazy(_ lazy: Bool = true) -> Self { with { $0.isLazy = lazy } }
  /// Makes the declaration a template: never built, never found by type.
  @discardableResult public func abstract(_ abstract: Bool = true) -> Self { with { $0.isAbstract = abstract } }
  /// Prefers this bean where several answer to one type.
  @discardableResult public func primary(_ primary: Bool = true) -> Self { with { $0.isPrimary = primary } }
  /// Inherits everything this declaration does not set itself from the declaration with that id.
  @discardableResult public func parent(_ id: String) -> Self { with { $0.detailed.template = id } }
  /// How long an instance lives: "singleton" (the default), "prototype", a factory's scope or one of your own.
  @discardableResult public func scope(_ name: String) -> Self { with { $0.scopeName = name } }
  /// Builds the bean with that id first.
  @discardableResult public func requires(id: String) -> Self { with { $0.detailed.requirements.append(.id(id)) } }
  /// Builds the bean of that type first.
  @discardableResult public func requires(class type: Any.Type) -> Self {
    with { $0.detailed.requirements.append(.type(type)) }
  }
  /// Builds the bean of that type first.
  @discardableResult public func requires(_ type: Any.Type) -> Self {
    with { $0.detailed.requirements.append(.type(type)) }
  }
  /// Builds that bean first. It must be defined in an environment this one can see.
  @discardableResult public func requires(bean: BeanDeclaration) -> Self {
    with { $0.detailed.requirements.append(.declaration(bean)) }
  }
  /// Builds the bean with that id first.
  @discardableResult public func dependsOn(_ id: String) -> Self { requires(id: id) }
  /// States conformances or superclasses, which startup checks. Those that are not named here are found as well.
  @discardableResult public func implements(_ types: Any.Type...) -> Self {
    with { $0.detailed.stated.append(contentsOf: types) }
  }
  /// Says what a `FactoryBean` makes. Lookups of `type` and of the bean's id get the product, made once per instance of
  /// the declared scope; lookups of the factory's own class and of `"&id"` get the factory.
  @discardableResult public func target(_ type: Any.Type) -> Self { with { $0.detailed.target = type } }
  /// Gives the factory's parameter at `index` (from 0) what `value` says.
  @discardableResult public func argument(_ index: Int, _ value: BeanValue) -> Self {
    pin(index, value)
  }
  /// Gives the factory's parameter at `index` (from 0) this value, converted to the parameter's type if need be.
  @discardableResult public func argument(_ index: Int, value: Any) -> Self {
    argument(index, .value(value))
  }
  /// Gives the factory's parameter at `index` (from 0) the bean with that id.
  @discardableResult public func argument(_ index: Int, ref id: String) -> Self {
    pin(index, .reference(id))
  }
  /// Sets the stored property of that name, private and inherited ones included, to what `value` says each time a bean
  /// is built. The name is looked up in the bean's class at startup.
  @discardableResult public func property(_ name: String, _ value: BeanValue) -> Self {
    with { $0.detailed.properties.set(PropertyInjection(name, value)) }
  }
  @usableFromInline
  func set(_ path: AnyKeyPath, _ value: BeanValue, _ access: PropertyAccess) {
    detailed.properties.set(PropertyInjection(path, value, access))
  }
  /// Sets the stored property of that name to exactly one of: a value, the bean with an id, text with placeholders, a
  /// bean declared in place, or the bean an injection asks for. None or several of them are a fault at startup.
  @discardableResult public func property(
    _ name: String, value: Any? = nil, ref: String? = nil, resolve: String? = nil, bean: BeanDeclaration? = nil,
    inject: InjectBean? = nil
  ) -> Self {
    let values = [
      value.map { BeanValue.value($0) }, ref.map { .reference($0) }, resolve.map { .text($0) }, bean.map { .bean($0) },
      inject.map { .inject($0) },
    ].compactMap(\.self)
    if let only = values.first, values.count == 1 { return property(name, only) }
    return with {
      $0.detailed.propertyFaults.append("property '\(name)' needs exactly one of value, ref, resolve, bean and inject")
    }
  }
  /// Gives the factory's parameter at `index` (from 0) this text with its placeholders replaced, converted to the
  /// parameter's type: at startup, with the configuration of the environment that declares the bean.
  ///
  /// `${key}`, `${namespace:key}` and `${key=default}` stand for configuration values; `$${` stands for `${`.
  @discardableResult public func argument(_ index: Int, resolve text: String) -> Self {
    argument(index, .text(text))
  }

  /// Runs the release callbacks on an instance of this bean: `preDestroy`, then `.onDestroy`. For scopes of your own that
  /// keep instances; `AbstractBeanScope` does it by itself. Call it once per instance.
  ///
  /// - Throws: `.destructionFailed`, after all callbacks have run. A bean whose release is asynchronous cannot be
  ///   released here: that is such a failure, too.
  public func destroy(_ instance: AnyObject) throws {
    let release = BeanRelease(instance, of: self)
    if let failure = release.runSynchronously() { throw failure }
  }

  /// The same; nil where it is not known by an id.
  var nameNumber: Int? {
    get { numberOfName == .max ? nil : Int(numberOfName) }
    // Memory holds fewer.
    set { numberOfName = newValue.map { UInt32(truncatingIfNeeded: $0) } ?? .max }
  }

  /// Whether there may be beans declared in place.
  var mayHaveEmbedded: Bool { !pinned.areReferences || hasDetails && !properties.isEmpty }

  /// Beans declared in place, in parameters and properties, not counting those that are declared in place in them.
  var embedded: [BeanDeclaration] {
    var found: [BeanDeclaration] = []
    for pinned in pinned.all { pinned.value.collectEmbedded(&found) }
    for property in properties { property.value.collectEmbedded(&found) }
    return found
  }

  /// How the bean is named in paths, once startup knows.
  var label: String { definedType.map { Definition.label($0, id) } ?? "" }

  /// What faults call it before it is a bean.
  var written: String { id.map { "\(kind) '\($0)'" } ?? kind }
  var kind: String { type.map { "\($0)" } ?? "template" }

  private func pin(_ index: Int, _ value: consuming BeanValue) -> Self {
    if pinned.isEmpty { pinned.reserve(constructor?.dependencies.count ?? 1) }
    pinned.set(index, value)
    return self
  }

  private func with(_ change: (BeanDeclaration) -> Void) -> Self {
    change(self)
    return self
  }
}

extension BeanDeclaration {
  var hasDetails: Bool { details != nil }

  /// To be written to.
  private var detailed: Details {
    if let details { return details }
    let made = Details()
    details = made
    return made
  }

  /// What the declaration says is wrong with itself, reported at startup with all other faults.
  var fault: String? {
    get { details?.fault }
    set { detailed.fault = newValue }
  }
  /// The same, about single properties.
  var propertyFaults: [String] { details?.propertyFaults ?? [] }
  var template: String? { details?.template }
  var requirements: [Requirement] { details?.requirements ?? [] }
  var stated: [Any.Type] { details?.stated ?? [] }
  /// What a factory bean makes.
  var target: Any.Type? { details?.target }
  /// In the order they were set.
  var properties: [PropertyInjection] { details?.properties ?? [] }
  @usableFromInline var postConstructs: [BeanCallback] {
    get { details?.postConstructs ?? [] }
    set { detailed.postConstructs = newValue }
  }
  @usableFromInline var onDestroys: [BeanCallback] {
    get { details?.onDestroys ?? [] }
    set { detailed.onDestroys = newValue }
  }
  /// What startup found to be called at the end of the bean, its templates included.
  var callbacks: [BeanCallback] {
    get { details?.callbacks ?? [] }
    set { if hasDetails || !newValue.isEmpty { detailed.callbacks = newValue } }
  }
}
