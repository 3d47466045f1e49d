// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on Hummingbird: the signatures are those of Hummingbird, the rest is as
// little as the listings need to run.
public import HTTPTypes

public struct Parameters: Sendable {
  private let values: [String: String]

  init(_ values: [String: String] = [:]) { self.values = values }

  public func require(_ name: String) throws -> String {
    guard let value = values[name] else { throw HTTPError(.badRequest) }
    return value
  }
}

public struct CoreRequestContextStorage: Sendable {
  public var parameters = Parameters()
}

public protocol RequestContext: Sendable {
  var coreContext: CoreRequestContextStorage { get set }
}

extension RequestContext {
  public var parameters: Parameters { coreContext.parameters }
}

public struct BasicRequestContext: RequestContext {
  public var coreContext = CoreRequestContextStorage()

  public init() {}
}

public struct Cookie: Sendable {
  public enum SameSite: Sendable { case lax, strict, none }

  public let name: String
  public let value: String

  public init(
    name: String, value: String, path: String? = nil, secure: Bool = false, httpOnly: Bool = true, sameSite: SameSite
  ) { (self.name, self.value) = (name, value) }
}

public struct Cookies: Sendable {
  fileprivate let values: [String: String]

  public subscript(_ key: String) -> Cookie? {
    values[key].map { Cookie(name: key, value: $0, sameSite: .lax) }
  }
}

struct TooManyBytes: Error {}

public struct URI: Sendable {
  public let path: String
}

public struct RequestBody: Sendable {
  fileprivate let text: String

  public consuming func collect(upTo maxSize: Int) async throws -> ByteBuffer {
    if text.utf8.count > maxSize { throw TooManyBytes() }
    return ByteBuffer(string: text)
  }
}

public struct Request: Sendable {
  public let method: HTTPRequest.Method
  public let uri: URI
  public let cookies: Cookies
  public let body: RequestBody

  public init(_ method: HTTPRequest.Method, _ path: String, cookies: [String: String] = [:], body: String = "") {
    (self.method, uri, self.cookies) = (method, URI(path: path), Cookies(values: cookies))
    self.body = RequestBody(text: body)
  }
}

public struct HTTPError: Error {
  public let status: HTTPResponse.Status

  public init(_ status: HTTPResponse.Status) { self.status = status }
}
