@_spi(BeansPackage) import BeansErrors
import BeansEventLoop
import Dispatch
import TestSupport
import Testing

@testable import BeansRedis
import BeansSessions

/// A primary that changes while sessions are written. `SOAK_FAILOVERS` repeats each change.
@Suite("A Redis store whose primary changes", .needsRedis, .serialized, .timeLimit(.minutes(20)))
struct RedisFailoverTests {
  private static let rounds = setting("SOAK_FAILOVERS") ?? 1
  private static let limit = Duration.seconds(5)
  /// The delay of a call by a loaded machine. Beside this test, other ones keep the threads of tasks, except in `make soak`.
  private static let delay: Duration = rounds > 1 ? .seconds(1) : .seconds(30)

  @Test(
    "Nothing that is acknowledged is lost or made twice when a replica takes over by REPLICAOF", arguments: 0..<rounds)
  func replicaOf(round: Int) async throws {
    let servers = try (0..<2).map { _ in try RedisProcess("--repl-diskless-sync-delay", "0") }
    defer { for server in servers { server.end() } }
    let raws = try servers.map { try RawRedis($0) }
    try await Self.follow(raws[1], servers[0], confirmedBy: raws[0])
    let current = Locked(servers[0].port)
    var options = Self.options(.server(host: "redis"))
    options.resolve = { _ in [SocketAddress(host: "127.0.0.1", port: current.withLock { $0 })] }
    try await Self.write(options) { writers in
      try await writers.acknowledge(100)
      try raws[1]("REPLICAOF", "NO", "ONE")
      try raws[0]("REPLICAOF", "127.0.0.1", "\(servers[1].port)")
      current.withLock { $0 = servers[1].port }
      try await writers.acknowledge(100)
      #expect(try raws[0]("ROLE") != raws[1]("ROLE"))
    }
  }

  @Test("A store follows the primary that a Sentinel puts in place of another one", arguments: 0..<rounds)
  func switched(round: Int) async throws {
    let servers = try (0..<2).map { _ in try RedisProcess("--repl-diskless-sync-delay", "0") }
    defer { for server in servers { server.end() } }
    let raws = try servers.map { try RawRedis($0) }
    try await Self.follow(raws[1], servers[0], confirmedBy: raws[0])
    let sentinel = try SentinelProcess(of: servers[0], quorum: 1)
    defer { sentinel.end() }
    let raw = try RawRedis(port: sentinel.port)
    try await Self.wait { try Self.count(raw("SENTINEL", "REPLICAS", "main")) == 1 }
    try await Self.write(Self.options(.sentinels(["127.0.0.1:\(sentinel.port)"], primary: "main"))) { writers in
      try await writers.acknowledge(100)
      // The Sentinel refuses as long as it does not know enough of the replica.
      try await Self.wait { (try? raw("SENTINEL", "FAILOVER", "main")) != nil }
      try await Self.wait {
        guard case .array(let address) = try raw("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main") else { return false }
        return address.last?.text == "\(servers[1].port)"
      }
      try await writers.acknowledge(100)
    }
  }

  @Test(
    "Nothing that is acknowledged is lost or made twice when three Sentinels replace a killed primary, within 2 s",
    arguments: 0..<rounds)
  func killed(round: Int) async throws {
    let servers = try (0..<3).map { _ in try RedisProcess("--repl-diskless-sync-delay", "0") }
    defer { for server in servers { server.end() } }
    let raws = try servers.map { try RawRedis($0) }
    for raw in raws[1...] { try await Self.follow(raw, servers[0], confirmedBy: raws[0]) }
    let sentinels = try (0..<3).map { _ in try SentinelProcess(of: servers[0], quorum: 2) }
    defer { for sentinel in sentinels { sentinel.end() } }
    for sentinel in sentinels {
      let raw = try RawRedis(port: sentinel.port)
      try await Self.wait {
        try Self.count(raw("SENTINEL", "SENTINELS", "main")) == 2
          && Self.count(raw("SENTINEL", "REPLICAS", "main")) == 2
      }
    }
    let addresses = sentinels.map { "127.0.0.1:\($0.port)" }
    try await Self.write(Self.options(.sentinels(addresses, primary: "main"))) { writers in
      try await writers.acknowledge(100)
      let decision = try Self.decision(of: sentinels)
      servers[0].kill()
      for await _ in decision { break }
      let begin = ContinuousClock.now
      try await writers.acknowledge(1)
      #expect(ContinuousClock.now - begin < .seconds(2))
      try await writers.acknowledge(100)
    }
  }

