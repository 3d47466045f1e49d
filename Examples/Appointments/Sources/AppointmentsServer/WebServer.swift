import Appointments
import Beans
import BeansEventLoop
import Storefront

struct ServerSettings: Decodable, Sendable {
  let host: String
  let port: Int
}

/// Receives the port when the server accepts requests. A test replaces it.
struct Announcement: Sendable { let send: @Sendable (_ port: Int) -> Void }

/// Serves until the service ends, and completes the requests that have arrived.
final class WebServer: RunnableBean {
  private let desk: FrontDesk, settings: ServerSettings, announcement: Announcement

  init(desk: FrontDesk, settings: ServerSettings, announcement: Announcement) {
    (self.desk, self.settings, self.announcement) = (desk, settings, announcement)
  }

  func run() async throws {
    let thread = try EventLoopThread()
    defer { try? thread.stopAndJoin() }
    let server = HTTPServer()
    let port = try server.start(host: settings.host, port: settings.port, on: [thread]) { [self] exchange in
      Task(executorPreference: exchange.loop) { exchange.respond(await self.respond(to: exchange.request)) }
    }
    if let port { announcement.send(port) }
    while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    await withCheckedContinuation { drained in server.drain(within: .seconds(10)) { drained.resume() } }
  }

  private func respond(to request: HTTPRequest) async -> HTTPResponse {
    let known = request.cookie("session")
    let body = String(decoding: request.body, as: UTF8.self)
    let answer = await desk.handle(Request(method: request.method.name, path: request.path, session: known, body: body))
    var response = HTTPResponse.text(HTTPStatus(rawValue: answer.status) ?? .internalServerError, answer.body)
    if let id = answer.session, let cookie = try? HTTPCookie(name: "session", value: id) { response.addCookie(cookie) }
    return response
  }
}
