import Synchronization

/// Which lifecycle protocols a type conforms to, and whether it has injections, so that building a bean needs no cast that must fail.
struct LifecycleTraits: OptionSet {
  let rawValue: UInt8

  static let aware = LifecycleTraits(rawValue: 1)
  static let bean = LifecycleTraits(rawValue: 2)
  static let disposable = LifecycleTraits(rawValue: 4)
  static let asyncDisposable = LifecycleTraits(rawValue: 8)
  /// The class itself says what is injected into its instances.
  static let injected = LifecycleTraits(rawValue: 16)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(of type: Any.Type) {
    self = []
    if type is any EnvironmentAware.Type { insert(.aware) }
    if type is any Bean.Type { insert(.bean) }
    if type is any DisposableBean.Type { insert(.disposable) }
    if type is any AsyncDisposableBean.Type { insert(.asyncDisposable) }
    if let type = type as? AnyClass, InjectedClasses.contains(type) { insert(.injected) }
  }

  /// For dynamic types that differ from the declared one: a factory may return a subclass.
  static func cached(of type: Any.Type) -> LifecycleTraits {
    seen.withLock { seen in
      if let traits = seen[ObjectIdentifier(type)] { return traits }
      let traits = LifecycleTraits(of: type)
      seen[ObjectIdentifier(type)] = traits
      return traits
    }
  }

  private static let seen = Locked<[ObjectIdentifier: LifecycleTraits]>([:])
}
