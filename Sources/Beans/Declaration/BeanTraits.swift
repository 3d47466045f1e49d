import BeansConfiguration
@_spi(BeansPackage) import BeansErrors
import BeansReflection

/// The container's view of a type: the container protocols to which it conforms, and whether it has injections.
struct BeanTraits: OptionSet, Sendable {
  let rawValue: UInt16

  static let aware = BeanTraits(rawValue: 1)
  static let bean = BeanTraits(rawValue: 2)
  static let disposable = BeanTraits(rawValue: 4)
  static let asyncDisposable = BeanTraits(rawValue: 8)
  /// The class itself declares injections into its instances.
  static let injected = BeanTraits(rawValue: 16)
  static let factory = BeanTraits(rawValue: 32)
  // Startup builds these first.
  static let source = BeanTraits(rawValue: 64)
  static let scope = BeanTraits(rawValue: 128)
  static let processor = BeanTraits(rawValue: 256)
  /// Instances receive events.
  static let listener = BeanTraits(rawValue: 512)
  /// Creating an instance is asynchronous.
  static let awaited = BeanTraits(rawValue: 1024)
  /// Instances work as long as their environment.
  static let runnable = BeanTraits(rawValue: 2048)
  static let injection = BeanTraits(rawValue: 4096)
  /// The type requests something other than a bean of its own type, and cannot be a bean.
  static let wrapper = BeanTraits(rawValue: 32768)
  /// The compiler knows that the declared type is `Sendable`.
  static let sendable = BeanTraits(rawValue: 16384)
  /// Instances are objects.
  static let object = BeanTraits(rawValue: 8192)

  static var infrastructure: BeanTraits { [.source, .scope, .injection, .processor] }
  /// The capabilities that startup has to know from the declared type, because it arranges for them.
  static var declared: BeanTraits { infrastructure.union([.factory, .listener, .awaited]) }
  /// The traits with a release.
  static var released: BeanTraits { [.disposable, .asyncDisposable, .runnable] }
}

extension BeanTraits {
  /// Returns the traits of a type. They are computed once for each type, so that building a bean needs no cast that
  /// must fail.
  @inline(never)
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
    ((any RunnableBean).self, { $0 is any RunnableBean.Type }),
    ((any InjectionProvider).self, { $0 is any InjectionProvider.Type }),
  ]

  private static let conformances = ProtocolList(protocols.map(\.type))

  /// The protocol of a trait.
  var protocolType: Any.Type { Self.protocols[rawValue.trailingZeroBitCount].type }

  /// The types that the traits stand for, as a part of a sentence: "an EventListener and a BeanScope".
  var names: String {
    let names = Self.protocols.enumerated().filter { contains(BeanTraits(rawValue: 1 << $0.offset)) }
      // Users know an injection provider by its class.
      .map { "\($0.element.type)".replacing("any ", with: "").replacing("InjectionProvider", with: "Injection") }
    return names.map { "\("AEIOU".contains($0.prefix(1)) ? "an" : "a") \($0)" }.joined(separator: " and ")
  }

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
    if ClassInjection.areDeclared(in: type) { insert(.injected) }
  }
}
