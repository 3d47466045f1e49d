// listing
import Beans
import BeansSessions
import Hummingbird

/// Opens an environment for each request, in the session of its visitor. Both end before the response is written.
struct SessionRequests<Context: RequestContext>: RouterMiddleware {
  let environment: Beans.Environment

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let sessions = try environment.getBean(Sessions<SessionState>.self)
    let answer = try await sessions.withSession(cookie: request.cookies["session"]?.value) { session in
      let requests = try session.environment.getBean(EnvironmentFactory<Request>.self)
      return try await SessionHandle.$current.withValue(session) {
        try await requests.withChild(request, in: session.environment) { _ in try await next(request, context) }
      }
    }
    var response = answer.value
    if case .set(let id) = answer.cookie {
      response.setCookie(Cookie(name: "session", value: id, path: "/", secure: true, httpOnly: true, sameSite: .lax))
    }
    return response
  }
}

extension SessionHandle {
  /// The session of the request that the task handles.
  @TaskLocal static var current: SessionHandle?
}
// end
