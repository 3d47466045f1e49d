/// A parser for replies of a Redis server, from bytes that arrive in pieces.
///
/// The parser does not trust the server: a reply that would take more memory than the limits is an error. The limits
/// apply to a reply as a whole, summed over the arrays inside it.
struct RESPParser {
  /// The limits of a reply.
  struct Limits {
    /// Bytes of all strings and lines together.
    var bytes = 64 << 20
    /// Elements of all arrays of a reply together.
    var elements = 1 << 20
    /// The depth of nested arrays.
    var depth = 16
    /// Bytes of a line, such as an error.
    var line = 1 << 16
  }

  /// An array whose elements have arrived only in part.
  private struct Partial {
    let count: Int
    var elements: [RESPValue] = []
  }

  private enum Item {
    case value(RESPValue)
    case array(count: Int)
  }

  private let limits: Limits
  private var buffer: [UInt8] = []
  /// The index of the first unread byte.
  private var start = 0
  private var open: [Partial] = []
  /// The number of elements of the reply so far. An array adds its elements when it begins.
  private var elements = 0
  /// The number of bytes of the reply's strings and lines so far.
  private var bytes = 0

  init(limits: Limits = Limits()) { self.limits = limits }

  /// Whether a part of a reply has arrived, but not all of it.
  var hasPart: Bool { !open.isEmpty || start < buffer.count }

  /// Appends bytes that have arrived.
  mutating func append(_ bytes: some Sequence<UInt8>) {
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= 1 << 18)
      start = 0
    } else if start > 1 << 16 {
      buffer.removeFirst(start)
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Returns the next reply; nil where it has not arrived as a whole.
  mutating func next() throws(RESPError) -> RESPValue? {
    while let item = try readItem() {
      guard var value = try complete(item) else { continue }
      // The value may be the last element of arrays.
      while var partial = open.popLast() {
        partial.elements.append(value)
        if partial.elements.count < partial.count {
          open.append(partial)
          break
        }
        value = .array(partial.elements)
        if open.isEmpty { return finish(value) }
      }
      if open.isEmpty { return finish(value) }
    }
    if start == buffer.count, buffer.capacity > 1 << 18 { (buffer, start) = ([], 0) }
    return nil
  }

  private mutating func finish(_ value: RESPValue) -> RESPValue {
    (elements, bytes) = (0, 0)
    return value
  }

  /// Returns the value of an item; nil where the item begins an array.
  private mutating func complete(_ item: Item) throws(RESPError) -> RESPValue? {
    switch item {
    case .value(let value): return value
    case .array(count: 0): return .array([])
    case .array(let count):
      elements += count
      guard elements <= limits.elements, open.count < limits.depth else {
        throw RESPError(description: "a reply has more elements than it may have")
      }
      open.append(Partial(count: count))
      return nil
    }
  }

  /// Reads the next item. Returns nil where it has not arrived as a whole; nothing is consumed then.
  private mutating func readItem() throws(RESPError) -> Item? {
    guard let (line, end) = try findLine() else { return nil }
    guard let kind = line.first else { throw RESPError(description: "a reply begins with an empty line") }
    let rest = line.dropFirst()
    switch kind {
    case UInt8(ascii: "+"):
      return .value(.simple(try text(rest, until: end)))
    case UInt8(ascii: "-"):
      return .value(.error(try text(rest, until: end)))
    case UInt8(ascii: ":"):
      start = end
      return .value(.integer(try Self.number(rest)))
    case UInt8(ascii: "$"):
      return try readBytes(count: Self.number(rest), from: end)
    case UInt8(ascii: "*"):
      let count = try Self.number(rest)
      guard count >= -1, count <= limits.elements else {
        throw RESPError(description: "a reply has more elements than it may have")
      }
      start = end
      return count < 0 ? .value(.null) : .array(count: Int(count))
    default:
      throw RESPError(description: "a reply begins with the byte \(kind)")
    }
  }

  private mutating func text(_ line: ArraySlice<UInt8>, until end: Int) throws(RESPError) -> String {
    guard line.count <= limits.bytes - bytes else {
      throw RESPError(description: "a reply has more bytes than it may have")
    }
    start = end
    bytes += line.count
    return String(decoding: line, as: UTF8.self)
  }

  private mutating func readBytes(count: Int64, from begin: Int) throws(RESPError) -> Item? {
    guard count >= -1, count <= limits.bytes - bytes else {
      throw RESPError(description: "a reply has more bytes than it may have")
    }
    if count < 0 {
      start = begin
      return .value(.null)
    }
    let end = begin + Int(count)
    guard buffer.count >= end + 2 else { return nil }
    guard buffer[end] == 0x0D, buffer[end + 1] == 0x0A else {
      throw RESPError(description: "a string of a reply does not end where it should")
    }
    start = end + 2
    bytes += Int(count)
    return .value(.bytes(Array(buffer[begin..<end])))
  }

  /// Returns the line that begins at `start`, without its end, and the index of the next line.
  private func findLine() throws(RESPError) -> (line: ArraySlice<UInt8>, end: Int)? {
    let rest = buffer[start...].prefix(limits.line + 2)
    guard let feed = rest.firstIndex(of: 0x0A) else {
      if rest.count == limits.line + 2 { throw RESPError(description: "a line of a reply does not end") }
      return nil
    }
    guard feed > start, buffer[feed - 1] == 0x0D else {
      throw RESPError(description: "a line of a reply does not end as it should")
    }
    return (buffer[start..<feed - 1], feed + 1)
  }

  private static func number(_ digits: ArraySlice<UInt8>) throws(RESPError) -> Int64 {
    guard let number = Int64(digits: digits) else {
      throw RESPError(description: "a reply has no number where it needs one")
    }
    return number
  }
}
