public import Beans
@_spi(BeansPackage) import BeansErrors
public import BeansEventLoop
public import BeansSessions

/// A store that keeps sessions in a Redis server, for all nodes that use it. The sessions outlive each node, and expire
/// by the server's clock.
///
/// ```swift
/// let store = RedisSessionStore(host: "127.0.0.1", port: 6379, loops: loops)
/// let sessions = Sessions(factory, store: store)
/// ```
///
/// A session is one key with an expiry. A lookup reads it in one round trip; it takes a second one, with a script, once
/// in `SessionLimits.touchInterval`, to postpone the expiry. Each other call is one script, which the server runs in
/// one step, and one round trip. The store requires version 6 of Redis or later, or Valkey, as one server or one
/// primary, which it finds anew when it changes. It refuses a node of a cluster, where the two keys of a rotation may be
/// on different nodes. A server that replicates or saves its data after it replies may lose acknowledged changes when it
/// fails: <doc:ServersOfAStore>.
///
/// Each event loop has one connection, established for the first call that uses it. Calls on a connection do not wait
/// for each other. A call from a loop's thread uses that loop's connection; any other call uses the connections in
/// turn.
///
/// A call fails when `RedisOptions.commandTimeout` has passed, in any state of the server, as long as its loop
/// runs. A cancelled task still waits for its reply. When the server closes the connection, a call that has been sent
/// is sent once more within its time; the scripts prevent that a change is made twice. A call that arrives at the
/// server after its time, such as from a proxy, has no effect: each call carries its deadline by the server's clock. An
/// id that has rotated or ended stays taken for twice that time, so that no earlier call recreates it. For that, all
/// nodes need about the same `RedisOptions.commandTimeout`. For each loop, the logger `Beans.Sessions.Redis` warns once
/// when the server cannot be used, and once more when it can.
///
/// A server that refuses connections fails calls at once. For at most a minute, an id that has rotated, has ended or
/// was missing causes no call of the server, so that a client that keeps a dead cookie costs no round trips. This
/// applies to ids in the form that `Sessions` makes, which reach clients only when the session exists.
///
/// Safe from any thread. A store is closed before its loops are stopped: by the environment where the store is a bean,
/// or by hand.
public final class RedisSessionStore: SessionStore, DisposableBean {
  let connections: [Connection]
  private let servers: RedisServers
  private let prefix: String
  private let limits: SessionLimits
  private let timeout: Duration
  /// The number of replicas that have to confirm a change.
  private let replicas: Int
  private let missing = MissingIds()
  /// The index of the next connection, for calls from threads without a loop.
  private let turn = Locked(0)

  struct Connection: Sendable {
    let loop: EventLoop
    let redis: RedisConnection
  }

  /// The outcome of a command.
  private enum Outcome {
    case reply(RESPValue)
    /// The server has not executed the command, and never will.
    case notDone(String)
    case unknown(String)
  }

  /// Creates a store. It connects at the first call.
  ///
  /// - Parameters:
  ///   - loops: the event loops, with one connection each. Without any, each call fails.
  ///   - prefix: the text before the id in each key. `"session:"` unless given.
  ///   - limits: the lifetime and the size of sessions; the size is at most 32 MiB. A session keeps the `idleLimit`
  ///     that it was created with.
  ///   - options: the servers, the login and the time limits.
  public init(
    loops: [EventLoop], prefix: String = "session:", limits: SessionLimits = SessionLimits(),
    options: RedisOptions = RedisOptions()
  ) {
    connections = loops.map { Connection(loop: $0, redis: RedisConnection(on: $0, options: options)) }
    servers = options.servers
    replicas = options.minimumReplicas
    self.prefix = prefix
    var limits = limits
    // A reply has to be within the limits of `RESPParser`.
    limits.maximumBytes = min(limits.maximumBytes, 32 << 20)
    self.limits = limits
    timeout = options.commandTimeout
  }

