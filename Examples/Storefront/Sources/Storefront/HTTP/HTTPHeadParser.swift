import CHTTPParser

/// A request without its body.
struct HTTPRequestHead {
  enum Framing: Equatable {
    case length(Int)
    case chunked
  }

  var method: HTTPMethod
  var target: HTTPTarget
  var headers: HTTPHeaders
  var keepAlive: Bool
  /// Whether the client speaks HTTP/1.0.
  var isOld: Bool
  var framing: Framing
  /// Whether the client waits for `100 Continue` before it sends the body.
  var expectsContinue: Bool
}

/// Parses a complete request head with the http-parser library, and refuses invalid heads that the library accepts.
///
/// The library gets the whole head at once, so its state lives on the stack for the length of one call and no address
/// is kept. Its callbacks only record offsets; they cannot fail, and no error unwinds through C.
///
/// Distributions build the library in its lenient mode. Checked here therefore: spaces in field names, folded lines,
/// control characters at the beginning of values, control and non-ASCII characters in the target, and (by
/// `HTTPRequestParser`) line ends. This parser also decides itself whether the connection stays open: the library takes
/// `Proxy-Connection` for `Connection`, and `keep-alive, close` of HTTP/1.0 for `keep-alive`.
enum HTTPHeadParser {
  /// The positions that the library has found. Offsets are relative to the head's first byte.
  @safe private struct Notes {
    let base: UnsafePointer<CChar>
    /// The space for one field a line; the first `count` fields are in use.
    let fields: UnsafeMutableBufferPointer<HTTPHeaders.Field>
    var count = 0
    var target: Range<Int>?
    var foldedLine = false
    var headersComplete = false
    var contentLength: UInt64 = .max
    var chunked = false

    func range(_ start: UnsafePointer<CChar>, _ length: Int) -> Range<Int> {
      let offset = unsafe start - base
      return offset..<offset + length
    }

    static func of(_ parser: UnsafeMutablePointer<http_parser>) -> UnsafeMutablePointer<Notes>? {
      unsafe parser.pointee.data?.assumingMemoryBound(to: Notes.self)
    }
  }

  /// The callbacks of the library. Written once, at the first use, and only read after it: that protects the pointer.
  nonisolated(unsafe) private static let settings: UnsafePointer<http_parser_settings> = {
    let settings = UnsafeMutablePointer<http_parser_settings>.allocate(capacity: 1)
    unsafe http_parser_settings_init(settings)
    unsafe settings.pointee.on_url = { parser, start, length in
      guard let parser = unsafe parser, let start = unsafe start, let notes = unsafe Notes.of(parser) else { return 1 }
      unsafe notes.pointee.target = unsafe notes.pointee.range(start, length)
      return 0
    }
    unsafe settings.pointee.on_header_field = { parser, start, length in
      guard let parser = unsafe parser, let start = unsafe start, let notes = unsafe Notes.of(parser),
        unsafe notes.pointee.count < notes.pointee.fields.count
      else {
        return 1
      }
      let name = unsafe notes.pointee.range(start, length)
      unsafe notes.pointee.fields[notes.pointee.count] = HTTPHeaders.Field(
        nameStart: UInt32(name.lowerBound), nameEnd: UInt32(name.upperBound), valueStart: UInt32(name.upperBound),
        valueEnd: UInt32(name.upperBound))
      unsafe notes.pointee.count += 1
      return 0
    }
    unsafe settings.pointee.on_header_value = { parser, start, length in
      guard let parser = unsafe parser, let start = unsafe start, let notes = unsafe Notes.of(parser),
        unsafe notes.pointee.count > 0
      else { return 1 }
      let last = unsafe notes.pointee.count - 1
      let value = unsafe notes.pointee.range(start, length)
      // The library gets the head in one piece, so a second value for one name can only be a folded line.
      if unsafe notes.pointee.fields[last].valueEnd != notes.pointee.fields[last].nameEnd {
        unsafe notes.pointee.foldedLine = true
      }
      unsafe notes.pointee.fields[last].valueStart = UInt32(value.lowerBound)
      unsafe notes.pointee.fields[last].valueEnd = UInt32(value.upperBound)
      return 0
    }
    unsafe settings.pointee.on_headers_complete = { parser in
      guard let parser = unsafe parser, let notes = unsafe Notes.of(parser) else { return -1 }
      unsafe notes.pointee.headersComplete = true
      unsafe notes.pointee.contentLength = unsafe parser.pointee.content_length
      unsafe notes.pointee.chunked = unsafe parser.pointee.flags & F_CHUNKED.rawValue != 0
      // A server may ignore an offer to change the protocol; the library would stop reading the message.
      unsafe parser.pointee.upgrade = 0
      return 0
    }
    return unsafe UnsafePointer(settings)
  }()

