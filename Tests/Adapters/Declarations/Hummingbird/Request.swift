// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on Hummingbird: the signatures are those of Hummingbird, the rest is as
// little as the listings need to run.
public import HTTPTypes
public import Logging
import Synchronization

public struct Parameters: Sendable {
  private let values: [String: String]

  init(_ values: [String: String] = [:]) { self.values = values }

  public func require(_ name: String) throws -> String {
    guard let value = values[name] else { throw HTTPError(.badRequest) }
    return value
  }
}

public struct CoreRequestContextStorage: Sendable {
  private static let requests = Atomic(0)

  public var parameters = Parameters()
  var logger = Logger(label: "Hummingbird")

  init() {
    logger[metadataKey: "hb.request.id"] = "\(Self.requests.add(1, ordering: .relaxed).newValue)"
  }
}

public protocol RequestContext: Sendable {
  var coreContext: CoreRequestContextStorage { get set }
}

extension RequestContext {
  public var parameters: Parameters { coreContext.parameters }
  public var logger: Logger {
    get { coreContext.logger }
    set { coreContext.logger = newValue }
  }
  public var id: String { logger[metadataKey: "hb.request.id"]?.description ?? "" }
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
  fileprivate let field: String

  public subscript(_ key: String) -> Cookie? {
    let pairs = field.split(separator: ";").map { $0.split(separator: "=", maxSplits: 1) }
    let value = pairs.first { $0.count == 2 && $0[0].drop { $0 == " " } == key }?[1]
    return value.map { Cookie(name: key, value: String($0), sameSite: .lax) }
  }
}

struct TooManyBytes: Error {}

public struct URI: Sendable {
  public let path: String
}

public struct RequestBody: Sendable {
  fileprivate let text: String

  public init(buffer: ByteBuffer) { text = buffer.string }

  public consuming func collect(upTo maxSize: Int) async throws -> ByteBuffer {
    if text.utf8.count > maxSize { throw TooManyBytes() }
    return ByteBuffer(string: text)
  }
}

public struct Request: Sendable {
  public let uri: URI
  public let head: HTTPRequest
  public var body: RequestBody

  public init(head: HTTPRequest, body: RequestBody) {
    (uri, self.head, self.body) = (URI(path: head.path ?? ""), head, body)
  }

  /// Takes the place of the requests that a server receives.
  public init(_ method: HTTPRequest.Method, _ path: String, cookies: [String: String] = [:], body: String = "") {
    var head = HTTPRequest(method: method, scheme: nil, authority: nil, path: path)
    head.headerFields[.cookie] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    self.init(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
  }

  public var method: HTTPRequest.Method { head.method }
  public var headers: HTTPFields { head.headerFields }
  public var cookies: Cookies { Cookies(field: headers[.cookie] ?? "") }
}

public struct HTTPError: Error {
  public let status: HTTPResponse.Status

  public init(_ status: HTTPResponse.Status) { self.status = status }
}
