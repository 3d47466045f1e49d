// listing
import Beans
import Configuration

/// Reads each key in a `ConfigReader`, at each read.
final class ConfigReaderSource: ConfigurationSource {
  let url = "swift-configuration"
  let canOverrule = true
  let isAsked = true
  let isSecret: Bool
  private let reader: ConfigReader

  init(_ reader: ConfigReader, isSecret: Bool = false) { (self.reader, self.isSecret) = (reader, isSecret) }

  func load(_ manager: ConfigurationManager) {}

  func value(namespace: String, key: String, scope: String) -> (any Sendable)? {
    guard scope.isEmpty else { return nil }
    let key = ConfigKey(namespace.isEmpty ? key : "\(namespace).\(key)")
    // A provider with typed values has a value for one type only.
    if let text = reader.string(forKey: key) { return text }
    if let number = reader.int(forKey: key) { return number }
    if let number = reader.double(forKey: key) { return number }
    if let flag = reader.bool(forKey: key) { return flag }
    if let texts = reader.stringArray(forKey: key) { return texts }
    return reader.intArray(forKey: key)
  }
}

/// The configuration of an environment, for code that takes a `ConfigReader`.
struct BeansConfigProvider: ConfigProvider, ConfigSnapshot {
  typealias Lookup = Result<LookupResult, any Error>
  typealias Updates<T: Sendable> = ConfigUpdatesAsyncSequence<T, Never>

  let providerName = "swift-beans"
  let manager: ConfigurationManager
  var secrets = SecretsSpecifier<String, ConfigContent>.all

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let name = key.components.joined(separator: ".")
    func read<T>(_ content: (T) -> ConfigContent) throws -> ConfigContent? {
      try manager.getValue(T?.self, key: name).map(content)
    }
    let content: ConfigContent? =
      switch type {
      case .string: try read(ConfigContent.string)
      case .int: try read(ConfigContent.int)
      case .double: try read(ConfigContent.double)
      case .bool: try read(ConfigContent.bool)
      case .stringArray: try read(ConfigContent.stringArray)
      case .intArray: try read(ConfigContent.intArray)
      case .doubleArray: try read(ConfigContent.doubleArray)
      case .boolArray: try read(ConfigContent.boolArray)
      case .bytes, .byteChunkArray: nil
      }
    let value = content.map { ConfigValue($0, isSecret: secrets.isSecret(key: name, value: $0)) }
    return LookupResult(encodedKey: name, value: value)
  }

  func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
    try value(forKey: key, type: type)
  }

  nonisolated(nonsending) func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler: nonisolated(nonsending) (Updates<Lookup>) async throws -> Return
  ) async throws -> Return {
    let (updates, feed) = AsyncStream.makeStream(of: Lookup.self, bufferingPolicy: .bufferingNewest(1))
    feed.yield(Lookup { try value(forKey: key, type: type) })
    let listener = manager.addListener((any Sendable).self, key: key.components.joined(separator: ".")) { _ in
      feed.yield(Lookup { try value(forKey: key, type: type) })
    }
    defer { listener.cancel() }
    return try await updatesHandler(Updates(updates))
  }

  func snapshot() -> any ConfigSnapshot { self }

  nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
    updatesHandler: nonisolated(nonsending) (Updates<any ConfigSnapshot>) async throws -> Return
  ) async throws -> Return { try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler) }
}
// end
