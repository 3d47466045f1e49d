import BeansConfiguration
import BeansReflection
@_spi(BeansPackage) import BeansSupport

extension BeanTraits {
  /// The traits of a type, which is asked once, so that building a bean needs no cast that must fail.
  static func of(_ type: Any.Type) -> BeanTraits {
    let key = ObjectIdentifier(type)
    if let traits = known.withLock({ $0[key] }) { return traits }
    let traits = BeanTraits(asking: type)
    known.withLock { $0[key] = traits }
    return traits
  }

  /// What an object is whose class startup did not expect; a value's box has the traits of what it holds.
  static func of(_ object: AnyObject) -> BeanTraits { of(type(of: Box.open(object))) }

  private static let known = Locked<[ObjectIdentifier: BeanTraits]>([:])

  /// The protocols of the container, in the order of their traits' bits.
  private static let protocols = ProtocolList([
    (any EnvironmentAware).self, (any Bean).self, (any DisposableBean).self, (any AsyncDisposableBean).self,
    (any BeanDescriptorInitializer).self, (any FactoryBean).self, (any ConfigurationSource).self, (any BeanScope).self,
    (any BeanPostProcessor).self,
  ])

  private init(asking type: Any.Type) {
    self = []
    let (certain, possible) = Self.protocols.conformances(of: type)
    func conforms(_ bit: UInt32, _ cast: @autoclosure () -> Bool) -> Bool {
      certain & 1 << bit != 0 || possible & 1 << bit != 0 && cast()
    }
    if conforms(0, type is any EnvironmentAware.Type) { insert(.aware) }
    if conforms(1, type is any Bean.Type) { insert(.bean) }
    if conforms(2, type is any DisposableBean.Type) { insert(.disposable) }
    if conforms(3, type is any AsyncDisposableBean.Type) { insert(.asyncDisposable) }
    if conforms(5, type is any FactoryBean.Type) { insert(.factory) }
    if conforms(6, type is any ConfigurationSource.Type) || type == (any ConfigurationSource).self { insert(.source) }
    if conforms(7, type is any BeanScope.Type) || type == (any BeanScope).self { insert(.scope) }
    if conforms(8, type is any BeanPostProcessor.Type) || type == (any BeanPostProcessor).self { insert(.processor) }
    guard let type = type as? AnyClass else { return }
    if type is Injection.Type { insert(.injection) }
    if conforms(4, type is any BeanDescriptorInitializer.Type) || ClassInjection.areDeclared(in: type) {
      insert(.injected)
    }
  }
}
