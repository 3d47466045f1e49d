/// A strict decoder of chunked bodies (RFC 9112 §7.1): lines end in CR LF, CR LF follows data, sizes are plain
/// hexadecimal. Trailer fields are checked for size and dropped.
///
/// http-parser is not used for this because distributions build it in its lenient mode, in which it skips the two bytes
/// after a chunk without a check; a proxy in front would then see other message boundaries than this service.
struct ChunkedBodyDecoder {
  private enum State {
    case size
    case data(Int)
    case dataEnd
    case trailers(Int)
  }

  private var state = State.size
  private let limits: HTTPLimits
  private(set) var body: [UInt8] = []

  /// The maximum length of a size line with its extensions, which clients do not use in practice.
  private static let sizeLineLimit = 256

  init(limits: HTTPLimits) { self.limits = limits }

  /// Consumes bytes of `input` and moves `position` behind them. Returns true when the body is complete.
  mutating func decode(_ input: [UInt8], from position: inout Int) throws(HTTPError) -> Bool {
    while true {
      switch state {
      case .size:
        guard let line = try line(in: input, from: position, limit: Self.sizeLineLimit) else { return false }
        let size = try Self.size(of: input[line])
        position = line.upperBound + 2
        if size == 0 {
          state = .trailers(0)
        } else if size > limits.body - body.count {
          throw HTTPError(.contentTooLarge, "The body is too large.")
        } else {
          state = .data(size)
        }
      case .data(let missing):
        let taken = min(missing, input.count - position)
        if taken == 0 { return false }
        body.append(contentsOf: input[position..<position + taken])
        position += taken
        state = taken == missing ? .dataEnd : .data(missing - taken)
      case .dataEnd:
        if position < input.count, input[position] != ASCII.carriageReturn { throw Self.malformed }
        if position + 1 >= input.count { return false }
        if input[position + 1] != ASCII.lineFeed { throw Self.malformed }
        position += 2
        state = .size
      case .trailers(let read):
        guard let line = try line(in: input, from: position, limit: limits.head - read) else { return false }
        position = line.upperBound + 2
        if line.isEmpty { return true }
        try Self.checkTrailer(input[line])
        state = .trailers(read + line.count + 2)
      }
    }
  }

  private static let malformed = HTTPError(.badRequest, "The chunked body is malformed.")

  /// Returns the line that starts at `start`, without its CR LF; nil while it is incomplete.
  private func line(in input: [UInt8], from start: Int, limit: Int) throws(HTTPError) -> Range<Int>? {
    guard let end = input[start...].firstIndex(of: ASCII.lineFeed) else {
      if input.count - start > limit { throw tooLong }
      return nil
    }
    if end - start > limit { throw tooLong }
    guard end > start, input[end - 1] == ASCII.carriageReturn,
      !input[start..<end - 1].contains(ASCII.carriageReturn)
    else { throw Self.malformed }
    return start..<end - 1
  }

  private var tooLong: HTTPError {
    if case .trailers = state { return HTTPError(.headerFieldsTooLarge, "The trailer fields are too large.") }
    return Self.malformed
  }

  private static func size(of line: ArraySlice<UInt8>) throws(HTTPError) -> Int {
    let digits = line.prefix { ASCII.hexValue($0) != nil }
    // 15 digits cannot overflow Int, and no size near that passes the limit.
    guard (1...15).contains(digits.count) else { throw malformed }
    let rest = line[digits.endIndex...].drop(while: ASCII.isBlank)
    if let next = rest.first, next != UInt8(ascii: ";") || !rest.allSatisfy(ASCII.isFieldText) { throw malformed }
    if rest.isEmpty, digits.count != line.count { throw malformed }
    return digits.reduce(0) { $0 << 4 | Int(ASCII.hexValue($1) ?? 0) }
  }

  private static func checkTrailer(_ line: ArraySlice<UInt8>) throws(HTTPError) {
    let name = line.prefix(while: ASCII.isToken)
    let value = line[name.endIndex...]
    guard !name.isEmpty, value.first == UInt8(ascii: ":"), value.allSatisfy(ASCII.isFieldText) else { throw malformed }
  }
}
