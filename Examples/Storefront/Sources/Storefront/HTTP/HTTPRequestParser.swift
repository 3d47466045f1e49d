import Glibc

/// An incremental parser for one connection, from bytes to complete requests.
///
/// Pulling (`append`, then `next` until nil) lets the connection stop between two pipelined requests, so that one
/// client cannot have more requests in flight than the server allows. Not `Sendable`: belongs to the connection's loop
/// thread. After `next` has thrown, the parser accepts no more bytes: the start of the next message is unknown.
final class HTTPRequestParser {
  /// The part of a request that has arrived so far.
  enum Progress: Equatable {
    /// No byte: between two requests.
    case idle
    /// Some bytes of the head.
    case head
    /// The head, and perhaps some of the body.
    case body
  }

  /// The state, which is indirect, so that a read of it copies a reference and not a whole head.
  private indirect enum State {
    case head
    case body(HTTPRequestHead, length: Int)
    case chunked(HTTPRequestHead, ChunkedBodyDecoder)
    case failed(HTTPError, isHead: Bool)
  }

  private let limits: HTTPLimits
  // No callback runs while one of these properties changes, see `HTTPConnection`.
  @exclusivity(unchecked) private var state = State.head
  @exclusivity(unchecked) private var buffer: [UInt8] = []
  /// The index of the first byte that belongs to no request yet.
  @exclusivity(unchecked) private var position = 0
  /// The start of the line that is still incomplete. `searched` is the end of the bytes that have been searched for its
  /// end.
  @exclusivity(unchecked) private var lineStart = 0
  @exclusivity(unchecked) private var searched = 0
  /// The number of complete lines of the head so far.
  @exclusivity(unchecked) private var lines = 0
  @exclusivity(unchecked) private var continueWanted = false

  init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

  var progress: Progress {
    switch unsafe state {
    case .head: unsafe position == buffer.count ? .idle : .head
    case .body, .chunked: .body
    case .failed: .idle
    }
  }

  /// The number of bytes that have arrived and are not yet part of a complete request.
  var waitingBytes: Int {
    var bytes = unsafe buffer.count - position
    if case .chunked(_, let decoder) = unsafe state { bytes += decoder.body.count }
    return bytes
  }

  /// Drops all received bytes; `next` throws `error` from now on.
  func giveUp(_ error: HTTPError) {
    unsafe state = .failed(error, isHead: isHead)
    unsafe buffer = []
    unsafe (position, lineStart, searched, continueWanted) = (0, 0, 0, false)
  }

  /// Appends the bytes. `next()` parses them.
  func append(_ bytes: some Collection<UInt8>) {
    if case .failed = unsafe state { return }
    dropTaken()
    unsafe buffer.append(contentsOf: bytes)
  }

  /// Appends the bytes, which need to be valid during the call only.
  func append(_ bytes: UnsafeRawBufferPointer) {
    unsafe bytes.withMemoryRebound(to: UInt8.self) { unsafe append($0) }
  }

  /// Returns the next complete request; nil until more bytes arrive.
  func next() throws(HTTPError) -> HTTPRequest? {
    do {
      return try advance()
    } catch {
      giveUp(error)
      throw error
    }
  }

  /// Whether the partly received or refused request is a HEAD: its response has no body.
  var isHead: Bool {
    switch unsafe state {
    case .head: unsafe buffer[position...].starts(with: "HEAD ".utf8)
    case .body(let head, _), .chunked(let head, _): head.method == .head
    case .failed(_, let isHead): isHead
    }
  }

  /// Whether the client of a request waits for `100 Continue`; true once for each request. To be called when `next()`
  /// has returned nil.
  func takeContinue() -> Bool {
    defer { unsafe continueWanted = false }
    return unsafe continueWanted
  }

  private func advance() throws(HTTPError) -> HTTPRequest? {
    if case .failed(let error, _) = unsafe state { throw error }
    if case .head = unsafe state {
      guard let end = try findHeadEnd() else { return nil }
      let bytes = unsafe buffer.withUnsafeBufferPointer {
        unsafe Array(UnsafeBufferPointer(rebasing: $0[position..<end]))
      }
      let head = try unsafe HTTPHeadParser.parse(bytes, lines: lines, limits: limits)
      setPosition(end)
      if head.framing == .length(0) { return request(head, body: []) }
      // Without a byte of the body here, the client may be waiting; with one, it is not.
      unsafe continueWanted = unsafe head.expectsContinue && position == buffer.count
      switch head.framing {
      case .length(let length): unsafe state = .body(head, length: length)
      case .chunked: unsafe state = .chunked(head, ChunkedBodyDecoder(limits: limits))
      }
    }
    return try takeBody()
  }

