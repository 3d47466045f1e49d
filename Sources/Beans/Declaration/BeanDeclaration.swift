@_spi(BeansPackage) package import BeansErrors
import BeansReflection
import Synchronization

/// The user's declaration of one bean.
///
/// Declarations are written on one thread before the environment starts. `define` copies the state of the declaration
/// at that time.
public class BeanDeclaration {
  private(set) var spec: BeanSpec
  /// Whether a `define` has taken the declaration, or a declaration that contains it.
  var isDefined = false
  /// The declarations of the environment that defined this one in place, if one did.
  private(set) var taker: ObjectIdentifier?
  /// The environment whose method made the declaration; nil for a declaration that the container made.
  let receiver: ObjectIdentifier?
  /// Objects of a scope that are other faces of beans.
  private let faces = Locked<[Face]>([])

  private struct Face {
    weak var object: AnyObject?
  }

  init(_ spec: BeanSpec, madeBy receiver: ObjectIdentifier? = nil) { (self.spec, self.receiver) = (spec, receiver) }

  /// Creates the declaration of a bean that a factory builds. Takes no spec, which has no meaning outside of this module:
  /// the compiler can then create the declaration in the module that declares the bean, without an allocation.
  @usableFromInline
  init(
    _ type: Any.Type, _ id: String?, _ parent: String?, _ lazy: Bool, _ abstract: Bool, _ location: SourceLocation,
    _ factory: FactoryFunction, madeBy receiver: ObjectIdentifier
  ) {
    self.receiver = receiver
    spec = BeanSpec(type, id, parent, lazy, abstract, location, factory)
  }

  /// Notes that an object that a scope keeps is another face of a bean, so that the scope does not release the object.
  func note(face object: AnyObject) {
    let object = ObjectReference(object)
    defer { object.release() }
    faces.withLock { faces in
      faces.removeAll { $0.object == nil }
      faces.append(Face(object: object.object))
    }
  }

  /// Whether an object is another face of a bean; true once for each `note`.
  func forget(face object: AnyObject) -> Bool {
    let identity = ObjectIdentifier(object)
    return faces.withLock { faces in
      let index = faces.firstIndex { $0.object.map { ObjectIdentifier($0) } == identity }
      if let index { faces.remove(at: index) }
      return index != nil
    }
  }

  /// Marks the declaration as defined by the declarations of an environment, with the declaration that contains this
  /// one.
  func isTaken(by declarations: ObjectIdentifier) { (isDefined, taker) = (true, declarations) }

  /// Notes that the compiler knows the type to be `Sendable`.
  @usableFromInline @discardableResult
  func ofSendableType() -> Self { with { $0.isSendable = true } }

  /// Adds a fault of the declaration, which startup reports.
  @discardableResult package func note(fault: String, _ cause: FaultCause) -> Self {
    change { $0.faults.append((cause, fault)) }
  }

  /// Replaces fields of the spec by values that exist. A spec that `define` has taken keeps its own state.
  @discardableResult @inline(__always)
  func with(_ body: (inout BeanSpec) -> Void) -> Self {
    body(&spec)
    return self
  }

  /// Changes the rare parts of the spec.
  @discardableResult
  func change(_ body: (inout BeanSpec.Options) -> Void) -> Self {
    var rare = spec.rare
    body(&rare)
    let options = ValueBox(rare)
    return with { $0.options = options }
  }

  /// Assigns the declaration to a module.
  func enter(_ module: IncludedModule) {
    change { $0.module = module }
    var location = SourceLocation.known(spec.location.origin.declared(in: module.name))
    var arguments: [(index: Int, value: BeanValue)] = spec.arguments.map {
      ($0.index, $0.value.declared(in: module.name))
    }
    var properties = spec.properties.map {
      PropertyInjection($0.name, $0.value.declared(in: module.name), $0.setter)
    }
    // Swapped: a release within the access would be checked at run time, as would then all accesses to specs.
    with {
      swap(&$0.location, &location)
      swap(&$0.arguments, &arguments)
      swap(&$0.properties, &properties)
    }
  }

