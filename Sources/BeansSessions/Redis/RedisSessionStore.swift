public import Beans
public import BeansEventLoop
import BeansServer
@_spi(BeansPackage) import BeansSupport

/// Sessions in a Redis server, for all nodes that use it: they outlive each node, and expire by the server's clock.
///
/// ```swift
/// let store = RedisSessionStore(host: "127.0.0.1", port: 6379, loops: loops)
/// let sessions = SessionManager(factory, store: store)
/// ```
///
/// A session is one key with an expiry. Each call is one script, which the server runs in one step, and one round trip. It takes
/// version 6 of Redis or later, or Valkey, as one server or one primary: the two keys of a rotation may be apart in a cluster.
/// A server that replicates or saves its data later than it replies may forget what it has acknowledged when it fails.
///
/// There is one connection for each event loop, made when it is first wanted, on which calls do not wait for each other. A call
/// from a loop's thread uses that loop's connection, and any other call that of the next one in turn.
///
/// A call fails when `RedisOptions.commandTimeout` has passed, whatever the server does, as long as its loop runs. A task that
/// is cancelled waits for its reply all the same. When the server closes the connection, a call that had been sent is sent once
/// more within its time; the scripts see to it that nothing is done twice. A call that arrives at the server after its time, such as
/// from a proxy, has no effect: each carries the time until which it is valid, by the server's clock. An id that has rotated or
/// ended stays taken for twice that time, so that no earlier call brings it back; all nodes have about the same
/// `RedisOptions.commandTimeout` for that. The logger `Beans.Sessions.Redis` warns once for each
/// loop that the server cannot be used, and once more when it can.
///
/// A server that refuses connections fails calls at once. An id that has rotated, has ended or was missing is not asked for again for a
/// minute at most, so that a client that keeps a dead cookie costs no round trips. That concerns ids in the form that a
/// `SessionManager` makes: they reach clients when the session is there.
///
/// Safe from any thread. A store is closed before its loops are stopped: by the environment where the store is a bean, or by hand.
public final class RedisSessionStore: SessionStore, DisposableBean {
  let connections: [Connection]
  private let address: SocketAddress
  private let prefix: String
  private let limits: SessionLimits
  private let timeout: Duration
  private let missing = MissingIds()
  /// The place of the next connection, for calls from threads of no loop.
  private let turn = Locked(0)

  struct Connection: Sendable {
    let loop: EventLoop
    let redis: RedisConnection
  }

  /// The outcome of a script.
  private enum Outcome {
    case reply(RESPValue)
    /// The server has not done it, and never will.
    case notDone(String)
    case unknown(String)
  }

  /// Creates a store; it connects when it is first asked for something.
  ///
  /// - Parameters:
  ///   - host: a numeric IPv4 or IPv6 address.
  ///   - port: the server's port. 6379 unless given.
  ///   - loops: have one connection each. Without any, each call fails.
  ///   - prefix: what the keys begin with; an id follows. `"session:"` unless given.
  ///   - limits: how long sessions are kept, and how large they may be: 32 MiB at most. A session keeps the `idleLimit` that it
  ///     was created with.
  ///   - options: who logs in, and how long things may take.
  public init(
    host: String, port: Int = 6379, loops: [EventLoop], prefix: String = "session:",
    limits: SessionLimits = SessionLimits(), options: RedisOptions = RedisOptions()
  ) {
    let address = SocketAddress(host: host, port: port)
    connections = loops.map { loop in
      Connection(loop: loop, redis: RedisConnection(on: loop, to: address, options: options))
    }
    self.address = address
    self.prefix = prefix
    var limits = limits
    // A reply has to be within what `RESPParser` takes.
    limits.maximumBytes = min(limits.maximumBytes, 32 << 20)
    self.limits = limits
    timeout = options.commandTimeout
  }

  /// Closes the connections; calls that wait, and later ones, fail. From any thread; a second call does nothing.
  ///
  /// Returns at once. Each loop closes its connection in its next turn, or when it is closed itself.
  public func close() {
    for connection in connections { connection.loop.execute { connection.redis.close() } }
  }

  /// Closes the connections when the environment that has the store as a bean ends, as `close()` does.
  public func preDestroy() { close() }

  // MARK: sessions

