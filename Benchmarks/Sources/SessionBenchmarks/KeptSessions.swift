import Beans
import BeansEventLoop
import BeansRedis
import BeansSessions
import BeansTLS
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// The cost of a request whose session is kept in memory, in Redis, and in Redis by hand: `GET` and `SET` of the whole
/// session over one connection that blocks.
///
/// An operation reads the session, changes it and saves it. The processor time is that of this process, all threads
/// together; that of the server is measured by itself.
struct KeptSessions {
  /// The port of a Redis server on this machine. All of its keys are removed.
  let port: Int
  /// The port of the same server for TLS, and the file of its authorities.
  let tlsPort: Int
  let roots: String
  let operations: Int
  /// The number of sessions kept at the end, to count their bytes.
  let sessions: Int

  private static let sizes = [1_000, 10_000, 100_000]

  /// Prints the measurements.
  func run() throws {
    let server = try BlockingRedis(port: port)
    print(
      title("") + "requests/s    processor µs    server µs    bytes in Redis")
    for size in Self.sizes {
      let count = max(200, operations / (size / 1_000))
      try measure("by hand", size, count, server, ByHand(server, size: size))
      try measure("by hand, TLS", size, count, server, ByHand(BlockingRedis(port: tlsPort, roots: roots), size: size))
      for concurrency in [1, 32] {
        let memory = try Managed(size: size) { _ in SessionLimits().memoryStore() }
        try measure("in memory", size, count, server, memory, concurrency: concurrency)
        let redis = try Managed(size: size) { loop in
          RedisSessionStore(host: "127.0.0.1", port: port, loops: [loop])
        }
        try measure("in Redis", size, count, server, redis, concurrency: concurrency)
        let secured = try Managed(size: size) { [tlsPort, options = try tlsOptions()] loop in
          RedisSessionStore(host: "127.0.0.1", port: tlsPort, loops: [loop], options: options)
        }
        try measure("in Redis, TLS", size, count, server, secured, concurrency: concurrency)
      }
    }
    try keepMany(server)
  }

  private func tlsOptions() throws -> RedisOptions {
    var tls = TLSOptions()
    tls.roots = .file(roots)
    var options = RedisOptions()
    try options.useTLS(tls)
    return options
  }

  private func measure(
    _ name: String, _ size: Int, _ count: Int, _ server: BlockingRedis, _ contestant: any Contender,
    concurrency: Int = 1
  ) throws {
    _ = try server.call("FLUSHALL")
    try contestant.perform(count / 10 + 1, concurrency)
    let (own, others, start) = (Self.processor(), try server.processor(), ContinuousClock.now)
    try contestant.perform(count, concurrency)
    let duration = start.duration(to: .now) / .seconds(1)
    let (ownAfter, othersAfter) = (Self.processor(), try server.processor())
    try contestant.check()
    let bytes = try server.bytesOfOneKey()
    try contestant.end()
    let text = "\(name), \(size / 1_000) kB, \(concurrency) at a time"
    print(
      title(text) + column(Double(count) / duration, 10) + column((ownAfter - own) / Double(count) * 1e6, 16)
        + column((othersAfter - others) / Double(count) * 1e6, 13) + column(bytes.map(Double.init) ?? 0, 18))
    fflush(nil)
  }

  private func title(_ text: String) -> String { text + String(repeating: " ", count: max(0, 38 - text.count)) }

  private func column(_ number: Double, _ width: Int) -> String {
    let text = String((number * 10).rounded() / 10)
    return String(repeating: " ", count: max(1, width - text.count)) + text
  }

  /// Seconds of all threads so far.
  private static func processor() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
  }

  /// A cart of 100 bytes each.
  private func keepMany(_ server: BlockingRedis) throws {
    _ = try server.call("FLUSHALL")
    let before = try server.memory()
    let redis = try Managed(size: 100) { loop in RedisSessionStore(host: "127.0.0.1", port: port, loops: [loop]) }
    let start = ContinuousClock.now
    try redis.create(sessions, 64)
    let seconds = start.duration(to: .now) / .seconds(1)
    let kept = try server.count()
    guard kept == sessions else { throw Failed(description: "\(kept) of \(sessions) sessions are kept") }
    print(
      "\(sessions) sessions of 100 bytes: \((try server.memory() - before) / sessions) bytes each in Redis, created in "
        + "\((seconds * 10).rounded() / 10) s")
    try redis.end()
    _ = try server.call("FLUSHALL")
  }
}

/// Keeps sessions in one way.
private protocol Contender {
  /// So many requests, so many of them at a time.
  func perform(_ count: Int, _ concurrency: Int) throws
  /// Throws unless all requests have been counted.
  func check() throws
  func end() throws
}

