import BeansReflection
@_spi(BeansPackage) import BeansSupport
import Synchronization

/// What a user says about one bean.
///
/// Declarations are written on one thread before the environment starts; `define` copies what has been said so far.
public class BeanDeclaration {
  private(set) var spec: BeanSpec
  private var isShared = false
  /// Whether a `define` has taken it, or a declaration that it stands in.
  var isDefined = false
  /// The declarations that it stands in, where they have defined it.
  private(set) var taker: ObjectIdentifier?
  /// Whether it counts only where conditions hold.
  var hasConditions = false
  /// Objects of a scope that are other faces of beans, where there are any.
  private let faces = AtomicLazyReference<FaceList>()

  init(_ spec: BeanSpec) { self.spec = spec }

  @usableFromInline
  convenience init(
    type: Any.Type?, id: String?, parent: String? = nil, lazy: Bool = false, abstract: Bool = false,
    location: SourceLocation, factory: FactoryFunction? = nil
  ) {
    let spec = BeanSpec(type: type, id: id, location: location)
    spec.template = parent
    if lazy { spec.isLazy = true }
    spec.isAbstract = abstract
    spec.factory = factory
    self.init(spec)
  }

  /// Notes that an object which a scope has got is another face of a bean, so that the scope does not release it.
  func note(face object: AnyObject) { faces.storeIfNil(FaceList()).add(object) }

  /// Whether an object is another face of a bean; true once for each `note`.
  func forget(face object: AnyObject) -> Bool { faces.load()?.remove(object) == true }

  /// What has been said so far; what is said later is not in it.
  func takeSpec() -> BeanSpec {
    isShared = true
    return spec
  }

  /// Defines it with the declaration that it stands in.
  func isTaken(by declarations: ObjectIdentifier) { (isDefined, taker) = (true, declarations) }

  /// The compiler knows that the type is `Sendable`. Not by `set`: what `define` has taken is of that type, too.
  @usableFromInline @discardableResult
  func ofSendableType() -> Self {
    spec.isSendable = true
    return self
  }

  /// Says what is wrong with the declaration.
  func note(fault: String, _ cause: FaultCause) { set { $0.faults = $0.faults + [(cause, fault)] } }

  @discardableResult @inline(__always)
  func set(_ change: (BeanSpec) -> Void) -> Self {
    if isShared {
      spec = BeanSpec(copying: spec)
      isShared = false
    }
    change(spec)
    return self
  }

