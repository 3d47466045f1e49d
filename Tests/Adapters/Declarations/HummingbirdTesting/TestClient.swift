// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Declarations for the listings of the article on Hummingbird: the signatures are those of HummingbirdTesting, the rest
// is as little as the listings need to run.
public import HTTPTypes
public import Hummingbird

public struct TestingSetup: Sendable {
  /// Sends requests to the router, without a server.
  public static var router: TestingSetup { TestingSetup() }
}

public struct TestResponse: Sendable {
  public let status: HTTPResponse.Status
  public let headers: HTTPFields
  public let body: ByteBuffer
}

public protocol TestClientProtocol: Sendable {
  func executeRequest(
    uri: String, method: HTTPRequest.Method, headers: HTTPFields, body: ByteBuffer?
  ) async throws -> TestResponse
}

extension TestClientProtocol {
  @discardableResult public func execute<Return>(
    uri: String, method: HTTPRequest.Method, headers: HTTPFields = [:], body: ByteBuffer? = nil,
    testCallback: @escaping (TestResponse) async throws -> Return = { $0 }
  ) async throws -> Return {
    try await testCallback(executeRequest(uri: uri, method: method, headers: headers, body: body))
  }
}

extension Application {
  public func test<Value>(
    _ testingSetup: TestingSetup, _ test: @Sendable (any TestClientProtocol) async throws -> Value
  ) async throws -> Value { try await test(RouterClient(responder: responder)) }
}

private struct RouterClient: TestClientProtocol {
  let responder: any HTTPResponder<BasicRequestContext>

  func executeRequest(
    uri: String, method: HTTPRequest.Method, headers: HTTPFields, body: ByteBuffer?
  ) async throws -> TestResponse {
    let head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: uri, headerFields: headers)
    let request = Request(head: head, body: RequestBody(buffer: body ?? ByteBuffer(string: "")))
    let response = try await responder.respond(to: request, context: BasicRequestContext())
    let text = try await response.body.text()
    return TestResponse(status: response.status, headers: response.headers, body: ByteBuffer(string: text))
  }
}
