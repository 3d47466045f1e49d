import Synchronization

/// Which lifecycle protocols a type conforms to, so that building a bean needs no cast that must fail.
struct LifecycleTraits: OptionSet {
  let rawValue: UInt8

  static let aware = LifecycleTraits(rawValue: 1)
  static let bean = LifecycleTraits(rawValue: 2)
  static let disposable = LifecycleTraits(rawValue: 4)
  static let asyncDisposable = LifecycleTraits(rawValue: 8)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(of type: Any.Type) {
    self = []
    if type is any EnvironmentAware.Type { insert(.aware) }
    if type is any Bean.Type { insert(.bean) }
    if type is any DisposableBean.Type { insert(.disposable) }
    if type is any AsyncDisposableBean.Type { insert(.asyncDisposable) }
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
