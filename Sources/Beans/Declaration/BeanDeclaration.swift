/// What a user says about one bean.
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

  /// The bean's own type; nil for a template without a class.
  let type: Any.Type?
  /// Where the declaration is written.
  private(set) var origin: EnvironmentError.Origin
  /// What the declaration says is wrong with itself, reported at startup with all other faults.
  var fault: String?
  /// The same, about single properties.
  private(set) var propertyFaults: [String] = []

  private(set) var id: String?
  private(set) var isLazy: Bool?
  private(set) var isAbstract = false
  private(set) var isPrimary = false
  private(set) var template: String?
  private(set) var scopeName: String?
  private(set) var requirements: [Requirement] = []
  private(set) var stated: [Any.Type] = []
  /// What a factory bean makes.
  private(set) var target: Any.Type?
  /// Parameters that are not resolved by their type.
  private(set) var pinned: [Int: BeanValue] = [:]
  /// In the order they were set.
  var properties: [PropertyInjection] = []
  @usableFromInline var postConstructs: [BeanCallback] = []
  @usableFromInline var onDestroys: [BeanCallback] = []
  /// What the user gave: a factory or an instance.
  var constructor: BeanConstructor?
  /// A class's own `init()`, which a template's factory overrules.
  var defaultConstructor: BeanConstructor?
  /// The instance that was handed in, until its environment has released it.
  var instance: AnyObject?
  /// Set by the first `define`; a second one is a fault.
  var isDefined = false

  init(
    type: Any.Type?, id: String?, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    origin: EnvironmentError.Origin
  ) {
    self.type = type
    self.id = id
    self.template = parent
    self.isLazy = lazy ? true : nil
    self.isAbstract = abstract
    self.origin = origin
    if let type, Dependency.isWrapper(type) {
      fault = "\(type) is not a bean: optionals, arrays and the container's own types cannot be declared"
    }
  }

  convenience init(
    type: Any.Type?, id: String?, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    file: StaticString, line: UInt
  ) {
    self.init(
      type: type, id: id, parent: parent, lazy: lazy, abstract: abstract,
      origin: EnvironmentError.Origin(file: "\(file)", line: Int(line)))
  }

  /// The factory behind a bean with a target: a bean of its own that has everything else from the declaration.
  init(factoryOf declaration: BeanDeclaration, _ type: Any.Type) {
    self.type = type
    self.id = declaration.id.map { "&\($0)" }
    self.isPrimary = declaration.isPrimary
    self.stated = declaration.stated
    self.origin = declaration.origin
    self.isDefined = true
  }

  /// Says where the declaration is written, for one that is not written in Swift.
  @discardableResult public func declared(at origin: EnvironmentError.Origin) -> Self { with { $0.origin = origin } }
  /// Names the bean. An id is unique in its environment and hides the same id of environments above.
  @discardableResult public func id(_ id: String) -> Self { with { $0.id = id } }
  /// Builds the bean when it is first asked for, instead of at startup.
  @discardableResult public func lazy(_ lazy: Bool = true) -> Self { with { $0.isLazy = lazy } }
  /// Makes the declaration a template: never built, never found by type.
  @discardableResult public func abstract(_ abstract: Bool = true) -> Self { with { $0.isAbstract = abstract } }
  /// Prefers this bean where several answer to one type.
  @discardableResult public func primary(_ primary: Bool = true) -> Self { with { $0.isPrimary = primary } }
  /// Inherits everything this declaration does not set itself from the declaration with that id.
  @discardableResult public func parent(_ id: String) -> Self { with { $0.template = id } }
  /// How long an instance lives: "singleton" (the default), "prototype", a factory's scope or one of your own.
  @discardableResult public func scope(_ name: String) -> Self { with { $0.scopeName = name } }
  /// Builds the bean with that id first.
  @discardableResult public func requires(id: String) -> Self { with { $0.requirements.append(.id(id)) } }
  /// Builds the bean of that type first.
  @discardableResult public func requires(class type: Any.Type) -> Self { with { $0.requirements.append(.type(type)) } }
  /// Builds the bean of that type first.
  @discardableResult public func requires(_ type: Any.Type) -> Self { with { $0.requirements.append(.type(type)) } }
  /// Builds that bean first. It must be defined in an environment this one can see.
  @discardableResult public func requires(bean: BeanDeclaration) -> Self {
    with { $0.requirements.append(.declaration(bean)) }
  }
  /// Builds the bean with that id first.
  @discardableResult public func dependsOn(_ id: String) -> Self { requires(id: id) }
  /// States conformances or superclasses, which startup checks. Those that are not named here are found as well.
  @discardableResult public func implements(_ types: Any.Type...) -> Self {
    with { $0.stated.append(contentsOf: types) }
  }
  /// Says what a `FactoryBean` makes. Lookups of `type` and of the bean's id get the product, made once per instance of
  /// the declared scope; lookups of the factory's own class and of `"&id"` get the factory.
  @discardableResult public func target(_ type: Any.Type) -> Self { with { $0.target = type } }
  /// Gives the factory's parameter at `index` (from 0) what `value` says.
  @discardableResult public func argument(_ index: Int, _ value: BeanValue) -> Self {
    with { $0.pinned[index] = value }
  }
  /// Gives the factory's parameter at `index` (from 0) this value, converted to the parameter's type if need be.
  @discardableResult public func argument(_ index: Int, value: Any) -> Self {
    argument(index, .value(value))
  }
  /// Gives the factory's parameter at `index` (from 0) the bean with that id.
  @discardableResult public func argument(_ index: Int, ref id: String) -> Self {
    argument(index, .reference(id))
  }
  /// Sets the stored property of that name, private and inherited ones included, to what `value` says each time a bean
  /// is built. The name is looked up in the bean's class at startup.
  @discardableResult public func property(_ name: String, _ value: BeanValue) -> Self {
    with { $0.properties.set(PropertyInjection(name, value)) }
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
      $0.propertyFaults.append("property '\(name)' needs exactly one of value, ref, resolve, bean and inject")
    }
  }
  /// Gives the factory's parameter at `index` (from 0) this text with its placeholders replaced, converted to the
  /// parameter's type: at startup, with the configuration of the environment that declares the bean.
  ///
  /// `${key}`, `${namespace:key}` and `${key=default}` stand for configuration values; `$${` stands for `${`.
  @discardableResult public func argument(_ index: Int, resolve text: String) -> Self {
    with { $0.pinned[index] = .text(text) }
  }

  /// Runs the release callbacks on an instance of this bean: `preDestroy`, then `.onDestroy`. For scopes of your own that
  /// keep instances; `AbstractBeanScope` does it by itself. Call it once per instance.
  ///
  /// - Throws: `.destructionFailed`, after all callbacks have run. A bean whose release is asynchronous cannot be
  ///   released here: that is such a failure, too.
  public func destroy(_ instance: AnyObject) throws {
    let release = BeanRelease(instance, label: label, origin: origin, callbacks: callbacks)
    if let failure = release.runSynchronously() { throw failure }
  }

  /// Beans declared in place, in parameters and properties, not counting those that are declared in place in them.
  var embedded: [BeanDeclaration] {
    if pinned.isEmpty, properties.isEmpty { return [] }
    return (pinned.sorted { $0.key < $1.key }.map(\.value) + properties.map(\.value)).flatMap(\.embedded)
  }

  /// What startup found to be the bean's name and callbacks, its templates included.
  var label = ""
  var callbacks: [BeanCallback] = []

  /// What faults call it before it is a bean.
  var written: String { id.map { "\(kind) '\($0)'" } ?? kind }
  var kind: String { type.map { "\($0)" } ?? "template" }

  private func with(_ change: (BeanDeclaration) -> Void) -> Self {
    change(self)
    return self
  }
}
