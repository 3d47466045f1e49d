@_spi(BeansPackage) import BeansErrors

/// The properties of a source that its values keep.
struct SourceTraits: Sendable {
  let url: String
  let canOverrule: Bool
  let spelling: KeySpelling
  let isSecret: Bool
  let isAsked: Bool

  /// Reads the properties, which runs user code.
  init(_ source: any ConfigurationSource) {
    url = source.url
    canOverrule = source.canOverrule
    spelling = source.spelling
    isSecret = source.isSecret
    isAsked = source.isAsked
  }
}

/// One item of one source, with its conversions.
final class StoredValue: Sendable {
  let item: ConfigurationItem
  private let traits: SourceTraits
  /// The position of the source among those of its manager: later sources have precedence.
  let rank: Int
  /// Whether the value contains texts with placeholders.
  let hasPlaceholders: Bool
  /// Whether the source marks the value as a secret, or the key is named like one.
  let isSecret: Bool
  /// The converted values that several readers may share: see `ConfigurationManager.read`.
  private let converted = Locked<[ObjectIdentifier: any Sendable]>([:])

  init(_ item: ConfigurationItem, _ traits: SourceTraits, rank: Int) {
    self.item = item
    self.traits = traits
    self.rank = rank
    isSecret = item.isSecret || traits.isSecret || SecretKeys.isNamed(item.key)
    hasPlaceholders =
      switch item.value {
      case let text as String: Self.hasPlaceholder(text)
      case let list as [String]: list.contains(where: Self.hasPlaceholder)
      case let entries as [String: String]: entries.values.contains(where: Self.hasPlaceholder)
      default: false
      }
  }

  /// Whether a text contains `${`.
  private static func hasPlaceholder(_ text: String) -> Bool {
    var last: UInt8 = 0
    for byte in text.utf8 {
      if last == UInt8(ascii: "$"), byte == UInt8(ascii: "{") { return true }
      last = byte
    }
    return false
  }

  /// The name of the value in its source.
  var name: String { "\(item.qualifiedKey)" }
  var address: ConfigurationStore.Address { .init(item) }
  var url: String { traits.url }
  var canOverrule: Bool { traits.canOverrule }
  var spelling: KeySpelling { traits.spelling }

  /// The source, and the line where the source has lines.
  var place: String { item.line.map { "\(url):\($0)" } ?? url }

  /// The place of the value in a file; nil if the source has no lines.
  var origin: EnvironmentError.Origin? { item.line.map { .init(file: url, line: $0) } }

  /// The beginning of the message of a fault of this value.
  private var title: String { "configuration value '\(item.qualifiedKey)' of \(place): " }

  /// Whether a fault names this value already, or one to which its placeholders lead.
  func names(_ error: EnvironmentError) -> Bool {
    error.cause == .circleOfPlaceholders || error.message.hasPrefix("configuration value '")
  }

  /// Returns the fault of this value.
  ///
  /// - Parameters:
  ///   - error: the fault.
  ///   - message: the message instead of the fault's own.
  ///   - underlying: the errors behind it instead of the fault's own.
  func naming(
    _ error: EnvironmentError, message: String? = nil, underlying: [any Error]? = nil
  ) -> EnvironmentError {
    EnvironmentError(
      cause: error.cause, title + (message ?? error.message),
      steps: [EnvironmentError.Step("'\(item.qualifiedKey)'")], origin: origin,
      underlying: underlying ?? error.underlying)
  }

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
    // The value of another thread that it replaces is destroyed outside of the lock.
    _ = converted.withLock { $0.updateValue(value, forKey: key) }
  }
}
