import BeansLogging

/// A complete request. Immutable, so it may be passed to any thread.
public final class HTTPRequest: Sendable {
  /// The id in the log.
  let id = RequestId()
  /// The method of the request line.
  public let method: HTTPMethod
  /// The host that an absolute target names; nil for a target without one.
  private let targetAuthority: String?
  /// The path, percent-decoded except for `%2F`; always begins with `/`, or is `*` for `OPTIONS *`.
  public let path: String
  /// The query as sent, without the `?`; nil if there was none.
  let query: String?
  let headers: HTTPHeaders
  /// The body after chunked decoding.
  public let body: [UInt8]
  /// Whether the client lets the connection stay open after the response.
  let keepAlive: Bool
  /// Whether the client speaks HTTP/1.0.
  let isOld: Bool

  init(
    method: HTTPMethod, authority: String? = nil, path: String, query: String? = nil,
    headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], keepAlive: Bool = true, isOld: Bool = false
  ) {
    self.method = method
    targetAuthority = authority
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.keepAlive = keepAlive
    self.isOld = isOld
  }

  /// The host that the request is sent to, with its port if one is named; nil if an HTTP/1.0 client names none.
  ///
  /// The host of an absolute target, or else of the `Host` field, which an absolute target overrides (RFC 9112 §3.2.2).
  var authority: String? { targetAuthority ?? headers["Host"] }

  /// Returns the value of the last cookie of that name; names are compared exactly.
  ///
  /// The last one is used because browsers send cookies for longer paths first, and a neighbouring host may have set
  /// such a cookie.
  public func cookie(_ name: String) -> String? {
    headers.lastValue("Cookie") { value in
      for pair in value.split(separator: UInt8(ascii: ";")).reversed() {
        let pair = pair.drop(while: ASCII.isBlank)
        guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), pair[..<equals].elementsEqual(name.utf8) else {
          continue
        }
        var cookie = pair[(equals + 1)...]
        while let last = cookie.last, ASCII.isBlank(last) { cookie.removeLast() }
        if cookie.count >= 2, cookie.first == UInt8(ascii: "\""), cookie.last == UInt8(ascii: "\"") {
          cookie = cookie.dropFirst().dropLast()
        }
        return String(decoding: cookie, as: UTF8.self)
      }
      return nil
    }
  }

  /// The metadata of the log entries of the request.
  var logMetadata: LogMetadata { ["request": "\(id)"] }

  /// Whether the method may do more than read (RFC 9110 §9.2.1).
  var mayChangeSomething: Bool { method != .get && method != .head && method != .options }

  /// Whether a page of another site has sent the request, according to the browser (`Sec-Fetch-Site`, or else
  /// `Origin`).
  ///
  /// False for clients that send neither field, which are no browsers.
  var isFromAnotherSite: Bool {
    if let site = headers["Sec-Fetch-Site"] { return site != "same-origin" && site != "none" }
    guard let origin = headers["Origin"] else { return false }
    // The scheme is not compared: behind a proxy that ends TLS it differs.
    guard let scheme = ["http://", "https://"].first(where: origin.hasPrefix) else { return true }
    return origin.dropFirst(scheme.count).lowercased() != authority?.lowercased()
  }

  /// Whether the request names this machine as its host, or no host.
  ///
  /// A page whose name resolves to this machine for the moment sends its own name.
  var namesThisMachine: Bool {
    guard let host = authority?.lowercased() else { return true }
    return ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
  }

  /// Returns the fields of the query. Throws `400` if an escape is malformed.
  func queryFields() throws(HTTPError) -> FormFields { try FormFields((query ?? "").utf8) }

  /// The media type of the body in lower case, without parameters; nil if none was sent.
  var contentType: String? {
    headers.firstValue("Content-Type") { value in
      let type = value.prefix { $0 != UInt8(ascii: ";") && $0 != ASCII.space && $0 != ASCII.tab }
      return String(decoding: type.map(ASCII.lowercased), as: UTF8.self)
    }
  }

  /// Whether the client accepts HTML explicitly: a browser that follows a link or sends a form.
  var acceptsHTML: Bool { headers["Accept"]?.contains("text/html") ?? false }
}