  /// Creates a store of one server. It connects at the first call.
  ///
  /// - Parameters:
  ///   - host: a name, a numeric address, or `unix:` and a path; see `RedisServers.server(host:port:)`.
  ///   - port: the server's port. 6379 unless given.
  ///   - loops: the event loops, with one connection each. Without any, each call fails.
  ///   - prefix: the text before the id in each key. `"session:"` unless given.
  ///   - limits: the lifetime and the size of sessions; the size is at most 32 MiB. A session keeps the `idleLimit`
  ///     that it was created with.
  ///   - options: the login and the time limits. Its servers are not used.
  public convenience init(
    host: String, port: Int = 6379, loops: [EventLoop], prefix: String = "session:",
    limits: SessionLimits = SessionLimits(), options: RedisOptions = RedisOptions()
  ) {
    var options = options
    options.servers = .server(host: host, port: port)
    self.init(loops: loops, prefix: prefix, limits: limits, options: options)
  }

  /// Closes the connections. Calls in flight, and later calls, fail. From any thread; a second call does nothing.
  ///
  /// Returns at once. Each loop closes its connection in its next turn, or when the loop itself is closed.
  public func close() {
    for connection in connections { connection.loop.execute { connection.redis.close() } }
  }

  /// Closes the connections, as `close()` does, when the environment that has the store as a bean ends.
  public func preDestroy() { close() }

  // MARK: sessions

