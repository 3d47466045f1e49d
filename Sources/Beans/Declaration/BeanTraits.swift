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
  static let injection = BeanTraits(rawValue: 2048)
  /// The type requests something other than a bean of its own type, and cannot be a bean.
  static let wrapper = BeanTraits(rawValue: 4096)
  /// The compiler knows that the declared type is `Sendable`.
  static let sendable = BeanTraits(rawValue: 16384)
  /// Instances are objects.
  static let object = BeanTraits(rawValue: 8192)

  static var infrastructure: BeanTraits { [.source, .scope, .injection, .processor] }
}
