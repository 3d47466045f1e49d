// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on Vapor: the signatures are those of Vapor 4, the rest is as little as
// the listings need to run.
import Synchronization

public protocol StorageKey {
  associatedtype Value: Sendable
}

public struct Storage: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  public subscript<Key: StorageKey>(_ key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

public struct Parameters: Sendable {
  fileprivate let values: [String: String]

  public func require(_ name: String) throws -> String {
    guard let value = values[name] else { throw Abort(.internalServerError) }
    return value
  }
}

public enum HTTPResponseStatus: Sendable { case ok, notFound, internalServerError }

public struct Abort: Error {
  public let status: HTTPResponseStatus

  public init(_ status: HTTPResponseStatus) { self.status = status }
}

public final class Request: Sendable {
  public let parameters: Parameters
  private let box = Mutex(Storage())

  init(_ parameters: [String: String]) { self.parameters = Parameters(values: parameters) }

  public var storage: Storage {
    get { box.withLock { $0 } }
    set { box.withLock { $0 = newValue } }
  }
}

public final class Response: Sendable {
  /// The body as text.
  public let text: String

  init(_ text: String) { self.text = text }
}

public protocol AsyncResponder: Sendable {
  func respond(to request: Request) async throws -> Response
}

public protocol Middleware: Sendable {}

public protocol AsyncMiddleware: Middleware {
  func respond(to request: Request, chainingTo next: any AsyncResponder) async throws -> Response
}

public struct Middlewares: Sendable {
  fileprivate var all: [any Middleware] = []

  public mutating func use(_ middleware: any Middleware) { all.append(middleware) }
}

/// An application with one route, which is served to `respond(to:)`.
public final class Application: Sendable {
  private struct Route: AsyncResponder {
    let body: @Sendable (Request) async throws -> String

    func respond(to request: Request) async throws -> Response { Response(try await body(request)) }
  }

  private struct Passed: AsyncResponder {
    let middleware: any AsyncMiddleware
    let next: any AsyncResponder

    func respond(to request: Request) async throws -> Response {
      try await middleware.respond(to: request, chainingTo: next)
    }
  }

  private let used = Mutex(Middlewares())
  private let route = Mutex<Route?>(nil)
  private let end = AsyncStream.makeStream(of: Void.self)

  public init() {}

  public var middleware: Middlewares {
    get { used.withLock { $0 } }
    set { used.withLock { $0 = newValue } }
  }

  public func post(_ path: String..., use closure: @Sendable @escaping (Request) async throws -> String) {
    route.withLock { $0 = Route(body: closure) }
  }

  /// Returns when `stop()` is called.
  public func execute() async throws { for await _ in end.stream {} }

  public func asyncShutdown() async throws {}

  /// Has the effect of a signal.
  public func stop() { end.continuation.finish() }

  /// Returns the text of the response.
  public func respond(_ parameters: [String: String]) async throws -> String {
    guard let route = route.withLock({ $0 }) else { throw Abort(.notFound) }
    var next: any AsyncResponder = route
    for middleware in middleware.all.reversed() {
      if let middleware = middleware as? any AsyncMiddleware { next = Passed(middleware: middleware, next: next) }
    }
    return try await next.respond(to: Request(parameters)).text
  }
}