  private func takeBody() throws(HTTPError) -> HTTPRequest? {
    switch unsafe state {
    case .body(let head, let length):
      guard unsafe buffer.count - position >= length else { return nil }
      let body = unsafe Array(buffer[position..<position + length])
      unsafe setPosition(position + length)
      unsafe state = .head
      return request(head, body: body)
    case .chunked(let head, var decoder):
      // Taken out of the state while the decoder works, so that its body is not copied.
      unsafe state = .head
      var end = unsafe position
      let complete: Bool
      do throws(HTTPError) {
        complete = try unsafe decoder.decode(buffer, from: &end)
      } catch {
        unsafe state = .chunked(head, decoder)
        throw error
      }
      setPosition(end)
      if complete { return request(head, body: decoder.body) }
      unsafe state = .chunked(head, decoder)
      return nil
    case .head, .failed:
      return nil
    }
  }

  private func request(_ head: HTTPRequestHead, body: [UInt8]) -> HTTPRequest {
    unsafe continueWanted = false
    return HTTPRequest(
      method: head.method, authority: head.target.authority, path: head.target.path, query: head.target.query,
      headers: head.headers, body: body, keepAlive: head.keepAlive, isOld: head.isOld)
  }

  private func setPosition(_ newPosition: Int) {
    unsafe (position, lineStart, searched, lines) = (newPosition, newPosition, newPosition, 0)
  }

  /// Returns the index behind the empty line that ends the head; nil until it arrives. Continues at the end of the last
  /// search, so that a head which arrives byte by byte is read once, not once a byte.
  private func findHeadEnd() throws(HTTPError) -> Int? {
    while let lineFeed = unsafe first(ASCII.lineFeed, in: searched..<buffer.count) {
      // This check comes first: a line that arrives in pieces is refused before its end has arrived.
      if unsafe lineStart == position, unsafe lineFeed - lineStart > limits.requestLine + 1 { throw Self.lineTooLong }
      if unsafe lineFeed - position >= limits.head { throw Self.headTooLarge }
      guard unsafe lineFeed > lineStart, unsafe buffer[lineFeed - 1] == ASCII.carriageReturn else {
        throw HTTPError(.badRequest, "A line does not end in CR LF.")
      }
      let line = unsafe lineStart..<lineFeed - 1
      // http-parser's lenient mode takes a CR at the start of a line, and any byte after it, for the end of the head.
      if first(ASCII.carriageReturn, in: line) != nil {
        throw HTTPError(.badRequest, "A line holds a carriage return.")
      }
      if unsafe lineStart == position {
        if line.isEmpty {
          // An empty line before a request line is to be ignored: old clients send one after a form.
          setPosition(lineFeed + 1)
          continue
        }
      } else if let first = unsafe buffer[line].first, ASCII.isBlank(first) {
        throw HTTPError(.badRequest, "A header field is folded over several lines.")
      } else {
        // Behind a length, http-parser takes spaces for white space, but not tabs.
        var end = line.upperBound
        while end > line.lowerBound, unsafe ASCII.isBlank(buffer[end - 1]) {
          end -= 1
          unsafe buffer[end] = ASCII.space
        }
      }
      unsafe (lineStart, searched, lines) = unsafe (lineFeed + 1, lineFeed + 1, lines + 1)
      if line.isEmpty { return unsafe lineStart }
    }
    unsafe searched = unsafe buffer.count
    if unsafe lineStart == position, unsafe buffer.count - position > limits.requestLine + 1 {
      throw Self.lineTooLong
    }
    if unsafe buffer.count - position > limits.head { throw Self.headTooLarge }
    return nil
  }

  private func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
    unsafe buffer.withUnsafeBytes { bytes in
      guard !range.isEmpty, let base = bytes.baseAddress else { return nil }
      return unsafe memchr(base + range.lowerBound, Int32(byte), range.count).map { unsafe UnsafeRawPointer($0) - base }
    }
  }

  private static let lineTooLong = HTTPError(.uriTooLong, "The request line is too long.")
  private static let headTooLarge = HTTPError(.headerFieldsTooLarge, "The header fields are too large.")

  /// Frees the memory of consumed bytes.
  private func dropTaken() {
    guard unsafe position > 0 else { return }
    let taken = unsafe position
    if unsafe taken == buffer.count {
      // A large body must not leave its buffer with a connection that may then idle for long.
      unsafe buffer.removeAll(keepingCapacity: buffer.capacity <= 64 * 1024)
    } else if taken >= 4096 {
      unsafe buffer.removeSubrange(..<taken)
    } else {
      return
    }
    unsafe (position, lineStart, searched) = unsafe (position - taken, lineStart - taken, searched - taken)
  }
}
