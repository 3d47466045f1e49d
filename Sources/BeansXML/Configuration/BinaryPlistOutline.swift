import Foundation

/// How many values a binary property list becomes, found without reading them.
///
/// Its objects refer to each other by number. Forty of them, each of which names the next one twice, are a hundred bytes
/// in the file, and more values than any memory holds once Foundation has made arrays of them.
struct BinaryPlistOutline {
  /// More than any configuration has.
  static let limit = 1_000_000
  private static let depth = 512

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let top: Int
  private let table: Int
  /// By object; nil where it has not been counted.
  private var sizes: [Int: Int] = [:]

  /// nil for what is no binary list, or so damaged that the parser will refuse it.
  init?(_ data: Data) {
    bytes = [UInt8](data)
    let trailer = bytes.count - 32
    guard bytes.starts(with: "bplist".utf8), trailer >= 8 else { return nil }
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard let count = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
      let table = Self.number(bytes, trailer + 24, 8)
    else { return nil }
    (self.count, self.top, self.table) = (count, top, table)
  }

  /// Whether following every reference meets more values than `limit`, or nests deeper than the parser goes.
  mutating func isTooLarge() -> Bool { size(of: top, depth: 0) > Self.limit }

  private mutating func size(of object: Int, depth: Int) -> Int {
    if let known = sizes[object] { return known }
    guard depth < Self.depth else { return Self.limit + 1 }
    var size = 1
    for reference in references(of: object) {
      size += self.size(of: reference, depth: depth + 1)
      if size > Self.limit { break }
    }
    sizes[object] = size
    return size
  }

  /// The objects that a container names; none for a scalar, and for what is damaged.
  private func references(of object: Int) -> [Int] {
    guard object < count, table < bytes.count, object < bytes.count,
      let offset = Self.number(bytes, table + object * offsetSize, offsetSize), offset < bytes.count
    else { return [] }
    let kind = bytes[offset] >> 4
    // Arrays, sets, and dictionaries, which name keys and values.
    guard kind == 0xA || kind == 0xC || kind == 0xD, let (length, start) = length(at: offset), length < bytes.count
    else {
      return []
    }
    return (0..<(kind == 0xD ? length * 2 : length)).compactMap { index in
      Self.number(bytes, start + index * referenceSize, referenceSize)
    }
  }

  /// How many elements a container has, and where they begin.
  private func length(at offset: Int) -> (length: Int, start: Int)? {
    let short = Int(bytes[offset] & 0xF)
    if short < 0xF { return (short, offset + 1) }
    guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 1 else { return nil }
    let size = 1 << Int(bytes[offset + 1] & 0xF)
    return Self.number(bytes, offset + 2, size).map { ($0, offset + 2 + size) }
  }

  /// A number in network order; nil where it does not fit, or is not in the file.
  private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard start >= 0, size > 0, size <= 8, start <= bytes.count - size else { return nil }
    let value = bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value)
  }
}
