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
  static let injection = BeanTraits(rawValue: 512)
  /// Asks for something else than a bean of its own type, and cannot be one.
  static let wrapper = BeanTraits(rawValue: 1024)
  /// Instances are objects.
  static let object = BeanTraits(rawValue: 2048)

  static var infrastructure: BeanTraits { [.source, .scope, .injection, .processor] }
}