  /// Says where the declaration is written, for one that is not written in Swift.
  @discardableResult public func declared(at origin: EnvironmentError.Origin) -> Self {
    set { $0.location = .known(origin) }
  }
  /// Names the bean. An id is unique in its environment and hides the same id of environments above.
  @discardableResult public func id(_ id: String) -> Self { set { $0.id = id } }
  /// Builds the bean when it is first asked for, instead of at startup.
  @discardableResult public func lazy(_ lazy: Bool = true) -> Self { set { $0.isLazy = lazy } }
  /// Makes the declaration a template: never built, never found by type.
  @discardableResult public func abstract(_ abstract: Bool = true) -> Self { set { $0.isAbstract = abstract } }
  /// Prefers this bean where several answer to one type.
  @discardableResult public func primary(_ primary: Bool = true) -> Self { set { $0.isPrimary = primary } }
  /// Tells the bean from others of its type by a tag; see `Qualified`. A bean may have several tags.
  @discardableResult public func qualifier<Tag>(_ tag: Tag.Type) -> Self {
    set { $0.change { $0.qualifiers.append(tag) } }
  }
  /// Inherits everything this declaration does not set itself from the declaration with that id.
  @discardableResult public func parent(_ id: String) -> Self { set { $0.template = id } }
  /// How long an instance lives: "singleton" (the default), "prototype", a factory's scope or one of your own.
  @discardableResult public func scope(_ name: String) -> Self { set { $0.scopeName = name } }
  /// Builds the bean with that id first.
  @discardableResult public func requires(id: String) -> Self { requires(.requirement(Any.self), .reference(id)) }
  /// Builds the bean of that type first.
  @discardableResult public func requires(class type: Any.Type) -> Self { requires(type) }
  /// Builds the bean of that type first.
  @discardableResult public func requires(_ type: Any.Type) -> Self {
    requires(.requirement(type), .inject(InjectBean()))
  }
  /// Builds that bean first. It must be defined in an environment this one can see.
  @discardableResult public func requires(bean: BeanDeclaration) -> Self {
    requires(.requirement(Any.self), .bean(bean))
  }
  /// Builds the bean with that id first.
  @discardableResult public func dependsOn(_ id: String) -> Self { requires(id: id) }
  /// States conformances or superclasses, which startup checks. Those that are not named here are found as well.
  @discardableResult public func implements(_ types: Any.Type...) -> Self {
    set { $0.stated = $0.stated + types }
  }
  /// Says what a `FactoryBean` makes. Lookups of `type` and of the bean's id get the product, made once per instance of
  /// the declared scope; lookups of the factory's own class and of `"&id"` get the factory.
  @_disfavoredOverload @discardableResult
  public func target(_ type: Any.Type) -> Self { set { $0.target = type } }
  /// What a factory bean makes, of a type that the compiler does not know to be `Sendable`.
  @discardableResult public func target<T>(_ type: T.Type) -> Self { set { $0.target = type } }
  /// What a factory bean makes, of a type that the compiler knows to be `Sendable`.
  @discardableResult public func target<T: Sendable>(_ type: T.Type) -> Self {
    set { ($0.target, $0.isTargetSendable) = (type, true) }
  }
  /// Says where the bean is used: it may be shared although its type is not known to be `Sendable`. For people.
  @discardableResult public func confined(to place: String) -> Self {
    set { $0.change { $0.sharing = "confined to: \(place)" } }
  }
  /// Says why the bean may be shared although its type is not known to be `Sendable`. For people.
  @discardableResult public func assumeSendable(_ reason: String) -> Self {
    set { $0.change { $0.sharing = "assumed to be Sendable: \(reason)" } }
  }
  /// Leaves the release to somebody else: the bean is wired and completed as any other, and the container never releases it.
  ///
  /// For an object that outlives the environment, or that other code closes. Neither `preDestroy` nor `.onDestroy` is called.
  @discardableResult public func externallyOwned() -> Self { set { $0.change { $0.isExternallyOwned = true } } }
  /// Gives the factory's parameter at `index` (from 0) what `value` says.
  @discardableResult public func argument(_ index: Int, _ value: BeanValue) -> Self {
    set { $0.setArgument(index, value) }
  }
  /// Gives the factory's parameter at `index` (from 0) this value, converted to the parameter's type if need be.
  @discardableResult public func argument(_ index: Int, value: Any) -> Self {
    argument(index, .value(value))
  }
  /// Gives the factory's parameter at `index` (from 0) the bean with that id.
  @discardableResult public func argument(_ index: Int, ref id: String) -> Self {
    argument(index, .reference(id))
  }
  /// Gives the factory's parameter at `index` (from 0) a bean declared in place.
  @_disfavoredOverload @discardableResult
  public func argument(_ index: Int, bean: BeanDeclaration) -> Self { argument(index, .bean(bean)) }
  /// Gives the factory's parameter at `index` (from 0) a bean declared in place, of a type that the compiler does not know to
  /// be `Sendable`.
  @discardableResult public func argument<T>(_ index: Int, bean: TypedBeanDeclaration<T>) -> Self {
    argument(index, .bean(bean))
  }
  /// Gives the factory's parameter at `index` (from 0) a bean declared in place, of a type that the compiler knows to be
  /// `Sendable`; it chooses this form by itself.
  @discardableResult public func argument<T: Sendable>(_ index: Int, bean: TypedBeanDeclaration<T>) -> Self {
    argument(index, .bean(bean.ofSendableType()))
  }
  /// Sets the stored property of that name, private and inherited ones included, to what `value` says each time a bean
  /// is built. The name is looked up in the bean's class at startup.
  ///
  /// The value is stored: `willSet` and `didSet` of the property do not run, for the runtime knows properties with names
  /// only as storage. Set by key path, they do.
  @discardableResult public func property(_ name: String, _ value: BeanValue) -> Self {
    set { $0.set(PropertyInjection(.text(name), value)) }
  }
  @usableFromInline
  func set(_ path: AnyKeyPath, _ value: BeanValue, _ setter: PropertySetter) {
    set { $0.set(PropertyInjection(.path(path), value, setter)) }
  }
  /// Sets the stored property of that name to exactly one of: a value, the bean with an id, text with placeholders, a
  /// bean declared in place, or the bean an injection asks for. None or several of them are a fault at startup.
  ///
  /// The value is stored: `willSet` and `didSet` of the property do not run. Set by key path, they do.
  ///
  /// - Parameters:
  ///   - name: the name of the property, private and inherited ones included.
  ///   - value: a value, converted to the property's type if need be.
  ///   - ref: the id of a bean.
  ///   - resolve: text whose placeholders are replaced, converted to the property's type at startup.
  ///   - bean: a bean declared in place.
  ///   - inject: asks for a bean, by the property's type or by id.
  @discardableResult public func property(
    _ name: String, value: Any? = nil, ref: String? = nil, resolve: String? = nil, bean: BeanDeclaration? = nil,
    inject: InjectBean? = nil
  ) -> Self {
    let values = [
      value.map { BeanValue.value($0) }, ref.map { .reference($0) }, resolve.map { .text($0) }, bean.map { .bean($0) },
      inject.map { .inject($0) },
    ].compactMap(\.self)
    if let only = values.first, values.count == 1 { return property(name, only) }
    return set {
      $0.propertyFaults =
        $0.propertyFaults + ["property '\(name)' needs exactly one of value, ref, resolve, bean and inject"]
    }
  }
  /// Sets the stored property of that name to a bean declared in place whose type the compiler does not know to be `Sendable`.
  @discardableResult public func property<T>(_ name: String, bean: TypedBeanDeclaration<T>) -> Self {
    property(name, .bean(bean))
  }
  /// Sets the stored property of that name to a bean declared in place whose type the compiler knows to be `Sendable`; it
  /// chooses this form by itself.
  @discardableResult public func property<T: Sendable>(_ name: String, bean: TypedBeanDeclaration<T>) -> Self {
    property(name, .bean(bean.ofSendableType()))
  }
  /// Gives the factory's parameter at `index` (from 0) this text with its placeholders replaced, converted to the
  /// parameter's type: at startup, with the configuration of the environment that declares the bean.
  ///
  /// `${key}`, `${namespace:key}` and `${key=default}` stand for configuration values; `$${` stands for `${`.
  @discardableResult public func argument(_ index: Int, resolve text: String) -> Self {
    argument(index, .text(text))
  }

  private func requires(_ parameter: Parameter, _ value: BeanValue) -> Self {
    set { $0.requirements = $0.requirements + [(parameter, value)] }
  }

  @usableFromInline
  func add(postConstruct callback: BeanCallback) { set { $0.postConstructs = $0.postConstructs + [callback] } }

  @usableFromInline
  func add(onDestroy callback: ReleaseCallback) { set { $0.onDestroys = $0.onDestroys + [callback] } }
}
