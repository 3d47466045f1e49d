// listing
import Beans
import BeansSessions
import Hummingbird

/// Opens an environment for each request, which ends when the last byte of the response is written or its body is dropped.
struct RequestEnvironments<Context: RequestContext>: RouterMiddleware {
  let open: @Sendable (Request) throws -> (ChildHandle, Cookie?)

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    let (child, cookie) = try open(request)
    do {
      var response = try await child.withCurrent { _ in try await next(request, context) }
      if let cookie { response.setCookie(cookie) }
      let body = response.body
      response.body = ResponseBody(contentLength: body.contentLength) { writer in
        try await child.end { @concurrent _ in try await body.write(writer) }
      }
      return response
    } catch {
      try await child.end(failing: error)
      throw error
    }
  }
}

extension RequestEnvironments {
  /// Opens each request without a session.
  init(_ requests: EnvironmentFactory<Request>) { self.init { (try requests.open($0), nil) } }

  /// Opens each request in the session that its cookie names, else in a new session.
  init(_ requests: EnvironmentFactory<Request>, in sessions: Sessions<Void>, cookie: String = "session") {
    self.init { request in
      let known = try request.cookies[cookie].flatMap { cookie in
        try sessions.withSession(cookie.value) { try requests.open(request, in: $0) }
      }
      if let known { return (known, nil) }
      let id = sessions.newId()  // an unknown id of a client may have been planted
      let child = try sessions.withSession(id, opening: ()) { try requests.open(request, in: $0) }
      return (child, Cookie(name: cookie, value: id, path: "/", secure: true, httpOnly: true, sameSite: .lax))
    }
  }
}
// end
