/// Which of the container's protocols a type conforms to, as far as it can be told without the runtime: that is slow to
/// answer for a type it has not seen.
struct Conformances {
  struct Protocols: OptionSet {
    let rawValue: UInt32

    static let aware = Protocols(rawValue: 1)
    static let bean = Protocols(rawValue: 2)
    static let disposable = Protocols(rawValue: 4)
    static let asyncDisposable = Protocols(rawValue: 8)
    static let factory = Protocols(rawValue: 16)
    static let source = Protocols(rawValue: 32)
    static let scope = Protocols(rawValue: 64)
    static let processor = Protocols(rawValue: 128)
    static let wrapper = Protocols(rawValue: 256)
    static let describing = Protocols(rawValue: 512)

    /// In the order of their bits.
    static let types: [Any.Type] = [
      (any EnvironmentAware).self, (any Bean).self, (any DisposableBean).self, (any AsyncDisposableBean).self,
      (any FactoryBean).self, (any ConfigurationSource).self, (any BeanScope).self, (any BeanPostProcessor).self,
      (any DependencyWrapper).self, (any BeanDescriptorInitializer).self,
    ]

    fileprivate static let list = ProtocolList(types)
  }

  let certain: Protocols
  let possible: Protocols

  /// Costs what `ProtocolList.conformances` does.
  init(of type: Any.Type) {
    let found = Protocols.list.conformances(of: type)
    certain = Protocols(rawValue: found.certain)
    possible = Protocols(rawValue: found.possible)
  }

  /// Whether the type conforms to one of them; `asked` asks the runtime.
  func contains(_ wanted: Protocols, _ asked: @autoclosure () -> Bool) -> Bool {
    certain.contains(wanted) || possible.contains(wanted) && asked()
  }
}