  /// Stores a new session, with its expiry.
  ///
  /// - Throws: `.tooLarge`; `.ended` where the id is taken; `.unavailable` or `.outcomeUnknown`.
  public func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    let bytes = values.reduce(0) { $0 + $1.key.utf8.count + $1.value.count }
    if bytes > limits.maximumBytes { throw .tooLarge(bytes: bytes, limit: limits.maximumBytes) }
    var arguments = [Self.makeToken(), number(milliseconds(limits.idleLimit)), number(bytes)]
    for (name, value) in values { arguments += [Array(name.utf8), value] }
    switch try await change(.create, [key(id)], arguments: { _ in arguments }) {
    case .integer(1):
      missing.remove(id)
      return 1
    case .integer(0): throw .ended
    default: throw .outcomeUnknown(strangeReply)
    }
  }

  /// Looks up a session. Postpones its expiry where `SessionLimits.touchInterval` has passed since the last time.
  ///
  /// Costs one round trip, or two where the expiry is postponed, or where the session has another version than
  /// `version`. A key that does not hold a session, or holds one in another form, is treated as missing.
  ///
  /// - Throws: `.unavailable`.
  public func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    if missing.contains(id) { return .missing }
    let deadline = ContinuousClock.now + timeout
    guard let (read, isDue) = try await read(id, isWhole: version == nil, deadline) else { return miss(id) }
    if !isDue {
      if version == nil { return .found(read.record) }
      if read.record.version == version { return .unchanged }
    }
    // The script sees the session as it is now.
    let known = version ?? read.record.version
    let arguments = [Array(String(known).utf8), number(milliseconds(limits.touchInterval))]
    switch await run(deadline, { _ in .run(.load, keys: [key(id)], arguments: arguments) }) {
    case .notDone(let reason), .unknown(let reason): throw .unavailable(reason)
    case .reply(.null): return miss(id)
    case .reply(.integer(1)): return version == nil ? .found(read.record) : .unchanged
    case .reply(.array(let parts)): return SessionRecord(parts).map(SessionLookup.found) ?? .missing
    case .reply: throw .unavailable(strangeReply)
    }
  }

  private func miss(_ id: String) -> SessionLookup {
    missing.insert(id)
    return .missing
  }

  /// Reads a session, and whether its expiry has to be postponed. Returns nil where it is missing.
  ///
  /// The server runs `TIME`, and then `HGETALL` or `HMGET`. Each command is atomic, but other commands may run between
  /// the two, and the key may expire. They need no transaction, because the time comes first:
  ///
  /// - The hash is the session at one moment, with its expiry as of that moment. When this expiry is over by the earlier
  ///   time, it is also over at that moment, and the session is missing.
  /// - When a session expires between the two commands, the server returns no hash. Either result is correct.
  /// - When another node postpones the expiry in between, the hash has the new expiry.
  private func read(
    _ id: String, isWhole: Bool, _ deadline: ContinuousClock.Instant
  ) async throws(SessionError) -> (session: StoredSession, isDue: Bool)? {
    let command = isWhole ? [Self.readAll, key(id)] : [Self.readFields, key(id)] + StoredSession.fields
    switch await run(deadline, { _ in .read(command) }) {
    case .notDone(let reason), .unknown(let reason): throw .unavailable(reason)
    case .reply(.array(let replies)) where replies.count == 2:
      // The key holds something else, such as the text of an id that has ended.
      if case .error(let text) = replies[1], text.hasPrefix("WRONGTYPE") { return nil }
      for case .error(let text) in replies { throw .unavailable("\(servers): \(text)") }
      guard let now = RedisClock(replies[0])?.time, case .array(let parts) = replies[1] else {
        throw .unavailable(strangeReply)
      }
      guard let session = isWhole ? StoredSession(all: parts) : StoredSession(fields: parts), session.expiry > now
      else { return nil }
      return (session, now - session.touched >= milliseconds(limits.touchInterval))
    case .reply: throw .unavailable(strangeReply)
    }
  }

  /// Writes some values of an existing session, and postpones its expiry.
  ///
  /// A second attempt changes nothing where others may have changed the session since the first one.
  ///
  /// - Returns: the new version of the session.
  /// - Throws: `.ended`, `.conflict`, `.tooLarge` or `.unavailable`: nothing has been written in these cases.
  ///   `.outcomeUnknown`.
  public func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    let token = Self.makeToken()
    let limit = number(limits.maximumBytes)
    let successor = Array(String(change.version &+ 1).utf8)
    var changes: [[UInt8]] = []
    var removals: [[UInt8]] = []
    for (name, bytes) in change.values {
      guard let bytes else {
        removals.append(Array(name.utf8))
        continue
      }
      var value = successor
      value.reserveCapacity(successor.count + 1 + bytes.count)
      value.append(UInt8(ascii: ":"))
      value += bytes
      // A version and a colon precede the stored bytes.
      let offset = change.seen[name].flatMap { $0 == 0 ? nil : number(String($0).utf8.count + 1) }
      changes += [Array(name.utf8), value, offset ?? []]
    }
    let counts = [number(changes.count / 3), number(removals.count), number(change.expected.count)]
    let expected = change.expected.flatMap { [Array($0.key.utf8), Array(String($0.value).utf8)] }
    let rest = [successor] + counts + changes + removals + expected
    let reply = try await self.change(.save, [key(id)]) { isSecond in
      [token, limit, isSecond ? Array(String(change.version).utf8) : []] + rest
    }
    switch reply {
    case .null: throw .ended
    case .integer(let version) where version > 0: return UInt64(version)
    case .integer(let bytes): throw .tooLarge(bytes: Int(clamping: bytes.magnitude), limit: limits.maximumBytes)
    case .array(let names) where names.isEmpty:
      throw .outcomeUnknown("\(servers): the connection was lost, and others have changed the session since")
    case .array(let names): throw .conflict(names.compactMap(\.text).sorted())
    default: throw .outcomeUnknown(strangeReply)
    }
  }

  /// Replaces the id of a session.
  ///
  /// Where the new id exists already and the old one does not, an earlier attempt has rotated the session.
  ///
  /// - Throws: `.ended` where no such session exists; `.unavailable` or `.outcomeUnknown`.
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

  /// The time after which each earlier call has arrived, or has no effect any more.
  private var lateness: [UInt8] { number(milliseconds(timeout * 2 + .seconds(1))) }

  /// Returns a duration in milliseconds: at least one, because a key cannot expire after less.
  private func milliseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    // A hundred years at most, because the server cannot represent an arbitrarily late time.
    return max(1, Int(min(seconds, 3_155_760_000)) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
  }

  /// Makes an identifier of one change among all changes of a session.
  private static func makeToken() -> [UInt8] { UnguessableId.makeText() }

  private static let readAll = Array("HGETALL".utf8)
  private static let readFields = Array("HMGET".utf8)

  /// The text for an unexpected reply. It excludes the reply, which may contain data private to a visitor.
  private var strangeReply: String { "\(servers): it gives a reply that means nothing" }

  // MARK: calls

  /// Runs a script that writes. Converts failures to errors.
  private func change(
    _ script: RedisScript, _ keys: [[UInt8]], arguments: (_ isSecond: Bool) -> [[UInt8]]
  ) async throws(SessionError) -> RESPValue {
    switch await run(.now + timeout, { .run(script, keys: keys, arguments: arguments($0)) }) {
    case .reply(let reply): return reply
    case .notDone(let reason): throw .unavailable(reason)
    case .unknown(let reason): throw .outcomeUnknown(reason)
    }
  }

  /// Sends a command. A second attempt follows only where the server has closed the connection: commands on a connection
  /// closed from this side may be executed after the second attempt, and after changes by others.
  private func run(
    _ deadline: ContinuousClock.Instant, _ action: (_ isSecond: Bool) -> RedisCommand.Action
  ) async -> Outcome {
    switch await send(action(false), deadline, isSecond: false) {
    case .success(.error(let text)) where Self.isRefusal(text): return .notDone("\(servers): \(text)")
    case .success(.error(let text)): return .unknown("\(servers): \(text)")
    case .success(let reply): return .reply(reply)
    case .failure(.notSent(let reason)): return .notDone("\(servers): \(reason)")
    case .failure(.late(let reason)), .failure(.unconfirmed(let reason)): return .unknown("\(servers): \(reason)")
    case .failure(.lost(let reason)):
      // Only a reply contains the outcome of the first attempt.
      guard case .success(let reply) = await send(action(true), deadline, isSecond: true) else {
        return .unknown("\(servers): \(reason)")
      }
      if case .error(let text) = reply { return .unknown("\(servers): \(reason), then \(text)") }
      return .reply(reply)
    }
  }

  /// Whether an error means that the server has refused a script before its first write.
  ///
  /// Any other error may come from a command in the middle of a script, after others have written.
  private static func isRefusal(_ text: String) -> Bool {
    refusals.contains { text.hasPrefix($0 + " ") || text == $0 }
  }

  /// The first words of errors with which a server refuses a whole script. Without memory, replicas or a disk, a server
  /// refuses only the first write of a script.
  private static let refusals = [
    "ASK", "BUSY", "CLUSTERDOWN", "CROSSSLOT", "LATE", "LOADING", "MASTERDOWN", "MISCONF", "MOVED", "NOAUTH", "NOPERM",
    "NOREPLICAS", "NOSCRIPT", "OOM", "READONLY", "TRYAGAIN", "WRONGPASS",
  ]

  private func send(
    _ action: RedisCommand.Action, _ deadline: ContinuousClock.Instant, isSecond: Bool
  ) async -> Result<RESPValue, RedisFailure> {
    guard let connection = choose() else { return .failure(.notSent("the store has no event loop")) }
    let answer = Answer()
    await withCheckedContinuation { continuation in
      var command = RedisCommand(action: action, deadline: deadline) { result in
        answer.result.withLock { $0 = result }
        continuation.resume()
      }
      command.isSecond = isSecond
      if case .run(let script, _, _) = action, script != .load { command.replicas = replicas }
      let sent = command
      if connection.loop.isCurrent {
        connection.redis.send(sent)
      } else if !connection.loop.tryExecute({ connection.redis.send(sent) }) {
        continuation.resume()
      }
    }
    return answer.result.withLock { $0 }
  }

  /// The outcome of one command. The lock is for ThreadSanitizer, which does not see a continuation hand over a value.
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
