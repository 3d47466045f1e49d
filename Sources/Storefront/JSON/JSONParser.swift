/// Reads one JSON text (RFC 8259). Strict: no comments, no trailing commas, UTF-8 only.
struct JSONParser {
  /// Where the text is malformed, as an offset in bytes.
  struct Failure: Error, Equatable {
    let offset: Int
  }

  /// Nesting beyond this is refused, so that a hostile text cannot exhaust the stack.
  private static let maximumDepth = 32

  private let bytes: [UInt8]
  private var position = 0

  static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    var parser = JSONParser(bytes: bytes)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.failure }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var failure: Failure { Failure(offset: position) }
  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func value(depth: Int) throws(Failure) -> JSONValue {
    guard depth < Self.maximumDepth else { throw failure }
    skipSpace()
    switch current {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func object(depth: Int) throws(Failure) -> JSONValue {
    var fields: [String: JSONValue] = [:]
    position += 1
    skipSpace()
    if take("}") { return .object(fields) }
    while true {
      skipSpace()
      guard current == UInt8(ascii: "\"") else { throw failure }
      let name = try string()
      skipSpace()
      guard take(":") else { throw failure }
      fields[name] = try value(depth: depth + 1)
      skipSpace()
      if take("}") { return .object(fields) }
      guard take(",") else { throw failure }
    }
  }

  private mutating func array(depth: Int) throws(Failure) -> JSONValue {
    var elements: [JSONValue] = []
    position += 1
    skipSpace()
    if take("]") { return .array(elements) }
    while true {
      elements.append(try value(depth: depth + 1))
      skipSpace()
      if take("]") { return .array(elements) }
      guard take(",") else { throw failure }
    }
  }

  private mutating func string() throws(Failure) -> String {
    position += 1
    var text: [UInt8] = []
    while let byte = current {
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else { throw failure }
        position += 1
        return string
      case UInt8(ascii: "\\"):
        position += 1
        try escape(into: &text)
      case 0..<0x20:
        throw failure
      default:
        text.append(byte)
        position += 1
      }
    }
    throw failure
  }

  private mutating func escape(into text: inout [UInt8]) throws(Failure) {
    guard let byte = current else { throw failure }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "u"):
      var code = try fourDigits()
      if code & 0xFC00 == 0xD800 {
        guard take("\\"), take("u"), case let low = try fourDigits(), low & 0xFC00 == 0xDC00 else { throw failure }
        code = 0x10000 + (code & 0x3FF) << 10 + (low & 0x3FF)
      }
      guard let scalar = Unicode.Scalar(code) else { throw failure }
      text.append(contentsOf: String(scalar).utf8)
    default:
      throw failure
    }
  }

  private mutating func fourDigits() throws(Failure) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = current.flatMap(ASCII.hexValue) else { throw failure }
      code = code << 4 | UInt32(digit)
      position += 1
    }
    return code
  }

  private mutating func number() throws(Failure) -> JSONValue {
    let start = position
    _ = take("-")
    if take("0") {
      // No digit may follow a leading zero.
    } else {
      try digits()
    }
    var isInteger = true
    if take(".") {
      isInteger = false
      try digits()
    }
    if take("e") || take("E") {
      isInteger = false
      if !take("-") { _ = take("+") }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else { throw failure }
    return .number(number)
  }

  private mutating func digits() throws(Failure) {
    let start = position
    while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    if position == start { throw failure }
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(Failure) -> JSONValue {
    guard bytes[position...].starts(with: word.utf8) else { throw failure }
    position += word.utf8.count
    return value
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }
}
