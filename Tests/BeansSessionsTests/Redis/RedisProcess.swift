@_spi(BeansPackage) import BeansSupport
import Foundation
import Glibc
import Testing

@testable import BeansSessions

/// A Redis server of a test's own, in a temporary folder and on a free port, that keeps nothing on disk.
final class RedisProcess: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Where the program is; nil where it is not installed.
  static let executable = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/redis-server" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  let port: Int
  private let arguments: [String]
  private let folder: String
  private let process = Locked<pid_t?>(nil)

  /// Starts a server, and returns when it takes connections.
  init(_ arguments: String...) throws {
    self.arguments = arguments
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("redis-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // Somebody else may take a free port before the server does.
    for _ in 0..<10 {
      let port = try Self.findFreePort()
      if let id = try Self.start(port: port, folder: folder, arguments) {
        self.port = port
        process.withLock { $0 = id }
        return
      }
    }
    throw Failure(description: "redis-server does not start")
  }

  deinit { end() }

  /// Ends the server at once, as a failing machine does.
  func kill() {
    guard let id = process.withLock({ $0.take() }) else { return }
    _ = Glibc.kill(id, SIGKILL)
    _ = waitpid(id, nil, 0)
  }

  /// Starts a server anew, which knows nothing, on the port of the one that was killed.
  func restart() throws {
    let id = try Self.start(port: port, folder: folder, arguments)
    process.withLock { $0 = id }
    if id == nil { throw Failure(description: "redis-server does not start again") }
  }

  /// Has the server hang: it neither reads nor replies, and the system still accepts connections for it.
  func suspend() {
    guard let id = process.withLock({ $0 }) else { return }
    _ = Glibc.kill(id, SIGSTOP)
    // Returns when the process has stopped, and not when it has been told to.
    _ = waitpid(id, nil, WUNTRACED)
  }

  /// Ends what `suspend()` began.
  func resume() {
    if let id = process.withLock({ $0 }) { _ = Glibc.kill(id, SIGCONT) }
  }

  func end() {
    kill()
    try? FileManager.default.removeItem(atPath: folder)
  }

  private static func findFreePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    guard status == 0 else { throw Failure(description: "no free port") }
    return Int(address.sin_port.bigEndian)
  }

  static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  /// The process, when it has said that it is ready; nil where it has ended instead.
  private static func start(port: Int, folder: String, _ more: [String]) throws -> pid_t? {
    guard let executable else { throw Failure(description: "redis-server is not installed") }
    var pipe: [Int32] = [0, 0]
    // What another test starts at this moment must not keep the other end open.
    guard Glibc.pipe(&pipe) == 0 else { throw Failure(description: "no pipe") }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(pipe[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 2)
    let words =
      [executable, "--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder]
      + more
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var id = pid_t()
    let status = posix_spawn(&id, executable, &actions, nil, &arguments, environ)
    close(pipe[1])
    guard status == 0 else { throw Failure(description: "redis-server cannot be run") }
    var said = ""
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while !said.contains("Ready to accept connections") {
      let count = read(pipe[0], &bytes, bytes.count)
      guard count > 0 else {
        _ = waitpid(id, nil, 0)
        return nil
      }
      said += String(decoding: bytes[..<count], as: UTF8.self)
    }
    return id
  }
}

/// A connection of the test's own to a Redis server, which blocks the caller for each command.
final class RawRedis: Sendable {
  private let descriptor: Int32
  private let parser = Locked(RESPParser())

  init(_ redis: RedisProcess) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = RedisProcess.loopback(port: redis.port)
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
    return try parser.withLock { parser in
      try send(command)
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

  /// Makes all sessions look as if they had not been used for so much longer. Their keys do not expire earlier for it.
  func age(by duration: Duration) throws {
    try self(
      "EVAL", "for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('HINCRBY', key, 'a', -ARGV[1]) end", "0",
      "\(Int(duration / .milliseconds(1)))")
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests that start a server of their own. `make test` installs it.
  static var needsRedis: Self {
    .enabled(if: RedisProcess.executable != nil, "redis-server is not installed, so nothing is said of the Redis store")
  }
}
