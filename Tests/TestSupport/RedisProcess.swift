@_spi(BeansPackage) import BeansErrors
import Foundation
package import Glibc

/// A Redis server for one test, in a temporary folder and on a free port, without files on disk unless its arguments
/// say so.
package final class RedisProcess: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  /// The path of the program; nil if it is not installed.
  package static let executable = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/redis-server" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  package let port: Int
  private let portOption: String
  private let arguments: [String]
  private let folder: String
  private let process = Locked<pid_t?>(nil)

  /// Starts a server, and returns when it accepts connections.
  ///
  /// - Parameters:
  ///   - portOption: the option for the port.
  ///   - arguments: further options.
  package init(portOption: String = "--port", _ arguments: String...) throws {
    self.portOption = portOption
    self.arguments = arguments
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("redis-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // Another process may take a free port before the server does.
    for _ in 0..<10 {
      let port = try Self.findFreePort()
      if let id = try Self.start([portOption, "\(port)"], folder: folder, arguments) {
        self.port = port
        process.withLock { $0 = id }
        return
      }
    }
    throw Failure(description: "redis-server does not start")
  }

  deinit { end() }

  /// Ends the server at once, as a failing machine does.
  package func kill() {
    guard let id = process.withLock({ $0.take() }) else { return }
    _ = Glibc.kill(id, SIGKILL)
    _ = waitpid(id, nil, 0)
  }

  /// Starts a server anew on the port of the killed one, with the data that the killed one has kept on disk.
  package func restart() throws {
    let id = try Self.start([portOption, "\(port)"], folder: folder, arguments)
    process.withLock { $0 = id }
    if id == nil { throw Failure(description: "redis-server does not start again") }
  }

  /// Suspends the server: it neither reads nor replies, and the system still accepts connections for it.
  package func suspend() {
    guard let id = process.withLock({ $0 }) else { return }
    _ = Glibc.kill(id, SIGSTOP)
    // The call returns when the process has stopped, not when it has got the signal.
    _ = waitpid(id, nil, WUNTRACED)
  }

  /// Ends the effect of `suspend()`.
  package func resume() {
    if let id = process.withLock({ $0 }) { _ = Glibc.kill(id, SIGCONT) }
  }

  package func end() {
    kill()
    try? FileManager.default.removeItem(atPath: folder)
  }

  static func findFreePort() throws -> Int {
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

  package static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  /// Returns the process when it has reported that it is ready; nil if it has ended instead.
  private static func start(_ port: [String], folder: String, _ more: [String]) throws -> pid_t? {
    let words =
      port + ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder] + more
    return try spawn(words, until: "Ready to accept connections")
  }

  /// Runs the program. Returns the process when it has printed a text; nil if it has ended instead.
  static func spawn(_ words: [String], until ready: String) throws -> pid_t? {
    guard let executable else { throw Failure(description: "redis-server is not installed") }
    var pipe: [Int32] = [0, 0]
    // A process that another test starts at this moment must not keep the other end open.
    guard Glibc.pipe(&pipe) == 0 else { throw Failure(description: "no pipe") }
    for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(pipe[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 2)
    var arguments: [UnsafeMutablePointer<CChar>?] = ([executable] + words).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var id = pid_t()
    let status = posix_spawn(&id, executable, &actions, nil, &arguments, environ)
    close(pipe[1])
    guard status == 0 else { throw Failure(description: "redis-server cannot be run") }
    var said = ""
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while !said.contains(ready) {
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
