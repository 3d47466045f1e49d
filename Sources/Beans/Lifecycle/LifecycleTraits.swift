@_spi(BeansPackage) import BeansSupport

/// What a type is to the container: which of its protocols it conforms to, and whether it has injections. Asked once per
/// type, so that building a bean needs no cast that must fail.
struct LifecycleTraits: OptionSet {
  let rawValue: UInt16

  static let aware = LifecycleTraits(rawValue: 1)
  static let bean = LifecycleTraits(rawValue: 2)
  static let disposable = LifecycleTraits(rawValue: 4)
  static let asyncDisposable = LifecycleTraits(rawValue: 8)
  /// The class itself says what is injected into its instances.
  static let injected = LifecycleTraits(rawValue: 16)
  static let factory = LifecycleTraits(rawValue: 32)
  // What startup builds first.
  static let source = LifecycleTraits(rawValue: 64)
  static let scope = LifecycleTraits(rawValue: 128)
  static let injection = LifecycleTraits(rawValue: 256)
  static let processor = LifecycleTraits(rawValue: 512)
  /// Asks for something else than a bean of its own type, and cannot be one.
  static let wrapper = LifecycleTraits(rawValue: 1024)

  init(rawValue: UInt16) { self.rawValue = rawValue }

  init(of type: Any.Type) {
    self = []
    let known = Conformances(of: type)
    if known.contains(.aware, type is any EnvironmentAware.Type) { insert(.aware) }
    if known.contains(.bean, type is any Bean.Type) { insert(.bean) }
    if known.contains(.disposable, type is any DisposableBean.Type) { insert(.disposable) }
    if known.contains(.asyncDisposable, type is any AsyncDisposableBean.Type) { insert(.asyncDisposable) }
    if known.contains(.factory, type is any FactoryBean.Type) { insert(.factory) }
    if known.contains(.source, type is any ConfigurationSource.Type) || type == (any ConfigurationSource).self {
      insert(.source)
    }
    if known.contains(.scope, type is any BeanScope.Type) || type == (any BeanScope).self { insert(.scope) }
    if known.contains(.processor, type is any BeanPostProcessor.Type) || type == (any BeanPostProcessor).self {
      insert(.processor)
    }
    if known.contains(.wrapper, Dependency.isWrapper(type)) { insert(.wrapper) }
    guard let type = type as? AnyClass else { return }
    if type is Injection.Type { insert(.injection) }
    if InjectedClasses.contains(type, known) { insert(.injected) }
  }

  /// Costs a lock and a probe, once a type is known.
  static func cached(of type: Any.Type) -> LifecycleTraits {
    let key = AddressKey(type)
    if let traits = seen.withLock({ $0[key] }) { return traits }
    let traits = LifecycleTraits(of: type)
    seen.withLock { $0[key] = traits }
    return traits
  }

  private static let seen = Locked<[AddressKey: LifecycleTraits]>([:])
}
