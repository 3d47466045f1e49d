// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on swift-configuration: the signatures are those of the package, the
// rest is as little as the listings need to run.

public struct ConfigReader: Sendable {
  private let provider: any ConfigProvider

  public init(provider: some ConfigProvider) { self.provider = provider }

  private func content(_ key: ConfigKey, _ type: ConfigType) -> ConfigContent? {
    // As that of the package, a reader returns nil where the provider throws.
    try? provider.value(forKey: AbsoluteConfigKey(key.components), type: type).value?.content
  }

  public func string(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) -> String? {
    if case .string(let value)? = content(key, .string) { value } else { nil }
  }

  public func int(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) -> Int? {
    if case .int(let value)? = content(key, .int) { value } else { nil }
  }

  public func double(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) -> Double? {
    if case .double(let value)? = content(key, .double) { value } else { nil }
  }

  public func bool(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) -> Bool? {
    if case .bool(let value)? = content(key, .bool) { value } else { nil }
  }

  public func stringArray(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) -> [String]? {
    if case .stringArray(let value)? = content(key, .stringArray) { value } else { nil }
  }

  public func intArray(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) -> [Int]? {
    if case .intArray(let value)? = content(key, .intArray) { value } else { nil }
  }

  public func doubleArray(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) -> [Double]? {
    if case .doubleArray(let value)? = content(key, .doubleArray) { value } else { nil }
  }

  public func requiredString(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line
  ) throws -> String {
    guard let value = string(forKey: key, isSecret: isSecret) else { throw MissingValue(key: key.components) }
    return value
  }

  public func watchString<Return: ~Copyable>(
    forKey key: ConfigKey, isSecret: Bool = false, fileID: String = #fileID, line: UInt = #line,
    updatesHandler: (ConfigUpdatesAsyncSequence<String?, Never>) async throws -> Return
  ) async throws -> Return {
    try await provider.watchValue(forKey: AbsoluteConfigKey(key.components), type: .string) { updates in
      let texts = updates.map { update -> String? in
        if case .success(let result) = update, case .string(let text)? = result.value?.content { text } else { nil }
      }
      return try await updatesHandler(ConfigUpdatesAsyncSequence(texts))
    }
  }
}

struct MissingValue: Error { let key: [String] }

public struct ConfigKey: ExpressibleByStringLiteral, Sendable {
  public var components: [String]

  public init(_ string: String) { components = string.split(separator: ".").map(String.init) }

  public init(stringLiteral value: String) { self.init(value) }
}

public struct AbsoluteConfigKey: Hashable, Sendable {
  public var components: [String]

  public init(_ components: [String]) { self.components = components }
}