/// The content of a session.
private struct Content: Codable {
  var count = 0
  var text: String
}

// MARK: by hand

private final class ByHand: Contender {
  private let server: BlockingRedis
  private let size: Int
  private var performed = 0

  init(_ server: BlockingRedis, size: Int) {
    self.server = server
    self.size = size
  }

  func perform(_ count: Int, _ concurrency: Int) throws {
    for _ in 0..<count {
      var content = try read() ?? Content(text: String(repeating: "x", count: size))
      content.count += 1
      let bytes = [UInt8](try JSONEncoder().encode(content))
      _ = try server.call([Array("SET".utf8), Array("by-hand".utf8), bytes, Array("EX".utf8), Array("1800".utf8)])
    }
    performed += count
  }

  private func read() throws -> Content? {
    guard let bytes = try server.call("GET", "by-hand") else { return nil }
    return try JSONDecoder().decode(Content.self, from: Data(bytes))
  }

  func check() throws {
    let count = try read()?.count
    if count != performed { throw Failed(description: "\(count ?? 0) of \(performed) are counted") }
  }

  func end() {}
}

// MARK: by a manager

private final class Holder: Sendable {
  let content: SessionValue<Content>

  init(state: SessionState, size: Size) throws {
    content = try state.value("content", default: Content(text: String(repeating: "x", count: size.bytes)))
  }
}

private final class Size: Sendable {
  let bytes: Int

  init(bytes: Int) { self.bytes = bytes }
}

private final class Managed: Contender, Sendable {
  private let thread: EventLoopThread
  private let environment: Environment
  private let manager: Sessions<SessionState>
  private let store: any SessionStore
  /// The cookies of the visitors, one for each request at a time.
  private let cookies = Mutex<[Int: String]>([:])
  private let performed = Mutex(0)

  init(size: Int, _ makeStore: (EventLoop) -> any SessionStore) throws {
    thread = try EventLoopThread(name: "sessions")
    environment = try Environment()
    try environment.define(environment.bean(Size(bytes: size)))
    let factory = try environment.childFactory("session", seed: SessionState.self) { session in
      try session.define(session.bean(Holder.self, factory: Holder.init))
    }
    store = makeStore(thread.loop)
    manager = Sessions(factory, store: store)
  }

  func perform(_ count: Int, _ concurrency: Int) throws {
    try together(concurrency) { [self] place in
      var cookie = cookies.withLock { $0[place] }
      for _ in 0..<count / concurrency { cookie = try await change(cookie) ?? cookie }
      cookies.withLock { $0[place] = cookie }
    }
    performed.withLock { $0 += count / concurrency * concurrency }
  }

  func create(_ count: Int, _ concurrency: Int) throws {
    try together(concurrency) { [self] place in
      for _ in stride(from: place, to: count, by: concurrency) { _ = try await change(nil) }
    }
  }

  private nonisolated(nonsending) func change(_ cookie: String?) async throws -> String? {
    let answer = try await manager.withSession(cookie: cookie) { session in
      try session.environment.getBean(Holder.self).content.update { $0.count += 1 }
    }
    if case .set(let id) = answer.cookie { return id }
    return nil
  }

  /// Runs tasks on the loop, and waits for them here.
  private func together(
    _ concurrency: Int, _ body: nonisolated(nonsending) @escaping @Sendable (Int) async throws -> Void
  ) throws {
    let done = DispatchSemaphore(value: 0)
    let shared = Shared()
    for place in 0..<concurrency {
      Task(executorPreference: thread.loop) {
        do { try await body(place) } catch { shared.failure.withLock { $0 = error } }
        done.signal()
      }
    }
    for _ in 0..<concurrency { done.wait() }
    if let error = shared.failure.withLock({ $0 }) { throw error }
  }

  private final class Shared: Sendable {
    let failure = Mutex<(any Error)?>(nil)
  }

  func check() throws {
    let ids = cookies.withLock { Array($0.values) }
    let sum = Sum()
    try together(1) { [self] _ in
      for id in ids {
        let answer = try await manager.withSession(cookie: id) { session in
          try session.environment.getBean(Holder.self).content.value.count
        }
        sum.number.withLock { $0 += answer.value }
      }
    }
    let (found, wanted) = (sum.number.withLock { $0 }, performed.withLock { $0 })
    if found != wanted { throw Failed(description: "\(found) of \(wanted) are counted") }
  }

  private final class Sum: Sendable {
    let number = Mutex(0)
  }

  func end() throws {
    (store as? RedisSessionStore)?.close()
    try environment.shutdown()
    try thread.stopAndJoin()
  }
}