  @Test("A store asks the next Sentinel when one refuses, and a fault names each one")
  func sentinels() async throws {
    let (primary, gone) = (try RedisProcess(), try RedisProcess())
    defer { primary.end() }
    gone.end()
    let sentinel = try SentinelProcess(of: primary, quorum: 1)
    defer { sentinel.end() }
    let addresses = ["127.0.0.1:\(gone.port)", "localhost:\(sentinel.port)"]
    var options = RedisOptions.patient
    options.servers = .sentinels(addresses, primary: "main")
    try await withServer(options) { store async throws in #expect(try await store.create("one", [:]) == 1) }
    options.servers = .sentinels(addresses, primary: "other")
    try await withServer(options) { store in
      let error = await failure { () async throws(SessionError) in try await store.create("two", [:]) }
      let text = error.map { "\($0)" } ?? ""
      #expect(error?.isUnavailable == true)
      #expect(text.contains("127.0.0.1:\(gone.port)") && text.contains("knows no primary other"), "\(text)")
    }
    options.servers = .sentinels([], primary: "main")
    try await withServer(options) { store in
      let error = await failure { () async throws(SessionError) in try await store.create("two", [:]) }
      #expect("\(String(describing: error))".contains("no Sentinel"), "\(String(describing: error))")
    }
  }

  @Test("A store does not use a server that a Sentinel names and that is no primary")
  func otherRole() async throws {
    try await withRedis { redis in
      try redis.raw("REPLICAOF", "127.0.0.1", "1")
      let port = "\(redis.process.port)"
      let sentinel = RedisProxy(
        on: redis.loop, answering: bytes("*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n"))
      var options = RedisOptions.patient
      options.commandTimeout = .seconds(2)
      options.servers = .sentinels(["127.0.0.1:\(try await sentinel.start())"], primary: "main")
      let store = RedisSessionStore(loops: [redis.loop], limits: wideLimits, options: options)
      func create() async -> SessionError? {
        await failure { () async throws(SessionError) in try await store.create("one", [:]) }
      }
      let text = "\(String(describing: await create()))"
      #expect(text.contains("not a primary"), "\(text)")
      try redis.raw("REPLICAOF", "NO", "ONE")
      while let error = await create() { #expect(error.isUnavailable) }
      store.close()
      try await sentinel.stop()
    }
  }

  @Test("A store leaves a server for another primary while a call waits for replicas there")
  func waiting() async throws {
    try await withRedis { redis in
      let port = "\(redis.process.port)"
      let sentinel = RedisProxy(
        on: redis.loop, answering: bytes("*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n"))
      var options = RedisOptions.patient
      options.servers = .sentinels(["127.0.0.1:\(try await sentinel.start())"], primary: "main")
      options.minimumReplicas = 1
      let store = RedisSessionStore(loops: [redis.loop], limits: wideLimits, options: options)
      let begin = ContinuousClock.now
      async let create = failure { () async throws(SessionError) in try await store.create("one", [:]) }
      try await Self.wait { try redis.raw("INFO", "clients").text?.contains("blocked_clients:1") == true }
      let message = "main 127.0.0.1 \(port) 127.0.0.1 1"
      sentinel.send(
        bytes("*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$\(message.utf8.count)\r\n\(message)\r\n"))
      #expect(await create?.isUnknown == true)
      // The server waits for a minute and a half.
      #expect(ContinuousClock.now - begin < .seconds(60))
      store.close()
      try await sentinel.stop()
    }
  }

  // MARK: helpers

  private static func options(_ servers: RedisServers) -> RedisOptions {
    var options = RedisOptions()
    options.servers = servers
    options.commandTimeout = limit
    options.minimumReplicas = 1
    return options
  }

  /// Makes a server the replica of another one, and returns when it has its data.
  private static func follow(_ raw: RawRedis, _ primary: RedisProcess, confirmedBy main: RawRedis) async throws {
    let before = try count(ofReplicas: main)
    try raw("REPLICAOF", "127.0.0.1", "\(primary.port)")
    try await wait { try count(ofReplicas: main) > before }
  }

  /// The number of replicas that have all data of a primary.
  private static func count(ofReplicas main: RawRedis) throws -> Int {
    let text = try main("INFO", "replication").text ?? ""
    return text.split(whereSeparator: \.isNewline).count { $0.hasPrefix("slave") && $0.contains("state=online") }
  }

  private static func count(_ reply: RESPValue) -> Int {
    if case .array(let elements) = reply { elements.count } else { 0 }
  }

  /// Asks again and again, at intervals that leave the processor to the servers.
  static func wait(until condition: () throws -> Bool) async throws {
    while try !condition() { try await Task.sleep(for: .milliseconds(5)) }
  }

  /// Returns a stream that ends its wait when the first Sentinel announces another primary.
  private static func decision(of sentinels: [SentinelProcess]) throws -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    for sentinel in sentinels {
      let raw = try RawRedis(port: sentinel.port)
      try raw("SUBSCRIBE", "+switch-master")
      // On a thread that may block.
      DispatchQueue.global().async {
        _ = try? raw.next()
        continuation.yield()
      }
    }
    return stream
  }

  /// Runs `body` while sessions are written, and checks that exactly what is acknowledged has been written.
  private static func write(_ options: RedisOptions, _ body: (Writers) async throws -> Void) async throws {
    try await EventLoop.withThread { loop in
      let store = RedisSessionStore(loops: [loop], limits: wideLimits, options: options)
      defer { store.close() }
      let writers = Writers(store)
      let result: Result<Void, any Error>
      let writing = Task { try await writers.run() }
      do { result = .success(try await body(writers)) } catch { result = .failure(error) }
      writers.stop()
      try await writing.value
      try result.get()
      for (index, count) in writers.counts.enumerated() {
        let lookup = try await store.load(Writers.id(index), unlessVersion: nil)
        guard case .found(let record) = lookup else {
          Issue.record("the session of writer \(index) is lost")
          continue
        }
        let made = Int(record.version) - 1
        #expect((count.acknowledged...count.acknowledged + count.unknown).contains(made), "\(made) of \(count)")
        #expect(count.longest < limit + delay, "\(count)")
      }
    }
  }
}

/// Writers that change a session each, over and over, and count what the store acknowledges.
final class Writers: Sendable {
  struct Count: Sendable {
    var acknowledged = 0
    var unknown = 0
    var longest = Duration.zero
  }