  /// Parses a head. `bytes` contains exactly the request line, the fields and the empty line; `lines` is their number.
  static func parse(_ bytes: [UInt8], lines: Int, limits: HTTPLimits) throws(HTTPError) -> HTTPRequestHead {
    var library = unsafe http_parser()
    unsafe http_parser_init(&library, HTTP_REQUEST)
    var found: Notes?
    var fields = [HTTPHeaders.Field](repeating: HTTPHeaders.Field(), count: lines)
    unsafe fields.withUnsafeMutableBufferPointer { room in
      found = unsafe bytes.withUnsafeBytes { bytes in
        guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
        var notes = unsafe Notes(base: base, fields: room)
        unsafe withUnsafeMutablePointer(to: &notes) { pointer in
          unsafe library.data = UnsafeMutableRawPointer(pointer)
          _ = unsafe http_parser_execute(&library, settings, base, bytes.count)
          unsafe library.data = nil
        }
        unsafe trimValues(notes, in: bytes)
        return notes
      }
    }
    fields.removeLast(lines - (found?.count ?? 0))
    let failure = unsafe http_errno(rawValue: UInt32(library.http_errno))
    guard failure == HPE_OK, let notes = found, notes.headersComplete, let target = notes.target else {
      throw error(failure, bytes)
    }
    guard unsafe library.http_major == 1 else {
      throw HTTPError(.versionNotSupported, "Only HTTP/1.0 and HTTP/1.1 are served.")
    }
    // The library also accepts the protocol of Icecast.
    guard bytes[target.upperBound...].first(where: { $0 != ASCII.space }) == UInt8(ascii: "H") else {
      throw HTTPError(.badRequest, "The HTTP version is malformed.")
    }
    if fields.count > limits.fields {
      throw HTTPError(.headerFieldsTooLarge, "There are too many header fields.")
    }
    if notes.foldedLine { throw HTTPError(.badRequest, "A header field is folded over several lines.") }

    let headers = HTTPHeaders(bytes: bytes, fields: fields)
    let special = headers.special()
    if special.namesWithSpace > 0 { throw HTTPError(.badRequest, "A header field's name contains a space.") }
    if special.valuesWithControl > 0 {
      throw HTTPError(.badRequest, "A header field's value begins with a control character.")
    }
    let method = unsafe HTTPMethod(code: library.method)
    let parsedTarget = try HTTPTarget(bytes[target], method: method)
    let isOld = unsafe library.http_minor == 0
    if special.hosts > 1 || special.hosts == 0 && !isOld {
      throw HTTPError(.badRequest, "There must be exactly one Host field.")
    }
    if special.invalidHosts > 0 { throw HTTPError(.badRequest, "The Host field is malformed.") }
    return HTTPRequestHead(
      method: method, target: parsedTarget, headers: headers,
      keepAlive: !special.close && (special.keepAlive || !isOld), isOld: isOld,
      framing: try framing(notes, headers, special, isOld: isOld, limits: limits),
      expectsContinue: try expectsContinue(headers, special, isOld: isOld))
  }

  /// Cuts the white space behind values.
  private static func trimValues(_ notes: Notes, in bytes: UnsafeRawBufferPointer) {
    for index in 0..<notes.count {
      let field = unsafe notes.fields[index]
      var end = field.valueEnd
      while end > field.valueStart, unsafe ASCII.isBlank(bytes[Int(end) - 1]) { end -= 1 }
      unsafe notes.fields[index].valueEnd = end
    }
  }

  private static func framing(
    _ notes: Notes, _ headers: HTTPHeaders, _ special: HTTPHeaders.Special, isOld: Bool, limits: HTTPLimits
  ) throws(HTTPError) -> HTTPRequestHead.Framing {
    if special.transferCodings > 0 {
      // Only the coding that every server supports is accepted: a proxy in front could read any other one differently.
      guard notes.chunked, special.transferCodings == 1, headers.has("Transfer-Encoding", equalTo: "chunked"), !isOld,
        special.contentLengths == 0
      else { throw HTTPError(.badRequest, "The transfer coding is not supported.") }
      return .chunked
    }
    if special.contentLengths > 1 {
      throw HTTPError(.badRequest, "There is more than one Content-Length field.")
    }
    if notes.contentLength == .max { return .length(0) }
    guard let length = Int(exactly: notes.contentLength) else {
      throw HTTPError(.badRequest, "The Content-Length field is out of range.")
    }
    if length > limits.body { throw HTTPError(.contentTooLarge, "The body is too large.") }
    return .length(length)
  }

  private static func expectsContinue(
    _ headers: HTTPHeaders, _ special: HTTPHeaders.Special, isOld: Bool
  ) throws(HTTPError) -> Bool {
    if special.expectations == 0 || isOld { return false }
    if headers.has("Expect", equalTo: "100-continue") { return true }
    throw HTTPError(.expectationFailed, "The expectation is not supported.")
  }

  private static func error(_ failure: http_errno, _ bytes: [UInt8]) -> HTTPError {
    switch failure {
    case HPE_INVALID_METHOD where hasRequestLine(bytes): HTTPError(.notImplemented, "The method is not implemented.")
    case HPE_HEADER_OVERFLOW: HTTPError(.headerFieldsTooLarge, "The header fields are too large.")
    case HPE_INVALID_METHOD: HTTPError(.badRequest, "The method is malformed.")
    case HPE_INVALID_VERSION: HTTPError(.badRequest, "The HTTP version is malformed.")
    case HPE_UNEXPECTED_CONTENT_LENGTH: HTTPError(.badRequest, "The length of the body is ambiguous.")
    case HPE_INVALID_CONTENT_LENGTH: HTTPError(.badRequest, "The Content-Length field is malformed.")
    case HPE_INVALID_TRANSFER_ENCODING: HTTPError(.badRequest, "The transfer coding is not supported.")
    case HPE_INVALID_HEADER_TOKEN: HTTPError(.badRequest, "A header field is malformed.")
    case HPE_INVALID_URL, HPE_INVALID_HOST, HPE_INVALID_PORT: HTTPError(.badRequest, "The request target is malformed.")
    default: HTTPError(.badRequest, "The request is malformed.")
    }
  }

  /// Whether the first line is `method target HTTP/1.x`, with any token for a method.
  private static func hasRequestLine(_ bytes: [UInt8]) -> Bool {
    let parts = bytes.prefix { $0 != ASCII.carriageReturn }
      .split(separator: ASCII.space, omittingEmptySubsequences: false)
    return parts.count == 3 && !parts[0].isEmpty && parts[0].allSatisfy(ASCII.isToken) && !parts[1].isEmpty
      && parts[2].starts(with: "HTTP/1.".utf8)
  }
}
