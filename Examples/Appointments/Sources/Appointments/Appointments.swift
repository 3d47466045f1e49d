public import Beans
import BeansLogging
import BeansRunning
import BeansSessions

/// Declares the service. The program adds the configuration and a server.
public func declareAppointments(in service: Environment) throws {
  let visits = try service.childFactory("session", seed: SessionState.self) { session in
    try session.define(Visitor.self, factory: Visitor.init)
  }
  let requests = try visits.childFactory("request", seed: Request.self) { request in
    try request
      .define(Transaction.self, factory: Transaction.init) { $0.onDestroy { await $0.end($1) } }
      .define(Desk.self, factory: Desk.init)
  }
  try service
    .define(BookingSettings.self, configuration: "booking", rejectsUnknownKeys: true)
    .define(WallClock.self, factory: { WallClock() })
    .define(AppointmentStore.self, async: AppointmentStore.init) {
      $0.scheduled(every: .seconds(60)) { await $0.removePast() }.onDestroy { try await $0.save() }
    }
    .define(instance: Sessions(visits, capacity: 10_000, idleLimit: .seconds(1_800)))
    .define(instance: requests)
    .define(FrontDesk.self, factory: FrontDesk.init)
}

/// Opens a child environment for each request, inside of the session of its client.
public struct FrontDesk: Sendable {
  let sessions: Sessions<SessionState>
  let requests: EnvironmentFactory<Request>

  /// Returns the response when the transaction of the request has ended.
  public func handle(_ request: Request) async -> Response {
    do {
      let answer = try await sessions.withSession(cookie: request.session) { session in
        try await requests.withChild(request, in: session.environment) { try await $0.getBean(Desk.self).respond() }
      }
      var response = answer.value
      if case .set(let id) = answer.cookie { response.session = id }
      return response
    } catch let refusal as Response {
      return refusal
    } catch {
      LogManager.getLogger(forName: "Appointments").error("\(request.method) \(request.path): \(error)")
      return Response(status: 500, body: "The request failed.")
    }
  }
}
