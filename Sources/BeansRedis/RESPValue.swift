/// A reply of a Redis server, in version 2 of its protocol.
enum RESPValue: Sendable, Equatable {
  case simple(String)
  /// The error of a command that the server refuses. Begins with a word in capitals: `"NOSCRIPT No matching script."`.
  case error(String)
  case integer(Int64)
  case bytes([UInt8])
  case null
  case array([RESPValue])

  /// The reply as text; nil for an error, null or an array.
  var text: String? {
    switch self {
    case .simple(let text): text
    case .bytes(let bytes): String(validating: bytes, as: UTF8.self)
    case .integer(let number): String(number)
    case .error, .null, .array: nil
    }
  }
}

extension Int64 {
  /// Reads a decimal number without a `String`. Returns nil for any other text.
  init?(digits text: ArraySlice<UInt8>) {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative || text.first == UInt8(ascii: "+") ? text.dropFirst() : text
    guard !digits.isEmpty else { return nil }
    self = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      let (shifted, isTooLarge) = multipliedReportingOverflow(by: 10)
      // A negative number is built from negative digits, because the least one has no positive counterpart.
      let value = Int64(digit - UInt8(ascii: "0"))
      let (sum, overflows) =
        isNegative ? shifted.subtractingReportingOverflow(value) : shifted.addingReportingOverflow(value)
      if isTooLarge || overflows { return nil }
      self = sum
    }
  }
}

/// An error for bytes of a server that form no reply. The connection is unusable after it.
struct RESPError: Error, Equatable, CustomStringConvertible {
  let description: String
}

/// The encoding of commands for a Redis server.
enum RESPCommand {
  /// Encodes words as an array of byte strings.
  static func encode(_ words: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(words.reduce(16) { $0 + $1.count + 16 })
    append("*", words.count, to: &bytes)
    for word in words {
      append("$", word.count, to: &bytes)
      bytes.append(contentsOf: word)
      bytes.append(contentsOf: [0x0D, 0x0A])
    }
    return bytes
  }

  private static func append(_ sign: Unicode.Scalar, _ count: Int, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: sign))
    bytes.append(contentsOf: String(count).utf8)
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
