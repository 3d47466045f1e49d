import BeansEventLoop
import BeansRedis
import BeansSessions
import BeansTesting
import TestSupport
import Testing

/// The stores that keep the promises of sessions.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
  case memory, redis

  var testDescription: String { self == .memory ? "in memory" : "in Redis" }

  /// The stores that can be had on this machine.
  static var available: [StoreKind] { allCases.filter { $0 == .memory || RedisProcess.executable != nil } }
}

/// A store, and a hand on the clock that it goes by.
struct StoreInTest {
  var store: any SessionStore
  /// Lets so much time pass.
  let pass: (Duration) throws -> Void
  /// A connection to the server of a Redis store.
  let raw: RawRedis?
}

/// Limits so wide that the time a test itself takes means nothing.
let hour = Duration.seconds(3_600)
let wideLimits = SessionLimits(idleLimit: hour * 10, touchInterval: hour, maximumBytes: 1_000)

/// Runs `body` with an empty store of that kind.
func withStore<R>(
  _ kind: StoreKind, limits: SessionLimits = wideLimits, _ body: (StoreInTest) async throws -> R
) async throws -> R {
  switch kind {
  case .memory:
    let clock = ManualClock()
    let store = MemorySessionStore(limits: limits, clock: clock)
    return try await body(StoreInTest(store: store, pass: { clock.advance(by: $0) }, raw: nil))
  case .redis:
    return try await withRedis(limits: limits) { redis in
      try await body(StoreInTest(store: redis.store, pass: { try redis.raw.age(by: $0) }, raw: redis.raw))
    }
  }
}

/// A store and the server that it uses.
struct RedisInTest {
  let process: RedisProcess
  let raw: RawRedis
  let store: RedisSessionStore
  let loop: EventLoop
}

/// Runs `body` with a server of its own and a store on a loop of its own. The end proves that no handle is left.
func withRedis<R>(
  limits: SessionLimits = wideLimits, options: RedisOptions = .patient, port: Int? = nil,
  _ body: (RedisInTest) async throws -> R
) async throws -> R {
  let process = try RedisProcess()
  defer { process.end() }
  let raw = try RawRedis(process)
  return try await EventLoop.withThread { loop in
    let store = RedisSessionStore(
      host: "127.0.0.1", port: port ?? process.port, loops: [loop], limits: limits, options: options)
    defer { store.close() }
    return try await body(RedisInTest(process: process, raw: raw, store: store, loop: loop))
  }
}

extension RedisOptions {
  /// Options for tests in which a server answers, also on a busy machine.
  static var patient: RedisOptions {
    var options = RedisOptions()
    options.connectTimeout = .seconds(60)
    options.commandTimeout = .seconds(120)
    return options
  }

  /// Options for tests without a server.
  static var impatient: RedisOptions {
    var options = RedisOptions()
    options.connectTimeout = .milliseconds(100)
    options.commandTimeout = .milliseconds(200)
    return options
  }
}

/// The bytes of a text.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension SessionStore {
  /// The values of a session as texts; nil where there is no session.
  func texts(_ id: String) async throws -> [String: String]? {
    guard case .found(let record) = try await load(id, unlessVersion: nil) else { return nil }
    return record.values.mapValues { String(decoding: $0.bytes, as: UTF8.self) }
  }
}

/// The error that a call of a store throws; nil where it throws none.
func failure<R>(of body: () async throws(SessionError) -> R) async -> SessionError? {
  do throws(SessionError) {
    _ = try await body()
    return nil
  } catch { return error }
}
