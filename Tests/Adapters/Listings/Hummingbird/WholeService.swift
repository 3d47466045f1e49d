// listing
import Appointments
import Beans
import Hummingbird
import ServiceLifecycle
import UnixSignals

func serveAppointments(_ service: Beans.Environment, at address: BindAddress) async throws {
  let responder = CallbackResponder<BasicRequestContext> { request, _ in
    guard let body = try? await request.body.collect(upTo: 65_536) else { return .init(status: .contentTooLarge) }
    let answer = try await service.getBean(FrontDesk.self).handle(
      Appointments.Request(
        method: request.method.rawValue, path: request.uri.path, session: request.cookies["session"]?.value,
        body: String(buffer: body)))
    var response = Hummingbird.Response(
      status: .init(code: answer.status), body: ResponseBody(byteBuffer: ByteBuffer(string: answer.body)))
    if let id = answer.session {
      response.setCookie(
        Cookie(name: "session", value: id, path: "/", secure: true, httpOnly: true, sameSite: .lax))
    }
    return response
  }
  var application = Application(responder: responder, configuration: .init(address: address))
  application.beforeServerStarts { try await service.ready() }
  let services: [any Service] = [EnvironmentService(environment: service, shutdownLimit: .seconds(10)), application]
  let group = ServiceGroup(
    services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: application.logger)
  try await group.run()
}
// end
