@_spi(BeansPackage) import BeansSupport

/// One item of one source, with what it has been converted to.
final class ConfigurationValue: Sendable {
  let item: ConfigurationItem
  let url: String
  let canOverrule: Bool
  /// The position of the source among those of its manager: a later one stands above.
  let rank: Int
  /// Conversions of values that several readers may share: see `ConfigurationManager.read`.
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