  private let store: RedisSessionStore
  private let state = Locked((counts: [Count](repeating: Count(), count: 4), isStopped: false))

  init(_ store: RedisSessionStore) { self.store = store }

  static func id(_ index: Int) -> String { "writer-\(index)" }

  var counts: [Count] { state.withLock { $0.counts } }

  private var acknowledged: Int { counts.reduce(0) { $0 + $1.acknowledged } }

  func stop() { state.withLock { $0.isStopped = true } }

  /// Returns when so many further changes have been acknowledged.
  func acknowledge(_ count: Int) async throws {
    let goal = acknowledged + count
    try await RedisFailoverTests.wait { acknowledged >= goal }
  }

  func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in counts.indices { group.addTask { try await self.write(index) } }
      try await group.waitForAll()
    }
  }

  private func write(_ index: Int) async throws {
    var version = try await store.create(Self.id(index), [:])
    while !state.withLock({ $0.isStopped }) {
      let begin = ContinuousClock.now
      var count = Count()
      do throws(SessionError) {
        version = try await store.save(
          Self.id(index), SessionChange(version: version, values: ["a": bytes("\(version)")]))
        count.acknowledged = 1
      } catch {
        #expect(error.isUnavailable || error.isUnknown, "\(error)")
        if error.isUnknown { count.unknown = 1 }
      }
      count.longest = ContinuousClock.now - begin
      let result = count
      state.withLock { state in
        state.counts[index].acknowledged += result.acknowledged
        state.counts[index].unknown += result.unknown
        state.counts[index].longest = max(state.counts[index].longest, result.longest)
      }
      // A server that is away refuses at once.
      if result.acknowledged == 0 { try await Task.sleep(for: .milliseconds(5)) }
    }
  }
}
