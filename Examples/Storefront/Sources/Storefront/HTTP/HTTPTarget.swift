/// The request target: `/path?query`, an absolute `http://…` URL, or `*` for `OPTIONS`.
struct HTTPTarget {
  /// The host of an absolute URL, with its port if the URL names one; nil in the other forms.
  private(set) var authority: String?
  /// The path, percent-decoded except for `%2F`.
  let path: String
  /// The query as sent, without the `?`; nil if there was none.
  let query: String?

  private init(path: String, query: String? = nil) {
    self.path = path
    self.query = query
  }

  /// Parses `target`, which has passed the library's own check. Throws `400` for every other form, including
  /// `host:port` of CONNECT.
  init(_ target: ArraySlice<UInt8>, method: HTTPMethod) throws(HTTPError) {
    if let plain = Self.plainPath(target) {
      self.init(path: plain)
      return
    }
    // The library's lenient mode accepts tabs, form feeds and raw UTF-8; fragments are for the client alone.
    guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else { throw Self.malformed }
    if method == .options, target.elementsEqual("*".utf8) {
      self.init(path: "*")
      return
    }
    if target.first == UInt8(ascii: "/") {
      try self.init(splitting: target)
      return
    }

    // An absolute URL, as sent to a proxy, which every server must accept.
    let scheme = target.prefix { $0 != UInt8(ascii: ":") }
    guard method != .connect, target[scheme.endIndex...].starts(with: "://".utf8),
      ASCII.equalIgnoringCase(scheme, "http") || ASCII.equalIgnoringCase(scheme, "https")
    else { throw Self.malformed }
    let afterScheme = target[(scheme.endIndex + 3)...]
    let host = afterScheme.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard !host.isEmpty, unsafe host.withUnsafeBytes(HTTPAuthority.isValid) else { throw Self.malformed }
    let rest = target[host.endIndex...]
    try self.init(splitting: rest.first == UInt8(ascii: "/") ? rest : [UInt8(ascii: "/")] + rest)
    authority = String(decoding: host, as: UTF8.self)
  }

  /// Returns the path of the usual target in one pass: visible ASCII without a query or an escape. Returns nil for
  /// every other target.
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

  private init(splitting target: ArraySlice<UInt8>) throws(HTTPError) {
    let mark = target.firstIndex(of: UInt8(ascii: "?"))
    let raw = target[..<(mark ?? target.endIndex)]
    let query = mark.map { String(decoding: target[($0 + 1)...], as: UTF8.self) }
    if !raw.contains(UInt8(ascii: "%")) {
      self.init(path: String(decoding: raw, as: UTF8.self), query: query)
      return
    }
    guard let path = PercentEncoding.decode(raw, in: .path) else { throw Self.malformed }
    self.init(path: path, query: query)
  }
}
