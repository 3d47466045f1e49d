/// A session as read from the fields of its hash; see `RedisScript`.
struct StoredSession {
  /// The fields of each session, without its values.
  static let fields = ["v", "c", "a", "m", "s", "b"].map { Array($0.utf8) }

  /// The session. Without values where only `fields` have been read.
  private(set) var record: SessionRecord
  /// The last time its expiry was postponed, in milliseconds since 1970.
  let touched: Int64
  /// The time of its expiry, in milliseconds since 1970.
  let expiry: Int64

  /// Reads the values of `fields`. Returns nil for a hash that is missing or has another form.
  init?(fields values: [RESPValue]) {
    guard values.count == Self.fields.count, case .bytes(let form) = values[4], form == RedisScript.formBytes,
      let version = Self.number(values[0]).flatMap({ UInt64(exactly: $0) }), let created = Self.number(values[1]),
      let touched = Self.number(values[2]), let limit = Self.number(values[3]), Self.number(values[5]) != nil
    else { return nil }
    record = SessionRecord(version: version, created: created, values: [:])
    self.touched = touched
    expiry = touched + limit
  }

  /// Reads names and values of all fields by turns. Returns nil for a hash that is missing or has another form.
  init?(all parts: [RESPValue]) {
    var values = [RESPValue](repeating: .null, count: Self.fields.count)
    for place in stride(from: 0, to: parts.count - 1, by: 2) {
      guard case .bytes(let name) = parts[place], let field = Self.fields.firstIndex(of: name) else { continue }
      values[field] = parts[place + 1]
    }
    self.init(fields: values)
    for place in stride(from: 0, to: parts.count - 1, by: 2) {
      guard case .bytes(let name) = parts[place], name.starts(with: Self.valuePrefix) else { continue }
      record.add(parts[place + 1], named: String(validating: name.dropFirst(Self.valuePrefix.count), as: UTF8.self))
    }
  }

  private static let valuePrefix = Array("d:".utf8)

  /// Reads an integer that a script represents exactly, so that sums do not overflow.
  private static func number(_ value: RESPValue) -> Int64? {
    guard let number = value.text.flatMap({ Int64($0) }), number.magnitude < 1 << 53 else { return nil }
    return number
  }
}

extension SessionRecord {
  /// Reads the reply of a script: version, creation, and names and values by turns. Returns nil where it is unreadable.
  init?(_ parts: [RESPValue]) {
    guard parts.count >= 2, let version = parts[0].text.flatMap({ UInt64($0) }),
      let created = parts[1].text.flatMap({ Int64($0) })
    else { return nil }
    self.init(version: version, created: created, values: [:])
    for place in stride(from: 2, to: parts.count - 1, by: 2) { add(parts[place + 1], named: parts[place].text) }
  }

  /// Adds a value from the version that wrote it, a colon, and bytes; nothing where it is unreadable.
  fileprivate mutating func add(_ value: RESPValue, named name: String?) {
    guard let name, case .bytes(let bytes) = value, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let version = UInt64(String(decoding: bytes[..<colon], as: UTF8.self))
    else { return }
    values[name] = Value(version: version, bytes: Array(bytes[(colon + 1)...]))
  }
}
