/// The request target: `/path?query`, an absolute `http://…` URL, or `*` for `OPTIONS`.
enum HTTPTarget {
  /// `target` has passed the library's own check. Throws `400` for every other form, `host:port` of CONNECT included.
  static func parse(_ target: ArraySlice<UInt8>, method: HTTPMethod) throws(HTTPError) -> (path: String, query: String?)
  {
    if let plain = plainPath(target) { return (plain, nil) }
    // The library's lenient mode takes tabs, form feeds and raw UTF-8; fragments are for the client alone.
    guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else { throw malformed }
    if method == .options, target.elementsEqual("*".utf8) { return ("*", nil) }
    if target.first == UInt8(ascii: "/") { return try split(target) }

    // An absolute URL, as sent to a proxy, which every server must take.
    let scheme = target.prefix { $0 != UInt8(ascii: ":") }
    guard method != .connect, target[scheme.endIndex...].starts(with: "://".utf8),
      ASCII.equalIgnoringCase(scheme, "http") || ASCII.equalIgnoringCase(scheme, "https")
    else { throw malformed }
    let afterScheme = target[(scheme.endIndex + 3)...]
    let host = afterScheme.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard !host.isEmpty, unsafe host.withUnsafeBytes(HTTPAuthority.isValid) else { throw malformed }
    let rest = target[host.endIndex...]
    return try rest.first == UInt8(ascii: "/") ? split(rest) : split([UInt8(ascii: "/")] + rest)
  }

  /// The usual target in one pass: a path of visible ASCII without a query or an escape. Nil for every other.
  private static func plainPath(_ target: ArraySlice<UInt8>) -> String? {
    unsafe target.withUnsafeBufferPointer { bytes in
      guard unsafe bytes.first == UInt8(ascii: "/") else { return nil }
      for index in bytes.indices {
        switch unsafe bytes[index] {
        case UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "?"): return nil
        case 0x21..<0x7F: break
        default: return nil
        }
      }
      return unsafe String(decoding: bytes, as: UTF8.self)
    }
  }

  private static let malformed = HTTPError(.badRequest, "The request target is malformed.")

  private static func split(_ target: ArraySlice<UInt8>) throws(HTTPError) -> (path: String, query: String?) {
    let mark = target.firstIndex(of: UInt8(ascii: "?"))
    let raw = target[..<(mark ?? target.endIndex)]
    let query = mark.map { String(decoding: target[($0 + 1)...], as: UTF8.self) }
    if !raw.contains(UInt8(ascii: "%")) { return (String(decoding: raw, as: UTF8.self), query) }
    guard let path = PercentEncoding.decode(raw, in: .path) else { throw malformed }
    return (path, query)
  }
}
