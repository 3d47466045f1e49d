import Beans
import BeansLogging
import Logging

struct Request: Sendable { let id: String }

// listing
func send(to backend: @escaping @Sendable (String, Logging.Logger.MetadataProvider?) -> any LogHandler) {
  LoggingSystem.bootstrap(backend, metadataProvider: .beans)
  LogManager().registerLogger("", level: .info, logs: [SwiftLogDestination(name: "swift-log")])
}

func receive(in destinations: [Log]) {
  LogManager().registerLogger("", level: .info, logs: destinations)
  LoggingSystem.bootstrap({ label, _ in BeansLogHandler(label: label) }, metadataProvider: nil)
}

func declareRequests(in shop: Environment) throws -> EnvironmentFactory<Request> {
  try shop.childFactory("request", seed: Request.self) { request in
    try request.define(request.bean(Logging.Logger.self, factory: { (request: Request) in logger(of: request) }))
  }
  .logMetadata { request in ["request": request.id] }
}

func logger(of request: Request) -> Logging.Logger {
  var logger = Logging.Logger(label: "Shop")
  logger[metadataKey: "request"] = "\(request.id)"
  return logger
}
// end
