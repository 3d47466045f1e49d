/// A cookie to set: always `HttpOnly` and `SameSite=Lax`, for the whole site.
public struct HTTPCookie: Sendable, Equatable {
  /// The value of the `Set-Cookie` field.
  let fieldValue: String

  /// Creates a cookie. `maxAge` is in seconds; nil for a cookie that lives as long as the browser, 0 or less to delete
  /// it. Throws `500` if the name or the value has a character that a cookie may not have.
  public init(name: String, value: String, maxAge: Int? = nil, isSecure: Bool = false) throws(HTTPError) {
    guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken), value.utf8.allSatisfy(Self.isCookieOctet) else {
      throw HTTPError(.internalServerError, "The cookie has a character that is not allowed.")
    }
    var text = "\(name)=\(value); Path=/; HttpOnly; SameSite=Lax"
    if let maxAge { text += "; Max-Age=\(maxAge)" }
    if isSecure { text += "; Secure" }
    fieldValue = text
  }

  private static func isCookieOctet(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: ",")
      && byte != UInt8(ascii: ";") && byte != UInt8(ascii: "\\")
  }
}