  /// Sets the place of a declaration that is not written in Swift.
  @discardableResult package func declared(at origin: EnvironmentError.Origin) -> Self {
    with { $0.location = .known(origin) }
  }
  /// Names the bean. An id is unique in its environment and hides the same id of environments further out.
  @discardableResult public func id(_ id: String) -> Self { with { $0.id = id } }
  /// Builds the bean at its first lookup instead of at startup.
  @discardableResult public func lazy(_ lazy: Bool = true) -> Self { with { $0.isLazy = lazy } }
  /// Makes the declaration a template: never built, never found by type.
  @discardableResult public func abstract(_ abstract: Bool = true) -> Self { with { $0.isAbstract = abstract } }
  /// Prefers this bean where several match one type.
  @discardableResult public func primary(_ primary: Bool = true) -> Self { with { $0.isPrimary = primary } }
  /// Distinguishes the bean from others of its type by a tag; see `Qualified`. A bean may have several tags.
  @discardableResult public func qualifier<Tag>(_ tag: Tag.Type) -> Self {
    change { $0.qualifiers.append(tag) }
  }
  /// Inherits everything this declaration does not set itself from the declaration with that id.
  @discardableResult public func parent(_ id: String) -> Self { with { $0.template = id } }
  /// Sets the lifetime of an instance: "singleton" (the default), "prototype", a factory's scope or one of your own.
  @discardableResult public func scope(_ name: String) -> Self { with { $0.scopeName = name } }
  /// Builds the bean with that id first.
  @discardableResult public func requires(id: String) -> Self { requires(.requirement(Any.self), .reference(id)) }
  /// Builds the bean of that type first.
  @discardableResult public func requires(_ type: Any.Type) -> Self {
    requires(.requirement(type), .byType)
  }
  /// States conformances or superclasses, which startup checks. The container also finds those that are not stated.
  @discardableResult public func implements(_ types: Any.Type...) -> Self {
    change { $0.stated += types }
  }
  /// Sets the type of the products of a `FactoryBean`. Lookups of `type` and of the bean's id return the product, made
  /// once for each instance of the declared scope; lookups of the factory's own class and of `"&id"` return the
  /// factory.
  @discardableResult public func target<T>(_ type: T.Type) -> Self { with { $0.target = type } }
  /// Sets the type of a factory bean's products, which the compiler knows to be `Sendable`.
  @discardableResult public func target<T: Sendable>(_ type: T.Type) -> Self {
    with { ($0.target, $0.isTargetSendable) = (type, true) }
  }
  /// Permits sharing the bean of a document although its type is not known to be `Sendable`, and documents the place of its
  /// use.
  @discardableResult package func confined(to place: String) -> Self {
    change { $0.sharing = "confined to: \(place)" }
  }
  /// Permits sharing the bean although its type is not known to be `Sendable`, and documents the reason, such as the one
  /// thread or loop that uses it. Reports print the text.
  @discardableResult public func assumeSendable(_ reason: String) -> Self {
    change { $0.sharing = "assumed to be Sendable: \(reason)" }
  }
  /// Excludes the bean from release: it is wired and completed like any other bean, and the container never releases
  /// it.
  ///
  /// Use this for an object that outlives the environment, or that other code closes. The container calls neither
  /// `preDestroy` nor `.onDestroy`.
  @discardableResult public func externallyOwned() -> Self { change { $0.isExternallyOwned = true } }
  /// Passes the value that `value` describes to the factory's parameter at `index` (from 0).
  @discardableResult public func argument(_ index: Int, _ value: BeanValue) -> Self {
    // Moved out and back: a change in place would check each access to the spec at run time.
    var arguments: [(index: Int, value: BeanValue)] = []
    swap(&arguments, &spec.arguments)
    arguments.set(index, value)
    swap(&arguments, &spec.arguments)
    return self
  }
  /// Passes this value to the factory's parameter at `index` (from 0), converted to the parameter's type if necessary.
  @discardableResult public func argument(_ index: Int, value: Any) -> Self {
    argument(index, .value(value))
  }
  /// Passes the bean with that id to the factory's parameter at `index` (from 0).
  @discardableResult public func argument(_ index: Int, ref id: String) -> Self {
    argument(index, .reference(id))
  }
  /// Passes this text to the factory's parameter at `index` (from 0), with its placeholders replaced and converted to
  /// the parameter's type. Startup does both, with the configuration of the environment that declares the bean.
  ///
  /// `${key}`, `${namespace:key}` and `${key=default}` are placeholders of configuration values; `$${` is a literal
  /// `${`.
  @discardableResult public func argument(_ index: Int, resolve text: String) -> Self {
    argument(index, .text(text))
  }
  /// Sets the stored property of that name to the value that `value` describes, each time a bean is built. Private and
  /// inherited properties are included. Startup looks the name up in the bean's class.
  ///
  /// The value is stored directly: `willSet` and `didSet` of the property do not run, because the runtime knows named
  /// properties only as storage. They run if the property is set by key path.
  @discardableResult public func property(_ name: String, _ value: BeanValue) -> Self {
    set(PropertyInjection(.text(name), value))
  }
  @usableFromInline
  func set(_ path: AnyKeyPath, _ value: BeanValue, _ setter: PropertySetter) -> Self {
    set(PropertyInjection(.path(path), value, setter))
  }
  /// Sets the stored property of that name to exactly one of: a value, the bean with an id, text with placeholders, or a
  /// bean declared in place. None or several of them are a fault at startup.
  ///
  /// The value is stored directly: `willSet` and `didSet` of the property do not run. They run if the property is set
  /// by key path.
  ///
  /// - Parameters:
  ///   - name: the name of the property, private and inherited ones included.
  ///   - value: a value, converted to the property's type if necessary.
  ///   - ref: the id of a bean.
  ///   - resolve: text whose placeholders are replaced, converted to the property's type at startup.
  ///   - bean: a bean declared in place.
  @discardableResult public func property(
    _ name: String, value: Any? = nil, ref: String? = nil, resolve: String? = nil, bean: BeanDeclaration? = nil
  ) -> Self {
    let values = [
      value.map { BeanValue.value($0) }, ref.map { .reference($0) }, resolve.map { .text($0) }, bean.map { .bean($0) },
    ].compactMap(\.self)
    if let only = values.first, values.count == 1 { return property(name, only) }
    return note(
      fault: "property '\(name)' needs exactly one of value, ref, resolve, bean and inject", .propertySources)
  }

