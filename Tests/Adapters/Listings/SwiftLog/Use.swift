import Beans
import BeansLogging
import Logging

struct Request: Sendable { let id: String }

// listing
func declareRequests(in shop: Environment) throws -> EnvironmentFactory<Request> {
  try shop.childFactory("request", seed: Request.self) { request in
    try request.define(
      Logging.Logger.self,
      factory: { (request: Request) in
        var logger = Logging.Logger(label: "Shop")
        logger[metadataKey: "request"] = "\(request.id)"
        return logger
      })
  }
  .logMetadata { request in ["request": request.id] }
}
// end
