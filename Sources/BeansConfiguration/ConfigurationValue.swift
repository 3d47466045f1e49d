@_spi(BeansPackage) import BeansSupport

/// One item of one source, with its conversions.
final class ConfigurationValue: Sendable {
  let item: ConfigurationItem
  let url: String
  let canOverrule: Bool
  /// The position of the source among those of its manager: later sources have precedence.
  let rank: Int
  /// The converted values that several readers may share: see `ConfigurationManager.read`.
  private let converted = Locked<[ObjectIdentifier: any Sendable]>([:])

  init(_ item: ConfigurationItem, url: String, canOverrule: Bool, rank: Int) {
    self.item = item
    self.url = url
    self.canOverrule = canOverrule
    self.rank = rank
  }

  func converted(to type: Any.Type) -> (any Sendable)? {
    let key = ObjectIdentifier(type)
    return converted.withLock { $0[key] }
  }

  func keep(_ value: any Sendable, as type: Any.Type) {
    let key = ObjectIdentifier(type)
    converted.withLock { $0[key] = value }
  }
}
