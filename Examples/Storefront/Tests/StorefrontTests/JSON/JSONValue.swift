import Foundation

/// A JSON text, for tests that look into one.
enum JSONValue: Equatable, Decodable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes)) }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let integer = try? value.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

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
