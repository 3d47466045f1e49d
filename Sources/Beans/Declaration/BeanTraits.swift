import BeansConfiguration
import BeansReflection
@_spi(BeansPackage) import BeansSupport

/// What a type is to the container: which of its protocols it conforms to, and whether it has injections. Asked once for
/// each type, so that building a bean needs no cast that must fail.
struct BeanTraits: OptionSet, Sendable {
  let rawValue: UInt16

  static let aware = BeanTraits(rawValue: 1)
  static let bean = BeanTraits(rawValue: 2)
  static let disposable = BeanTraits(rawValue: 4)
  static let asyncDisposable = BeanTraits(rawValue: 8)
  /// The class itself says what is injected into its instances.
  static let injected = BeanTraits(rawValue: 16)
  static let factory = BeanTraits(rawValue: 32)
  // What startup builds first.
  static let source = BeanTraits(rawValue: 64)
  static let scope = BeanTraits(rawValue: 128)
  static let injection = BeanTraits(rawValue: 256)
  static let processor = BeanTraits(rawValue: 512)
  /// Asks for something else than a bean of its own type, and cannot be one.
  static let wrapper = BeanTraits(rawValue: 1024)
  /// Instances are objects.
  static let object = BeanTraits(rawValue: 2048)

  static var infrastructure: BeanTraits { [.source, .scope, .injection, .processor] }

  init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Costs a lock and a probe, once a type is known.
  static func of(_ type: Any.Type) -> BeanTraits {
    let key = ObjectIdentifier(type)
    if let traits = known.withLock({ $0[key] }) { return traits }
    let traits = BeanTraits(asking: type)
    known.withLock { $0[key] = traits }
    return traits
  }

  private static let known = Locked<[ObjectIdentifier: BeanTraits]>([:])

  /// The protocols of the container, in the order of their traits' bits.
  private static let protocols = ProtocolList([
    (any EnvironmentAware).self, (any Bean).self, (any DisposableBean).self, (any AsyncDisposableBean).self,
    (any BeanDescriptorInitializer).self, (any FactoryBean).self, (any ConfigurationSource).self, (any BeanScope).self,
    (any ParameterType).self, (any BeanPostProcessor).self,
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
    if conforms(8, type is any ParameterType.Type) { insert(.wrapper) }
    if conforms(9, type is any BeanPostProcessor.Type) || type == (any BeanPostProcessor).self { insert(.processor) }
    guard let type = type as? AnyClass else { return }
    insert(.object)
    if type is Injection.Type { insert(.injection) }
    let isDescribing = conforms(4, type is any BeanDescriptorInitializer.Type)
    if isDescribing || InjectedClasses.contains(type) { insert(.injected) }
  }

  /// What an object is whose class startup did not expect; a value's box has the traits of what it holds.
  static func of(_ object: AnyObject) -> BeanTraits { of(type(of: Box.open(object))) }
}
