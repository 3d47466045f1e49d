/// Decisions, taken from the bytes of an input; after its end all are 0.
struct ByteReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func below(_ limit: Int) -> Int { limit < 2 ? 0 : Int(bits(2)) % limit }

  /// A number of so many bytes.
  mutating func bits(_ bytes: Int = 8) -> UInt64 { (0..<bytes).reduce(0) { bits, _ in bits << 8 | UInt64(byte()) } }

  /// Text up to its length, which comes first.
  mutating func text() -> String {
    let count = min(Int(byte()), rest.count)
    defer { rest = rest.dropFirst(count) }
    return String(decoding: rest.prefix(count), as: UTF8.self)
  }
}
