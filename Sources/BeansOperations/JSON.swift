import Beans

/// A value to be encoded as JSON.
enum JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral {
  case object([(String, JSON)])
  case array([JSON])
  case string(String)
  case integer(Int)
  case number(Double)
  case bool(Bool)
  case null

  init(stringLiteral text: String) { self = .string(text) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(nilLiteral: ()) { self = .null }

  /// Creates a string; `null` for nil.
  init(_ text: String?) { self = text.map { .string($0) } ?? .null }

  /// Creates a string in ISO 8601; `null` for nil.
  init(_ time: Timestamp?) { self = time.map { .string("\($0)") } ?? .null }

  /// Creates a string of the file and the line; `null` for nil.
  init(_ origin: EnvironmentError.Origin?) { self = origin.map { .string("\($0.file):\($0.line)") } ?? .null }

  /// Creates a number of microseconds; `null` for nil.
  init(microseconds duration: Duration?) { self = duration.map { .integer(Int($0 / .microseconds(1))) } ?? .null }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(into: &bytes)
    return bytes
  }

  private func write(into bytes: inout [UInt8]) {
    switch self {
    case .object(let members):
      Self.write(members, "{", "}", into: &bytes) { member, bytes in
        Self.string(member.0).write(into: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.1.write(into: &bytes)
      }
    case .array(let elements): Self.write(elements, "[", "]", into: &bytes) { $0.write(into: &$1) }
    case .string(let text): Self.write(text, into: &bytes)
    case .integer(let value): bytes += "\(value)".utf8
    case .number(let value): bytes += (value.isFinite ? "\(value)" : "null").utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .null: bytes += "null".utf8
    }
  }

  private static func write<Element>(
    _ elements: [Element], _ begin: Unicode.Scalar, _ end: Unicode.Scalar, into bytes: inout [UInt8],
    _ write: (Element, inout [UInt8]) -> Void
  ) {
    bytes.append(UInt8(ascii: begin))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(element, &bytes)
    }
    bytes.append(UInt8(ascii: end))
  }

  private static func write(_ text: String, into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      // Escapes `<` too, so that a text inside a script element cannot end it.
      case 0..<0x20, UInt8(ascii: "<"), 0x7F:
        let digits = String(byte, radix: 16)
        bytes += "\\u00\(digits.count < 2 ? "0" : "")\(digits)".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
