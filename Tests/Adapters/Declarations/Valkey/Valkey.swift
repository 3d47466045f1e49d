// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on a store of your own: the signatures are those of valkey-swift, the rest
// is as little as the listings need to run. No server runs the scripts: a test replies to each call.
public import Logging

public protocol ValkeyClientProtocol: Sendable {
  /// Takes the place of `execute(_:)`.
  func reply(to call: EVAL) async throws(ValkeyClientError) -> RESPToken
}

extension ValkeyClientProtocol {
  @discardableResult public func eval<Script: RESPStringRenderable>(
    script: Script, keys: [ValkeyKey] = [], args: [String] = []
  ) async throws(ValkeyClientError) -> RESPToken {
    try await reply(to: EVAL(script: "\(script)", keys: keys.map(\.description), args: args))
  }
}

public struct EVAL: Sendable {
  public let script: String
  public let keys: [String]
  public let args: [String]
}

public protocol RESPStringRenderable: Sendable, Hashable {}

extension String: RESPStringRenderable {}

public struct ValkeyKey: Sendable, Hashable, CustomStringConvertible {
  public let description: String

  public init(_ string: String) { description = string }
}

public struct RESPDecodeError: Error {}

public protocol RESPTokenDecodable {
  init(_ token: RESPToken) throws(RESPDecodeError)
}

extension String: RESPTokenDecodable {
  public init(_ token: RESPToken) throws(RESPDecodeError) {
    guard case .bulkString(let text) = token.value else { throw RESPDecodeError() }
    self = text
  }
}

public struct RESPToken: Sendable {
  public enum Value: Sendable {
    case bulkString(String)
    case number(Int64)
    case null
    case array(Array)
  }

  public struct Array: Sendable {
    private let texts: [String]

    public init(_ texts: [String]) { self.texts = texts }

    public func decode<Value: RESPTokenDecodable>(
      as type: [Value].Type = [Value].self
    ) throws(RESPDecodeError) -> [Value] {
      var values: [Value] = []
      for text in texts { values.append(try Value(RESPToken(.bulkString(text)))) }
      return values
    }

    public func decodeKeyValuePairs<Key: RESPTokenDecodable, Value: RESPTokenDecodable>(
      as: [(Key, Value)].Type = [(Key, Value)].self
    ) throws(RESPDecodeError) -> [(Key, Value)] {
      guard texts.count.isMultiple(of: 2) else { throw RESPDecodeError() }
      var pairs: [(Key, Value)] = []
      for place in stride(from: 0, to: texts.count, by: 2) {
        let (key, value) = (RESPToken(.bulkString(texts[place])), RESPToken(.bulkString(texts[place + 1])))
        pairs.append((try Key(key), try Value(value)))
      }
      return pairs
    }
  }

  public let value: Value

  public init(_ value: Value) { self.value = value }
}

public struct ValkeyClientError: Error {
  public struct ErrorCode: Equatable, Sendable, CustomStringConvertible {
    public let description: String

    public static let clientIsShutDown = Self(description: "Client is shutdown and not serving requests.")
    public static let commandError = Self(description: "Valkey command returned an error.")
    public static let connectionClosed = Self(description: "Connection has been closed.")
    public static let connectionClosing = Self(description: "Connection is closing.")
    public static let connectionCreationCircuitBreakerTripped = Self(
      description: "Connection pool connection creation circuit breaker triggered.")
    public static let timeout = Self(description: "Connection was closed because it timed out.")
  }

  public let errorCode: ErrorCode
  public let message: String?

  public init(_ errorCode: ErrorCode, message: String? = nil) { (self.errorCode, self.message) = (errorCode, message) }
}

public struct ValkeyServerAddress: Sendable {
  public static func hostname(_ host: String, port: Int = 6379) -> Self { Self() }
}

public struct ValkeyClientConfiguration: Sendable {
  public struct RetryParameters: Sendable {
    public init(maxAttempts: Int = 16) {}
  }

  public struct ConnectionPool: Sendable {
    public var circuitBreakerTripAfter = Duration.seconds(60)
  }

  public var connectionPool = ConnectionPool()

  public init(retryParameters: RetryParameters = .init(), commandTimeout: Duration = .seconds(30)) {}
}

/// A client without a server.
public final class ValkeyClient: ValkeyClientProtocol {
  public init(_ address: ValkeyServerAddress, configuration: ValkeyClientConfiguration = .init(), logger: Logger) {}

  public func run() async {}

  public func reply(to call: EVAL) async throws(ValkeyClientError) -> RESPToken {
    throw ValkeyClientError(.connectionCreationCircuitBreakerTripped)
  }
}
