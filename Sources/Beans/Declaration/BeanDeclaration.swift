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

  /// A parameter that is not resolved by its type.
  enum PinnedArgument {
    case value(Any)
    case reference(String)
    case text(String)
  }

  /// The bean's own type; nil for a template without a class.
  let type: Any.Type?
  let origin: EnvironmentError.Origin
  /// What the declaration says is wrong with itself, reported at startup with all other faults.
  var fault: String?

  private(set) var id: String?
  private(set) var isLazy: Bool?
  private(set) var isAbstract = false
  private(set) var isPrimary = false
  private(set) var template: String?
  private(set) var scopeName: String?
  private(set) var requirements: [Requirement] = []
  private(set) var stated: [Any.Type] = []
  private(set) var pinned: [Int: PinnedArgument] = [:]
  /// In the order they were set.
  var properties: [PropertyInjection] = []
  var postConstructs: [BeanCallback] = []
  var onDestroys: [BeanCallback] = []
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
    file: StaticString, line: UInt
  ) {
    self.type = type
    self.id = id
    self.template = parent
    self.isLazy = lazy ? true : nil
    self.isAbstract = abstract
    self.origin = EnvironmentError.Origin(file: "\(file)", line: Int(line))
    if let type, Dependency.isWrapper(type) {
      fault = "\(type) is not a bean: optionals, arrays and the container's own types cannot be declared"
    }
  }

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
  /// Gives the factory's parameter at `index` (from 0) this value, converted to the parameter's type if need be.
  @discardableResult public func argument(_ index: Int, value: Any) -> Self {
    with { $0.pinned[index] = .value(value) }
  }
  /// Gives the factory's parameter at `index` (from 0) the bean with that id.
  @discardableResult public func argument(_ index: Int, ref id: String) -> Self {
    with { $0.pinned[index] = .reference(id) }
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

  /// What startup found to be the bean's name and callbacks, its templates included.
  var label = ""
  var callbacks: [BeanCallback] = []

  private func with(_ change: (BeanDeclaration) -> Void) -> Self {
    change(self)
    return self
  }
}
