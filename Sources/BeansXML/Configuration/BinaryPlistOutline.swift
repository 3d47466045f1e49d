import Foundation

/// A count of the values in a binary property list, made without reading them.
///
/// The objects of the list refer to each other by number. Forty objects, each of which refers to the next one twice,
/// take a hundred bytes in the file, and become more values than fit in memory when Foundation makes arrays of them.
struct BinaryPlistOutline {
  /// The maximum number of values, more than any configuration has.
  static let limit = 1_000_000
  private static let depth = 512

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let top: Int
  private let table: Int
  /// The number of values of each object; no entry for an object that has not been counted.
  private var sizes: [Int: Int] = [:]

  /// Reads the trailer. Returns nil for data that is no binary property list, or so damaged that the parser will reject
  /// it.
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

  /// Whether the expanded list contains more values than `limit`, or nests deeper than the parser allows.
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

  /// Returns the objects to which a container refers; none for a scalar, and for damaged data.
  private func references(of object: Int) -> [Int] {
    guard object < count, table < bytes.count, object < bytes.count,
      let offset = Self.number(bytes, table + object * offsetSize, offsetSize), offset < bytes.count
    else { return [] }
    let kind = bytes[offset] >> 4
    // Arrays, sets, and dictionaries, which refer to keys and values.
    guard kind == 0xA || kind == 0xC || kind == 0xD, let (length, start) = length(at: offset), length < bytes.count
    else {
      return []
    }
    return (0..<(kind == 0xD ? length * 2 : length)).compactMap { index in
      Self.number(bytes, start + index * referenceSize, referenceSize)
    }
  }

  /// Returns the number of elements of a container, and the offset of the first one.
  private func length(at offset: Int) -> (length: Int, start: Int)? {
    let short = Int(bytes[offset] & 0xF)
    if short < 0xF { return (short, offset + 1) }
    guard offset + 1 < bytes.count, bytes[offset + 1] >> 4 == 1 else { return nil }
    let size = 1 << Int(bytes[offset + 1] & 0xF)
    return Self.number(bytes, offset + 2, size).map { ($0, offset + 2 + size) }
  }

  /// Reads a number in network byte order; nil where it does not fit, or lies outside the file.
  private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int? {
    guard start >= 0, size > 0, size <= 8, start <= bytes.count - size else { return nil }
    let value = bytes[start..<start + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value)
  }
}
