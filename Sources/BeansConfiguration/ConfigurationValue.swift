@_spi(BeansPackage) import BeansSupport

/// The properties of a source that its values keep.
struct SourceTraits: Sendable {
  let url: String
  let canOverrule: Bool
  let spelling: KeySpelling

  /// Reads the properties, which runs user code.
  init(_ source: any ConfigurationSource) {
    url = source.url
    canOverrule = source.canOverrule
    spelling = source.spelling
  }
}

/// One item of one source, with its conversions.
final class ConfigurationValue: Sendable {
  let item: ConfigurationItem
  private let traits: SourceTraits
  /// The position of the source among those of its manager: later sources have precedence.
  let rank: Int
  /// The converted values that several readers may share: see `ConfigurationManager.read`.
  private let converted = Locked<[ObjectIdentifier: any Sendable]>([:])

  init(_ item: ConfigurationItem, _ traits: SourceTraits, rank: Int) {
    self.item = item
    self.traits = traits
    self.rank = rank
  }

  var address: ConfigurationStore.Address { .init(key: item.qualifiedKey, scope: item.scope) }
  var url: String { traits.url }
  var canOverrule: Bool { traits.canOverrule }
  var spelling: KeySpelling { traits.spelling }

  /// Returns the source and, where the source has another name for the key, that name.
  func place(readAs key: QualifiedKey) -> String {
    key == item.qualifiedKey ? url : "\(url) (\(item.qualifiedKey))"
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
