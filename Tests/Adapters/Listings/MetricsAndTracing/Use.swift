// listing
import Beans
import Tracing

func declareRequests(in shop: Environment, _ telemetry: ScopeTelemetry) throws -> EnvironmentFactory<Request> {
  try shop.addObserver(telemetry)
  return try shop.childFactory("request", seed: Request.self) { request in
    try request.define(request.bean(Handler.self, factory: Handler.init))
  }
}

func respond(
  to request: Request, _ requests: EnvironmentFactory<Request>, _ telemetry: ScopeTelemetry
) async throws -> String {
  try await requests.withChild(request) { child in
    let handler = try child.getBean(Handler.self)
    return try await ServiceContext.$current.withValue(telemetry.context(of: child)) {
      try await handler.respond()
    }
  }
}
// end
