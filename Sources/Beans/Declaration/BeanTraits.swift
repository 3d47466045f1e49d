/// What a type is to the container: which of its protocols it conforms to, and whether it has injections.
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
  static let processor = BeanTraits(rawValue: 256)
  /// Receives events.
  static let listener = BeanTraits(rawValue: 512)
  /// Creating an instance has to be awaited.
  static let awaited = BeanTraits(rawValue: 1024)
  static let injection = BeanTraits(rawValue: 2048)
  /// Asks for something else than a bean of its own type, and cannot be one.
  static let wrapper = BeanTraits(rawValue: 4096)
  /// The compiler knows that the declared type is `Sendable`.
  static let sendable = BeanTraits(rawValue: 16384)
  /// Instances are objects.
  static let object = BeanTraits(rawValue: 8192)

  static var infrastructure: BeanTraits { [.source, .scope, .injection, .processor] }
}
