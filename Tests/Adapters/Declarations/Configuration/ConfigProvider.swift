// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public protocol ConfigProvider: Sendable {
  var providerName: String { get }
  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult
  func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult
  func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
      Return
  ) async throws -> Return
  func snapshot() -> any ConfigSnapshot
  func watchSnapshot<Return: ~Copyable>(
    updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
  ) async throws -> Return
}

extension ConfigProvider {
  public func watchSnapshotFromSnapshot<Return: ~Copyable>(
    updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
  ) async throws -> Return {
    let (snapshots, continuation) = AsyncStream.makeStream(of: (any ConfigSnapshot).self)
    continuation.yield(snapshot())
    return try await updatesHandler(ConfigUpdatesAsyncSequence(snapshots))
  }
}

public protocol ConfigSnapshot: Sendable {
  var providerName: String { get }
  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult
}

public struct LookupResult: Sendable, Hashable {
  public var encodedKey: String
  public var value: ConfigValue?

  public init(encodedKey: String, value: ConfigValue?) { (self.encodedKey, self.value) = (encodedKey, value) }
}

public struct ConfigValue: Sendable, Hashable {
  public var content: ConfigContent
  public var isSecret: Bool

  public init(_ content: ConfigContent, isSecret: Bool) { (self.content, self.isSecret) = (content, isSecret) }
}

@frozen public enum ConfigType: String, Sendable {
  case string, int, double, bool, bytes, stringArray, intArray, doubleArray, boolArray, byteChunkArray
}

@frozen public enum ConfigContent: Sendable, Hashable {
  case string(String)
  case int(Int)
  case double(Double)
  case bool(Bool)
  case bytes([UInt8])
  case stringArray([String])
  case intArray([Int])
  case doubleArray([Double])
  case boolArray([Bool])
  case byteChunkArray([[UInt8]])
}

public enum SecretsSpecifier<KeyType: Sendable & Hashable, ValueType: Sendable>: Sendable {
  case all
  case none
  case specific(Set<KeyType>)
  case dynamic(@Sendable (KeyType, ValueType) -> Bool)

  public func isSecret(key: KeyType, value: ValueType) -> Bool {
    switch self {
    case .all: true
    case .none: false
    case .specific(let keys): keys.contains(key)
    case .dynamic(let isSecret): isSecret(key, value)
    }
  }
}

public struct ConfigUpdatesAsyncSequence<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  public struct AsyncIterator: AsyncIteratorProtocol {
    var upstream: any AsyncIteratorProtocol<Element, Failure>

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
      try await upstream.next(isolation: actor)
    }
  }

  private let upstream: any AsyncSequence<Element, Failure> & Sendable

  public init(_ upstream: some AsyncSequence<Element, Failure> & Sendable) { self.upstream = upstream }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(upstream: upstream.makeAsyncIterator()) }
}

/// A provider with typed values, as in a JSON file.
public struct InMemoryProvider: ConfigProvider, ConfigSnapshot {
  private struct TypeMismatch: Error {}

  private let values: [AbsoluteConfigKey: ConfigValue]

  public init(values: [AbsoluteConfigKey: ConfigValue]) { self.values = values }

  public var providerName: String { "InMemoryProvider" }

  public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    guard let value = values[key] else { return LookupResult(encodedKey: "\(key)", value: nil) }
    guard "\(value.content)".hasPrefix("\(type)(") else { throw TypeMismatch() }
    return LookupResult(encodedKey: "\(key)", value: value)
  }

  public func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
    try value(forKey: key, type: type)
  }

  public func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
      Return
  ) async throws -> Return {
    let (updates, continuation) = AsyncStream.makeStream(of: Result<LookupResult, any Error>.self)
    continuation.yield(Result { try value(forKey: key, type: type) })
    return try await updatesHandler(ConfigUpdatesAsyncSequence(updates))
  }

  public func snapshot() -> any ConfigSnapshot { self }

  public func watchSnapshot<Return: ~Copyable>(
    updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
  ) async throws -> Return { try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler) }
}
