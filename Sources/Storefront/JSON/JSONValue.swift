/// A parsed JSON text.
indirect enum JSONValue: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  /// The last of several fields of one name counts.
  case object([String: JSONValue])

  /// The field of an object; nil where this is none or has no such field.
  subscript(field: String) -> JSONValue? {
    guard case .object(let fields) = self else { return nil }
    return fields[field]
  }

  var integer: Int64? {
    guard case .integer(let integer) = self else { return nil }
    return integer
  }

  var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }
}
