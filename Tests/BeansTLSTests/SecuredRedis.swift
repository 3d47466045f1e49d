import BeansEventLoop
import BeansRedis
import BeansSessions
import BeansTLS
import Glibc
import TestSupport
import Testing

/// A Redis server that accepts only TLS on its port, and plain commands at a Unix socket.
final class SecuredRedis {
  let authority: Authority
  let process: RedisProcess
  private let folder: TemporaryDirectory

  /// - Parameters:
  ///   - names: the names in the server's certificate.
  ///   - until: the end of the validity of the server's certificate, in seconds from now.
  ///   - needsClients: whether clients need a certificate.
  ///   - versions: the versions of TLS.
  init(
    _ names: String = "DNS:localhost,IP:127.0.0.1", until: Int = 3_600, needsClients: Bool = false,
    versions: String = "TLSv1.2 TLSv1.3"
  ) throws {
    authority = Authority()
    folder = try TemporaryDirectory()
    let identity = authority.issue(names, from: -86_400, until: until)
    process = try RedisProcess(
      portOption: "--tls-port", "--port", "0", "--tls-cert-file", folder.write("server.pem", identity.certificate),
      "--tls-key-file", folder.write("server.key", identity.key), "--tls-ca-cert-file",
      folder.write("ca.pem", authority.pem), "--tls-auth-clients", needsClients ? "yes" : "no", "--tls-protocols",
      versions, "--unixsocket", folder.path("plain.sock"))
  }

  /// The options that trust the server, and wait for it on a busy machine.
  func options(_ change: (inout TLSOptions) -> Void = { _ in }) throws -> RedisOptions {
    var tls = TLSOptions()
    tls.roots = .file(folder.path("ca.pem"))
    change(&tls)
    var options = RedisOptions()
    options.connectTimeout = .seconds(60)
    options.commandTimeout = .seconds(120)
    try options.useTLS(tls)
    return options
  }

  /// Calls `body` with a store on a loop of its own.
  func withStore<R>(
    host: String = "127.0.0.1", _ options: RedisOptions, _ body: (RedisSessionStore) async throws -> R
  ) async throws -> R {
    try await EventLoop.withThread { loop in
      let store = RedisSessionStore(host: host, port: process.port, loops: [loop], options: options)
      defer { store.close() }
      return try await body(store)
    }
  }

  /// Runs a command at the Unix socket, and returns the begin of the reply.
  func command(_ words: String) throws -> String {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: folder.path("plain.sock").utf8) }
    let status = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(status == 0)
    let text = Array("\(words)\r\n".utf8)
    try #require(send(descriptor, text, text.count, Int32(MSG_NOSIGNAL)) == text.count)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    return String(decoding: bytes[..<max(recv(descriptor, &bytes, bytes.count, 0), 0)], as: UTF8.self)
  }
}

/// Returns the text for which a call fails as unavailable.
func unavailability<R>(of body: () async throws(SessionError) -> R) async -> String? {
  do throws(SessionError) {
    _ = try await body()
  } catch {
    if case .unavailable(let text) = error { return text }
    Issue.record(error)
  }
  return nil
}