  /// Sets a property to the bean with an id, or to text with placeholders; notes a fault unless there is one of them.
  @usableFromInline
  func set(_ path: AnyKeyPath, ref id: String?, resolve text: String?, _ setter: PropertySetter) -> Self {
    switch (id, text) {
    case (let id?, nil): return set(path, .reference(id), setter)
    case (nil, let text?): return set(path, .text(text), setter)
    default: return note(fault: "a property needs exactly one of ref and resolve", .propertySources)
    }
  }

  private func set(_ property: PropertyInjection) -> Self {
    let properties = spec.properties.setting(property)
    return with { $0.properties = properties }
  }

  private func requires(_ parameter: Parameter, _ value: BeanValue) -> Self {
    change { $0.requirements.append((parameter, value)) }
  }

  /// Attaches work to each instance.
  package func attach(_ work: any AttachedWork) -> Self { change { $0.works.append(work) } }

  /// Sets the decision about a run that has failed.
  package func restart(by policy: RestartPolicy) -> Self { change { $0.restarts = policy } }

  @usableFromInline
  func add(postConstruct callback: BeanCallback) -> Self { change { $0.postConstructs.append(callback) } }

  @usableFromInline
  func add(onDestroy callback: BeanCallback) -> Self { change { $0.onDestroys.append(callback) } }
}