  /// Keeps a new session, with its expiry.
  ///
  /// - Throws: `.tooLarge`; `.ended` where the id is taken; `.unavailable` or `.outcomeUnknown`.
  public func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    let bytes = values.reduce(0) { $0 + $1.key.utf8.count + $1.value.count }
    if bytes > limits.maximumBytes { throw .tooLarge(bytes: bytes, limit: limits.maximumBytes) }
    var arguments = [Self.makeToken(), milliseconds(limits.idleLimit), number(bytes)]
    for (name, value) in values { arguments += [Array(name.utf8), value] }
    switch try await change(.create, [key(id)], arguments: { _ in arguments }) {
    case .integer(1):
      missing.remove(id)
      return 1
    case .integer(0): throw .ended
    default: throw .outcomeUnknown(strangeReply)
    }
  }

  /// Looks a session up, and puts its expiry off where that has not been done for a while.
  ///
  /// A key that holds anything else than a session, or one in another form, counts as missing.
  ///
  /// - Throws: `.unavailable`.
  public func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    if missing.contains(id) { return .missing }
    let arguments = [version.map { Array(String($0).utf8) } ?? [], milliseconds(limits.touchInterval)]
    switch await run(.load, [key(id)], arguments: { _ in arguments }) {
    case .notDone(let reason), .unknown(let reason): throw .unavailable(reason)
    case .reply(.null):
      missing.insert(id)
      return .missing
    case .reply(.integer(1)): return .unchanged
    case .reply(.array(let parts)): return Self.record(parts).map(SessionLookup.found) ?? .missing
    case .reply: throw .unavailable(strangeReply)
    }
  }

  /// Writes some values of a session that is there, and puts its expiry off.
  ///
  /// A second attempt changes nothing where others may have changed the session since the first one.
  ///
  /// - Returns: the version that the session has now.
  /// - Throws: `.ended`, `.conflict`, `.tooLarge` or `.unavailable`: nothing has been written then. `.outcomeUnknown`.
  public func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    let token = Self.makeToken()
    let limit = number(limits.maximumBytes)
    var changes: [[UInt8]] = []
    var removals: [[UInt8]] = []
    for (name, bytes) in change.values {
      if let bytes { changes += [Array(name.utf8), bytes] } else { removals.append(Array(name.utf8)) }
    }
    let counts = [number(changes.count / 2), number(removals.count), number(change.expected.count)]
    let expected = change.expected.flatMap { [Array($0.key.utf8), Array(String($0.value).utf8)] }
    let rest = counts + changes + removals + expected
    let reply = try await self.change(.save, [key(id)]) { isSecond in
      [token, limit, isSecond ? Array(String(change.version).utf8) : []] + rest
    }
    switch reply {
    case .null: throw .ended
    case .integer(let version) where version > 0: return UInt64(version)
    case .integer(let bytes): throw .tooLarge(bytes: Int(clamping: bytes.magnitude), limit: limits.maximumBytes)
    case .array(let names) where names.isEmpty:
      throw .outcomeUnknown("\(address): the connection was lost, and others have changed the session since")
    case .array(let names): throw .conflict(names.compactMap(\.text).sorted())
    default: throw .outcomeUnknown(strangeReply)
    }
  }

  /// Makes a session known by another id instead of its own.
  ///
  /// Where the new id is known already and the old one is not, an earlier attempt has done it.
  ///
  /// - Throws: `.ended` where there is no such session; `.unavailable` or `.outcomeUnknown`.
  public func rotate(_ id: String, to other: String) async throws(SessionError) {
    switch try await change(.rotate, [key(id), key(other)], arguments: { _ in [lateness] }) {
    case .integer(1):
      missing.remove(other)
      missing.insert(id)
    case .null: throw .ended
    default: throw .outcomeUnknown(strangeReply)
    }
  }

  /// Ends a session.
  ///
  /// - Throws: `.unavailable` or `.outcomeUnknown`.
  public func end(_ id: String) async throws(SessionError) {
    switch try await change(.end, [key(id)], arguments: { _ in [lateness] }) {
    case .integer(1): missing.insert(id)
    default: throw .outcomeUnknown(strangeReply)
    }
  }

  // MARK: words

  private func key(_ id: String) -> [UInt8] { Array((prefix + id).utf8) }

  private func number(_ number: Int) -> [UInt8] { Array(String(number).utf8) }

  /// A time within which each earlier call has arrived, or has no effect any more.
  private var lateness: [UInt8] { milliseconds(timeout * 2 + .seconds(1)) }

  /// At least one, as a key cannot expire after less.
  private func milliseconds(_ duration: Duration) -> [UInt8] {
    let (seconds, attoseconds) = duration.components
    // A hundred years at most: a later time is none that the server can count to.
    return number(max(1, Int(min(seconds, 3_155_760_000)) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)))
  }

  /// Names one change among all changes of a session.
  private static func makeToken() -> [UInt8] { Array(UnguessableId.make().utf8) }

  /// Version, creation, and names and values by turns; nil where that cannot be read.
  private static func record(_ parts: [RESPValue]) -> SessionRecord? {
    guard parts.count >= 2, let version = parts[0].text.flatMap({ UInt64($0) }),
      let created = parts[1].text.flatMap({ Int64($0) })
    else { return nil }
    var record = SessionRecord(version: version, created: created, values: [:])
    for place in stride(from: 2, to: parts.count - 1, by: 2) {
      guard let name = parts[place].text, case .bytes(let bytes) = parts[place + 1], let value = Self.value(bytes)
      else { continue }
      record.values[name] = value
    }
    return record
  }

  /// The version that wrote it, a colon, and bytes; nil where that cannot be read.
  private static func value(_ bytes: [UInt8]) -> SessionRecord.Value? {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let version = UInt64(String(decoding: bytes[..<colon], as: UTF8.self))
    else { return nil }
    return SessionRecord.Value(version: version, bytes: Array(bytes[(colon + 1)...]))
  }

  /// Without the reply, which may hold what is a visitor's.
  private var strangeReply: String { "\(address): it gives a reply that means nothing" }

  // MARK: calls

  /// Runs a script that writes.
  private func change(
    _ script: RedisScript, _ keys: [[UInt8]], arguments: (_ isSecond: Bool) -> [[UInt8]]
  ) async throws(SessionError) -> RESPValue {
    switch await run(script, keys, arguments: arguments) {
    case .reply(let reply): return reply
    case .notDone(let reason): throw .unavailable(reason)
    case .unknown(let reason): throw .outcomeUnknown(reason)
    }
  }

  /// A second attempt follows only where the server has closed the connection: what a connection closed from here has sent may
  /// be executed after the second attempt, and after changes by others.
  private func run(
    _ script: RedisScript, _ keys: [[UInt8]], arguments: (_ isSecond: Bool) -> [[UInt8]]
  ) async -> Outcome {
    let deadline = ContinuousClock.now + timeout
    switch await send(script, keys, arguments(false), deadline, isSecond: false) {
    case .success(.error(let text)) where Self.isRefusal(text): return .notDone("\(address): \(text)")
    case .success(.error(let text)): return .unknown("\(address): \(text)")
    case .success(let reply): return .reply(reply)
    case .failure(.notSent(let reason)): return .notDone("\(address): \(reason)")
    case .failure(.late(let reason)): return .unknown("\(address): \(reason)")
    case .failure(.lost(let reason)):
      // Only a reply tells what has become of the first attempt.
      guard case .success(let reply) = await send(script, keys, arguments(true), deadline, isSecond: true) else {
        return .unknown("\(address): \(reason)")
      }
      if case .error(let text) = reply { return .unknown("\(address): \(reason), then \(text)") }
      return .reply(reply)
    }
  }

  /// Whether an error says that the server has not executed a script up to its first write.
  ///
  /// Any other error may be that of a command in the middle of a script, after others have written.
  private static func isRefusal(_ text: String) -> Bool {
    refusals.contains { text.hasPrefix($0 + " ") || text == $0 }
  }

  /// A server refuses whole scripts so. For want of memory, replicas or a disk it refuses only the first write of one.
  private static let refusals = [
    "ASK", "BUSY", "CLUSTERDOWN", "CROSSSLOT", "LATE", "LOADING", "MASTERDOWN", "MISCONF", "MOVED", "NOAUTH", "NOPERM",
    "NOREPLICAS", "NOSCRIPT", "OOM", "READONLY", "TRYAGAIN", "WRONGPASS",
  ]

  private func send(
    _ script: RedisScript, _ keys: [[UInt8]], _ arguments: [[UInt8]], _ deadline: ContinuousClock.Instant,
    isSecond: Bool
  ) async -> Result<RESPValue, RedisFailure> {
    guard let connection = choose() else { return .failure(.notSent("the store has no event loop")) }
    let answer = Answer()
    await withCheckedContinuation { continuation in
      var command = RedisCommand(script: script, keys: keys, arguments: arguments, deadline: deadline) { result in
        answer.result.withLock { $0 = result }
        continuation.resume()
      }
      command.isSecond = isSecond
      let sent = command
      if connection.loop.isCurrent {
        connection.redis.send(sent)
      } else if !connection.loop.tryExecute({ connection.redis.send(sent) }) {
        continuation.resume()
      }
    }
    return answer.result.withLock { $0 }
  }

  /// The outcome of one command. Under a lock, since ThreadSanitizer does not see a continuation hand over a value.
  private final class Answer: Sendable {
    let result = Locked<Result<RESPValue, RedisFailure>>(.failure(.notSent("its event loop does not run")))
  }

  private func choose() -> Connection? {
    if connections.count < 2 { return connections.first }
    if let own = connections.first(where: { $0.loop.isCurrent }) { return own }
    let place = turn.withLock { turn in
      turn = (turn + 1) % connections.count
      return turn
    }
    return connections[place]
  }
}
