@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import Glibc
import TestSupport
import Testing

@testable import BeansRedis
import BeansSessions

/// Addresses of servers, and servers that do not accept writes, or not any more.
@Suite("The servers of a Redis store", .needsRedis, .timeLimit(.minutes(20)))
struct RedisServersTests {
  private static let change = SessionChange(version: 1, values: ["a": bytes("a2")])

  @Test("A store uses a name that the system knows")
  func name() async throws {
    let process = try RedisProcess()
    defer { process.end() }
    var options = RedisOptions.patient
    options.servers = .server(host: "localhost", port: process.port)
    try await withServer(options) { store async throws in #expect(try await store.create("one", [:]) == 1) }
  }

  @Test("A store uses the second address of a name when the first one refuses")
  func twoAddresses() async throws {
    let (process, gone) = (try RedisProcess(), try RedisProcess())
    defer { process.end() }
    gone.end()
    var options = RedisOptions.patient
    options.servers = .server(host: "redis")
    let addresses = [gone, process].map { SocketAddress(host: "127.0.0.1", port: $0.port) }
    options.resolve = { _ in addresses }
    try await withServer(options) { store async throws in #expect(try await store.create("one", [:]) == 1) }
  }

  @Test("A store resolves the name of its server for each connection")
  func changedName() async throws {
    let (first, second) = (try RedisProcess(), try RedisProcess())
    defer { second.end() }
    let current = Locked(first.port)
    var options = RedisOptions.patient
    options.servers = .server(host: "redis")
    options.resolve = { _ in [SocketAddress(host: "127.0.0.1", port: current.withLock { $0 })] }
    let raw = try RawRedis(second)
    try await withServer(options) { store async throws in
      #expect(try await store.create("one", [:]) == 1)
      current.withLock { $0 = second.port }
      first.end()
      #expect(try await store.create("two", [:]) == 1)
      #expect(try raw.keys() == ["session:two"])
    }
  }

  @Test("A store uses a Unix socket")
  func unixSocket() async throws {
    let path = "/tmp/beans-redis-\(getpid())-\(UInt32.random(in: 0 ... .max)).sock"
    let process = try RedisProcess("--unixsocket", path)
    defer { process.end() }
    defer { unlink(path) }
    try await withServer(RedisOptions(url: "unix://\(path)")) { store async throws in
      #expect(try await store.create("one", ["a": bytes("a1")]) == 1)
      #expect(try await store.texts("one") == ["a": "a1"])
    }
    try await EventLoop.withThread { loop async throws in
      let store = RedisSessionStore(host: "unix:\(path)", loops: [loop], options: .patient)
      defer { store.close() }
      #expect(try await store.texts("one") == ["a": "a1"])
    }
  }

  @Test("A fault names the host and the reason of the resolver")
  func unknownHost() async throws {
    var options = RedisOptions.patient
    options.servers = .server(host: "not an address")
    try await withServer(options) { store async throws in
      let error = await failure { () async throws(SessionError) in try await store.load("one", unlessVersion: nil) }
      let text = error.map { "\($0)" } ?? ""
      #expect(error?.isUnavailable == true)
      #expect(text.contains("not an address:6379") && text.contains("EAI_"), "\(text)")
    }
  }

  @Test("A store refuses a node of a cluster at once")
  func cluster() async throws {
    let process = try RedisProcess("--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf")
    defer { process.end() }
    var options = RedisOptions.patient
    options.servers = .server(host: "127.0.0.1", port: process.port)
    try await withServer(options) { store async throws in
      let error = await failure { () async throws(SessionError) in try await store.create("one", [:]) }
      #expect(error?.isUnavailable == true)
      #expect("\(String(describing: error))".contains("cluster_enabled:1"), "\(String(describing: error))")
    }
  }

  @Test("A store uses a server whose user may ask neither for its role nor for a cluster")
  func restrictedUser() async throws {
    let process = try RedisProcess()
    defer { process.end() }
    let raw = try RawRedis(process)
    try raw("ACL", "SETUSER", "limited", "on", ">secret", "~*", "+@all", "-role", "-info")
    var options = try RedisOptions(url: "redis://limited:secret@127.0.0.1:\(process.port)")
    options.commandTimeout = .seconds(120)
    options.connectTimeout = .seconds(60)
    try await withServer(options) { store async throws in #expect(try await store.create("one", [:]) == 1) }
  }

  @Test("A store does not use a replica")
  func replica() async throws {
    var options = RedisOptions.patient
    options.commandTimeout = .seconds(2)
    try await withRedis(options: options) { redis in
      try redis.raw("REPLICAOF", "127.0.0.1", "1")
      let error = await failure { () async throws(SessionError) in try await redis.store.create("one", [:]) }
      #expect("\(String(describing: error))".contains("not a primary"), "\(String(describing: error))")
    }
  }

  @Test("Calls outlast a time in which their server is a replica", arguments: ["yes", "no"])
  func demoted(servesStaleData: String) async throws {
    try await withRedis { redis in
      _ = try await redis.store.create("one", ["a": bytes("a1")])
      try redis.raw("CONFIG", "SET", "replica-serve-stale-data", servesStaleData)
      try redis.raw("REPLICAOF", "127.0.0.1", "1")
      let before = try Self.connections(redis.raw)
      async let save = redis.store.save("one", Self.change)
      async let create = redis.store.create("two", [:])
      // The store has left the server, and has tried again.
      while try Self.connections(redis.raw) < before + 2 { await Task.yield() }
      try redis.raw("REPLICAOF", "NO", "ONE")
      #expect(try await save == 2)
      #expect(try await create == 1)
      #expect(try await redis.store.texts("one") == ["a": "a2"])
    }
  }

  /// The number of connections that a server has accepted.
  private static func connections(_ raw: RawRedis) throws -> Int {
    let text = try raw("INFO", "stats").text ?? ""
    let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("total_connections_received:") }
    return try #require(line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) })
  }

  @Test("A change that a server has not taken because of its role is not written, once its time is over")
  func demotedForGood() async throws {
    var options = RedisOptions.patient
    options.commandTimeout = .seconds(1)
    try await withRedis(options: options) { redis in
      _ = try await redis.store.create("one", ["a": bytes("a1")])
      try redis.raw("REPLICAOF", "127.0.0.1", "1")
      let error = await failure { () async throws(SessionError) in try await redis.store.save("one", Self.change) }
      #expect(error?.isUnavailable == true, "\(String(describing: error))")
    }
  }

  @Test(
    "A call is sent to the next connection when a server refuses it because of its role",
    arguments: [
      "READONLY You can't write against a read only replica.", "LOADING Redis is loading the dataset in memory",
      "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
      "ERR Error running script (call to f_0): @user_script:15: -READONLY You can't write against a read only replica.",
    ])
  func refusedByRole(text: String) async throws {
    try await withProxy { proxy, store, _, _ in
      _ = try await store.create("one", ["a": bytes("a1")])
      let before = proxy.calls
      proxy.replaceNextReply("-\(text)\r\n")
      #expect(try await store.save("one", Self.change) == 2)
      #expect(proxy.calls == before + 2)
    }
  }

  @Test("A change that too few replicas confirm has an unknown outcome, and one that enough confirm succeeds")
  func replicas() async throws {
    let (primary, replica) = (try RedisProcess("--repl-diskless-sync-delay", "0"), try RedisProcess())
    defer {
      primary.end()
      replica.end()
    }
    var options = RedisOptions.patient
    options.servers = .server(host: "127.0.0.1", port: primary.port)
    options.minimumReplicas = 1
    options.commandTimeout = .seconds(2)
    try await withServer(options) { store async throws in
      let error = await failure { () async throws(SessionError) in try await store.create("one", [:]) }
      #expect(error?.isUnknown == true, "\(String(describing: error))")
      #expect("\(String(describing: error))".contains("0 of 1 replicas"), "\(String(describing: error))")
      // A call that writes nothing needs no replica.
      #expect(await failure { () async throws(SessionError) in try await store.save("two", Self.change) } == .ended)
      try RawRedis(replica)("REPLICAOF", "127.0.0.1", "\(primary.port)")
      let raw = try RawRedis(primary)
      while try raw("WAIT", "1", "10000") != .integer(1) {}
      #expect(try await store.create("three", ["a": bytes("a1")]) == 1)
      #expect(try await store.save("three", Self.change) == 2)
      #expect(try RawRedis(replica)("HGET", "session:three", "v").text == "2")
      try await store.rotate("three", to: "four")
      try await store.end("four")
    }
  }
}

/// Runs `body` with a store on a loop of its own.
func withServer<R>(
  _ options: RedisOptions, _ body: (RedisSessionStore) async throws -> R
) async throws -> R {
  try await EventLoop.withThread { loop in
    let store = RedisSessionStore(loops: [loop], limits: wideLimits, options: options)
    defer { store.close() }
    return try await body(store)
  }
}
