import CBeansRuntime

/// Which of the container's protocols a type can conform to.
///
/// Asking the runtime is dear where it says "no", for each type anew. What is missing here need not be asked.
struct PossibleConformances: OptionSet {
  let rawValue: UInt32

  static let aware = PossibleConformances(rawValue: 1)
  static let bean = PossibleConformances(rawValue: 2)
  static let disposable = PossibleConformances(rawValue: 4)
  static let asyncDisposable = PossibleConformances(rawValue: 8)
  static let factory = PossibleConformances(rawValue: 16)
  static let source = PossibleConformances(rawValue: 32)
  static let scope = PossibleConformances(rawValue: 64)
  static let processor = PossibleConformances(rawValue: 128)
  static let wrapper = PossibleConformances(rawValue: 256)
  static let describing = PossibleConformances(rawValue: 512)

  /// In the order of their bits.
  static let protocols: [Any.Type] = [
    (any EnvironmentAware).self, (any Bean).self, (any DisposableBean).self, (any AsyncDisposableBean).self,
    (any FactoryBean).self, (any ConfigurationSource).self, (any BeanScope).self, (any BeanPostProcessor).self,
    (any DependencyWrapper).self, (any BeanDescriptorInitializer).self,
  ]

  // Never written; what they point to belongs to the program.
  nonisolated(unsafe) private static let descriptors = protocols.map { TypeRelation.protocols(of: $0).first }

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Costs a lock and some probes; a look at all conformances of the process where images have been loaded since the
  /// last one.
  init(of type: Any.Type) {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    rawValue = beans_possible_conformances(metadata, Self.descriptors, UInt32(Self.descriptors.count))
  }
}
