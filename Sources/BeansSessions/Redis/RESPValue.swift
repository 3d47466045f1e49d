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
