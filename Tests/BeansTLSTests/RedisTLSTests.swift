import Beans
import BeansEventLoop
import BeansRedis
import BeansSessions
import Glibc
import TestSupport
import Testing

@testable import BeansTLS

/// Sessions in a Redis server that accepts only TLS.
@Suite(
  .enabled(if: RedisProcess.executable != nil, "redis-server is not installed, so nothing is said of TLS with Redis"),
  .timeLimit(.minutes(10)))
struct RedisTLSTests {
  @Test(arguments: ["TLSv1.2", "TLSv1.3"])
  func sessionsAreKept(version: String) async throws {
    let redis = try SecuredRedis(versions: version)
    defer { redis.process.end() }
    let value = [UInt8](repeating: 7, count: 300_000)
    try await redis.withStore(host: "localhost", redis.options()) { store in
      _ = try await store.create("one", ["a": value])
      guard case .found(let record) = try await store.load("one", unlessVersion: nil) else {
        Issue.record("no session")
        return
      }
      #expect(record.values["a"]?.bytes == value)
    }
  }

  @Test func aURLUsesTLS() async throws {
    let redis = try SecuredRedis()
    defer { redis.process.end() }
    var tls = TLSOptions()
    tls.roots = .bytes(redis.authority.pem)
    let options = try RedisOptions(url: "rediss://localhost:\(redis.process.port)/3", tls: tls)
    try await EventLoop.withThread { loop in
      let store = RedisSessionStore(loops: [loop], options: options)
      defer { store.close() }
      _ = try await store.create("one", [:])
    }
    #expect(try redis.command("INFO keyspace").contains("db3:keys=1"))
  }

  @Test func aServerMayRequireACertificate() async throws {
    let redis = try SecuredRedis(needsClients: true)
    defer { redis.process.end() }
    let own = redis.authority.issue("DNS:client")
    let options = try redis.options {
      $0.certificate = .bytes(own.certificate)
      $0.key = .bytes(own.key)
    }
    try await redis.withStore(options) { _ = try await $0.create("one", [:]) }
    // The first attempt fails for this reason.
    var other = try redis.options()
    (other.firstPause, other.longestPause) = (.seconds(600), .seconds(600))
    let text = try await redis.withStore(other) { store in
      await unavailability { () async throws(SessionError) in try await store.create("two", [:]) }
    }
    #expect(text?.contains("127.0.0.1:\(redis.process.port)") == true, "\(text ?? "")")
    #expect(text?.contains("requires a certificate: set TLSOptions.certificate and key") == true, "\(text ?? "")")
  }

  /// The fault names the server, the reason and the remedy; each further call fails at once for the same reason.
  @Test func anExpiredCertificateIsRefused() async throws {
    let redis = try SecuredRedis(until: -7_300)
    defer { redis.process.end() }
    try await redis.withStore(redis.options()) { store in
      for _ in 0..<3 {
        let text = await unavailability { () async throws(SessionError) in try await store.create("one", [:]) }
        #expect(text?.contains("connect to 127.0.0.1:\(redis.process.port)") == true, "\(text ?? "")")
        #expect(text?.contains("the server's certificate expired 2 h ago: renew it there") == true, "\(text ?? "")")
      }
    }
    #expect(try redis.command("DBSIZE") == ":0\r\n")
  }

  @Test func aWrongNameIsRefused() async throws {
    let redis = try SecuredRedis("DNS:sessions.example.org")
    defer { redis.process.end() }
    let text = try await redis.withStore(host: "localhost", redis.options()) { store in
      await unavailability { () async throws(SessionError) in try await store.create("one", [:]) }
    }
    #expect(text?.contains("is for sessions.example.org, not for localhost") == true, "\(text ?? "")")
    let options = try redis.options { $0.serverName = "sessions.example.org" }
    try await redis.withStore(host: "localhost", options) { _ = try await $0.create("one", [:]) }
  }

  /// Redis waits for the end of a command, or replies that it does not know it.
  @Test func aServerWithoutTLSIsNamed() async throws {
    let process = try RedisProcess()
    defer { process.end() }
    let text = try await unavailable(port: process.port)
    #expect(text.contains("TLS on this port"), "\(text)")
  }

  /// The limit of a connection ends the handshake, and the thread is not busy meanwhile.
  @Test func aServerThatStallsIsGivenUp() async throws {
    try await EventLoop.withThread { server in
      let listener = try await server.value { try TCPListener(on: server) { ServerBehaviour.stall.serve($0) } }
      let text = try await unavailable(port: listener.port)
      #expect(text.contains("it may not use TLS on this port: it has not completed the handshake"), "\(text)")
      try await server.value { listener.close() }
    }
  }

  /// Calls the store, which is patient with calls and impatient with connections, on a loop of its own.
  private func unavailable(port: Int) async throws -> String {
    var options = RedisOptions()
    (options.connectTimeout, options.commandTimeout) = (.milliseconds(100), .milliseconds(1_500))
    try options.useTLS()
    return try await EventLoop.withThread { loop in
      let store = RedisSessionStore(host: "127.0.0.1", port: port, loops: [loop], options: options)
      defer { store.close() }
      let before = try await loop.value { processorTime() }
      let text = await unavailability { () async throws(SessionError) in try await store.create("one", [:]) }
      // A small part of the time.
      #expect(try await loop.value { processorTime() } - before < .milliseconds(100))
      return text ?? ""
    }
  }

  /// A server that crashes ends its connections without the end of TLS. A call that it has not executed is sent again.
  @Test func aCallOutlastsACrash() async throws {
    let redis = try SecuredRedis()
    defer { redis.process.end() }
    try await redis.withStore(redis.options()) { store in
      _ = try await store.create("one", [:])
      _ = try redis.command("CLIENT PAUSE 600000 WRITE")
      async let version = store.create("two", [:])
      while try !redis.command("INFO clients").contains("blocked_clients:1") { await Task.yield() }
      redis.process.kill()
      try redis.process.restart()
      #expect(try await version == 1)
    }
    #expect(try redis.command("DBSIZE") == ":1\r\n")
  }

  @Test func theFaultOfOptionsHasThePlaceOfTheCall() throws {
    var options = RedisOptions()
    var tls = TLSOptions()
    tls.roots = .file("/nowhere/ca.pem")
    let line = #line + 1
    let error = #expect(throws: EnvironmentError.self) { try options.useTLS(tls) }
    #expect(error?.code == .invalidDeclaration)
    #expect(error?.message == "TLS cannot be used: /nowhere/ca.pem cannot be read: No such file or directory")
    #expect(error?.origin?.line == line)
    let other = #expect(throws: EnvironmentError.self) { _ = try RedisOptions(url: "rediss://localhost", tls: tls) }
    #expect(other?.message == error?.message)
  }
}

/// The time for which the calling thread has run.
private func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

extension EventLoop {
  /// Returns the result of a closure on the loop's thread.
  fileprivate func value<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      execute { continuation.resume(with: Result { try body() }) }
    }
  }
}
