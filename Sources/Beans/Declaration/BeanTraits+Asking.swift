import BeansConfiguration
import BeansReflection
@_spi(BeansPackage) import BeansSupport

extension BeanTraits {
  /// Returns the traits of a type. They are computed once for each type, so that building a bean needs no cast that
  /// must fail.
  static func of(_ type: Any.Type) -> BeanTraits {
    let key = ObjectIdentifier(type)
    if let traits = known.withLock({ $0[key] }) { return traits }
    let traits = BeanTraits(asking: type)
    known.withLock { $0[key] = traits }
    return traits
  }

  /// Returns the traits of an object whose class startup did not expect; the box of a value has the traits of its
  /// content.
  static func of(_ object: AnyObject) -> BeanTraits { of(type(of: Box.open(object))) }

  private static let known = Locked<[ObjectIdentifier: BeanTraits]>([:])

  /// The protocols of the container, in the order of their traits' bits. `isMet` queries the runtime, where the list of
  /// conformances does not decide.
  private static let protocols: [(type: Any.Type, isMet: @Sendable (Any.Type) -> Bool)] = [
    ((any EnvironmentAware).self, { $0 is any EnvironmentAware.Type }),
    ((any Bean).self, { $0 is any Bean.Type }),
    ((any DisposableBean).self, { $0 is any DisposableBean.Type }),
    ((any AsyncDisposableBean).self, { $0 is any AsyncDisposableBean.Type }),
    ((any BeanDescriptorInitializer).self, { $0 is any BeanDescriptorInitializer.Type }),
    ((any FactoryBean).self, { $0 is any FactoryBean.Type }),
    ((any ConfigurationSource).self, { $0 is any ConfigurationSource.Type }),
    ((any BeanScope).self, { $0 is any BeanScope.Type }),
    ((any BeanPostProcessor).self, { $0 is any BeanPostProcessor.Type }),
    ((any EventListener).self, { $0 is any EventListener.Type }),
    ((any AsyncBean).self, { $0 is any AsyncBean.Type }),
  ]

  private static let conformances = ProtocolList(protocols.map(\.type))

  /// The protocol of a trait.
  var protocolType: Any.Type { Self.protocols[rawValue.trailingZeroBitCount].type }

  private init(asking type: Any.Type) {
    let (certain, possible) = Self.conformances.conformances(of: type)
    self.init(rawValue: UInt16(truncatingIfNeeded: certain))
    for (bit, asked) in Self.protocols.enumerated() {
      let trait = BeanTraits(rawValue: 1 << bit)
      // A bean may be declared as one of the protocols by which infrastructure is found.
      if possible & 1 << bit != 0 && asked.isMet(type) || type == asked.type && Self.infrastructure.contains(trait) {
        insert(trait)
      }
    }
    if Parameter.isWrapper(type) { insert(.wrapper) }
    guard let type = type as? AnyClass else {
      remove(.injected)
      return
    }
    insert(.object)
    if type is Injection.Type { insert(.injection) }
    if ClassInjection.areDeclared(in: type) { insert(.injected) }
  }
}
