// listing
import BeansSessions
import Valkey

/// A session is a hash with an expiry: `v` is its version, `c` its creation, `b` the bytes of its names and values. For
/// each value, `d:` with its name holds the version that wrote it, a colon, and the value, which is text.
struct ValkeySessionStore: SessionStore {
  let client: any ValkeyClientProtocol
  var prefix = "session:"
  var idleLimit = Duration.seconds(1_800)
  var touchInterval = Duration.seconds(60)
  var maximumBytes = 1 << 20

  func create(_ id: String, _ values: [String: [UInt8]]) async throws(SessionError) -> UInt64 {
    try await write(id, SessionChange(version: 0, values: values.mapValues { $0 }), isNew: true)
  }

  func load(_ id: String, unlessVersion version: UInt64?) async throws(SessionError) -> SessionLookup {
    let words = [milliseconds(idleLimit), milliseconds(touchInterval), "\(version ?? 0)"]
    do {
      switch try await run(Script.load, [id], words) {
      case .null: return .missing
      case .array(let fields): return .found(try SessionRecord(fields))
      default: return .unchanged
      }
    } catch { throw .unavailable(reason(error)) }
  }

  func save(_ id: String, _ change: SessionChange) async throws(SessionError) -> UInt64 {
    try await write(id, change, isNew: false)
  }

  func rotate(_ id: String, to other: String) async throws(SessionError) {
    if case .null = try await change(Script.rotate, [id, other]) { throw .ended }
  }

  func end(_ id: String) async throws(SessionError) { _ = try await change(Script.end, [id]) }

  private func write(_ id: String, _ change: SessionChange, isNew: Bool) async throws(SessionError) -> UInt64 {
    var words = [isNew ? "new" : "old", "\(maximumBytes)", milliseconds(idleLimit)]
    for (name, version) in change.expected { words += ["expect", name, "\(version)"] }
    for (name, bytes) in change.values {
      guard let text = String(validating: bytes ?? [], as: UTF8.self) else {
        throw .notEncodable(name, reason: "it is not text")
      }
      words += [bytes == nil ? "remove" : "set", name, text]
    }
    switch try await self.change(Script.write, [id], words) {
    case .null: throw .ended
    case .array(let names): throw .conflict((try? names.decode(as: [String].self).sorted()) ?? [])
    case .number(let version) where version > 0: return UInt64(version)
    case .number(let bytes): throw .tooLarge(bytes: Int(-bytes), limit: maximumBytes)
    default: throw .outcomeUnknown("a reply that means nothing")
    }
  }

  private typealias Reply = RESPToken.Value

  private func change(_ script: String, _ ids: [String], _ words: [String] = []) async throws(SessionError) -> Reply {
    do { return try await run(script, ids, words) } catch {
      let isRefusal = (error as? ValkeyClientError)?.isRefusal ?? false
      throw isRefusal ? .unavailable(reason(error)) : .outcomeUnknown(reason(error))
    }
  }

  /// Runs a script in a task of its own: the client drops the call of a cancelled one, and closes the connection.
  private func run(_ script: String, _ ids: [String], _ words: [String]) async throws -> Reply {
    let keys = ids.map { ValkeyKey(prefix + $0) }
    return try await Task { try await client.eval(script: script, keys: keys, args: words).value }.value
  }

  private func milliseconds(_ duration: Duration) -> String { "\(max(1, Int(duration / .milliseconds(1))))" }

  private func reason(_ error: any Error) -> String {
    (error as? ValkeyClientError).map { "\($0.errorCode) \($0.message ?? "")" } ?? "a reply that means nothing"
  }
}

extension ValkeyClientError {
  /// Whether the client has not sent the call, or the server has refused it.
  fileprivate var isRefusal: Bool {
    let refusals: Set = ["BUSY", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY"]
    return switch errorCode {
    case .clientIsShutDown, .connectionClosing, .connectionCreationCircuitBreakerTripped: true
    case .commandError: refusals.contains(String((message ?? "").prefix { $0 != " " }))
    default: false
    }
  }
}

extension SessionRecord {
  fileprivate init(_ fields: RESPToken.Array) throws {
    var (version, created, values) = (0 as UInt64, 0 as Int64, [:] as [String: Value])
    for (name, field) in try fields.decodeKeyValuePairs(as: [(String, String)].self) {
      let digits = field.prefix { $0.isNumber }
      let number = UInt64(digits) ?? 0
      switch name {
      case "v": version = number
      case "c": created = Int64(number)
      case "b": break
      default:
        let bytes = Array(field.utf8.dropFirst(digits.utf8.count + 1))
        values[String(name.dropFirst(2))] = Value(version: number, bytes: bytes)
      }
    }
    self.init(version: version, created: created, values: values)
  }
}

/// The server runs each script in one step, by its own clock.
private enum Script {
  static let load = """
    local version = redis.call('HGET', KEYS[1], 'v')
    if not version then return false end
    if redis.call('PTTL', KEYS[1]) <= ARGV[1] - ARGV[2] then redis.pcall('PEXPIRE', KEYS[1], ARGV[1]) end
    return version == ARGV[3] and 1 or redis.call('HGETALL', KEYS[1])
    """
  static let write = """
    local key, time, conflicts = KEYS[1], redis.call('TIME'), {}
    local version, bytes = unpack(redis.call('HMGET', key, 'v', 'b'))
    if (ARGV[1] == 'new') == (version ~= false) then return false end
    version, bytes = (version or 0) + 1, tonumber(bytes or 0)
    for i = 4, #ARGV, 3 do
      local kind, name, value = unpack(ARGV, i, i + 2)
      local old = redis.call('HGET', key, 'd:' .. name)
      local written = old and string.match(old, '%d+') or '0'
      if kind == 'expect' and written ~= value then conflicts[#conflicts + 1] = name end
      if kind ~= 'expect' and old then bytes = bytes - #name - #old + #written + 1 end
      if kind == 'set' then bytes = bytes + #name + #value end
    end
    if #conflicts > 0 then return conflicts end
    if bytes > tonumber(ARGV[2]) then return -bytes end
    redis.call('HSET', key, 'v', version, 'b', bytes)
    redis.call('PEXPIRE', key, ARGV[3])
    redis.call('HSETNX', key, 'c', string.format('%d%03d', time[1], time[2] / 1000))
    for i = 4, #ARGV, 3 do
      if ARGV[i] == 'remove' then redis.call('HDEL', key, 'd:' .. ARGV[i + 1]) end
      if ARGV[i] == 'set' then redis.call('HSET', key, 'd:' .. ARGV[i + 1], version .. ':' .. ARGV[i + 2]) end
    end
    return version
    """
  static let rotate = "return redis.call('EXISTS', KEYS[1]) == 1 and redis.call('RENAME', KEYS[1], KEYS[2]).ok"
  static let end = "return redis.call('UNLINK', KEYS[1])"
}
// end
