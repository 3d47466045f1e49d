import BeansSessions

/// A session as read from the fields of its hash; see `RedisScript`.
struct StoredSession {
  /// The fields of each session, without its values. Each name is one byte.
  static let fields = letters.map { [$0] }
  private static let letters = Array("vcamsb".utf8)

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
    var fields = [RESPValue](repeating: .null, count: Self.letters.count)
    var values: [String: SessionRecord.Value] = [:]
    for place in stride(from: 0, to: parts.count - 1, by: 2) {
      guard case .bytes(let name) = parts[place], let first = name.first else { continue }
      if name.count == 1 {
        if let field = Self.letters.firstIndex(of: first) { fields[field] = parts[place + 1] }
      } else if first == UInt8(ascii: "d"), name[1] == UInt8(ascii: ":") {
        guard let text = String(validating: name[2...], as: UTF8.self) else { continue }
        values[text] = SessionRecord.Value(parts[place + 1])
      }
    }
    self.init(fields: fields)
    record.values = values
  }

  /// Reads an integer that a script represents exactly, so that sums do not overflow.
  private static func number(_ value: RESPValue) -> Int64? {
    guard case .bytes(let digits) = value, let number = Int64(digits: digits[...]), number.magnitude < 1 << 53 else {
      return nil
    }
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
    for place in stride(from: 2, to: parts.count - 1, by: 2) {
      if let name = parts[place].text { values[name] = Value(parts[place + 1]) }
    }
  }
}

extension SessionRecord.Value {
  /// Reads the version that wrote the value, a colon, and bytes. Returns nil where they are unreadable.
  fileprivate init?(_ value: RESPValue) {
    guard case .bytes(let bytes) = value, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let version = Int64(digits: bytes[..<colon]).flatMap({ UInt64(exactly: $0) })
    else { return nil }
    self.init(version: version, bytes: Array(bytes[(colon + 1)...]))
  }
}
