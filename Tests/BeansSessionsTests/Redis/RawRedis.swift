@_spi(BeansPackage) import BeansErrors
import Glibc
import TestSupport
import Testing

@testable import BeansRedis
import BeansSessions

/// A connection of the test's own to a Redis server, which blocks the caller for each command.
final class RawRedis: Sendable {
  private let descriptor: Int32
  private let parser = Locked(RESPParser())

  convenience init(_ redis: RedisProcess) throws { try self.init(port: redis.port) }

  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = RedisProcess.loopback(port: port)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw RedisProcess.Failure(description: "no connection") }
  }

  deinit { close(descriptor) }

  /// Runs a command.
  ///
  /// - Throws: where the server has gone, or replies with an error.
  @discardableResult
  func callAsFunction(_ words: String...) throws -> RESPValue {
    let command = RESPCommand.encode(words.map { Array($0.utf8) })
    try send(command)
    return try next()
  }

  /// Waits for the next reply, such as a message of a subscription.
  func next() throws -> RESPValue {
    try parser.withLock { parser in
      while true {
        if let reply = try parser.next() {
          if case .error(let text) = reply { throw RedisProcess.Failure(description: text) }
          return reply
        }
        parser.append(try receive())
      }
    }
  }

  private func send(_ command: [UInt8]) throws {
    var sent = 0
    while sent < command.count {
      let count = command[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw RedisProcess.Failure(description: "the server has gone") }
      sent += count
    }
  }

  private func receive() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { throw RedisProcess.Failure(description: "the server has gone") }
    return Array(bytes[..<count])
  }

  /// The names of all keys.
  func keys() throws -> [String] {
    guard case .array(let names) = try self("KEYS", "*") else { return [] }
    return names.compactMap(\.text)
  }

  /// The names of the keys that hold a session, and not an id that has rotated or ended.
  func sessions() throws -> [String] {
    try keys().filter { try self("TYPE", $0) == .simple("hash") }
  }

  /// Makes all sessions look as if they had not been used for so much longer. Their keys do not expire earlier for it.
  func age(by duration: Duration) throws {
    try self(
      "EVAL", "for _, key in ipairs(redis.call('KEYS', '*')) do redis.pcall('HINCRBY', key, 'a', -ARGV[1]) end", "0",
      "\(Int(duration / .milliseconds(1)))")
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests that start a server of their own. `make test` installs it.
  static var needsRedis: Self {
    .enabled(if: RedisProcess.executable != nil, "redis-server is not installed, so nothing is said of the Redis store")
  }
}
