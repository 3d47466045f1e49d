import CHTTPParser

/// A request method that the http-parser library supports; any other gets `501`.
public struct HTTPMethod: Hashable, Sendable, CustomStringConvertible {
  private let code: UInt8

  init(code: UInt32) { self.code = UInt8(truncatingIfNeeded: code) }

  static let get = HTTPMethod(code: HTTP_GET.rawValue)
  static let head = HTTPMethod(code: HTTP_HEAD.rawValue)
  static let post = HTTPMethod(code: HTTP_POST.rawValue)
  static let put = HTTPMethod(code: HTTP_PUT.rawValue)
  static let patch = HTTPMethod(code: HTTP_PATCH.rawValue)
  static let delete = HTTPMethod(code: HTTP_DELETE.rawValue)
  static let options = HTTPMethod(code: HTTP_OPTIONS.rawValue)
  static let connect = HTTPMethod(code: HTTP_CONNECT.rawValue)

  /// The name as in a request line.
  public var name: String { unsafe String(cString: http_method_str(http_method(rawValue: UInt32(code)))) }

  /// The name.
  public var description: String { name }
}
