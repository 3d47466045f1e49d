// listing
import Logging
import Valkey

func openClient(at address: ValkeyServerAddress, _ logger: Logger) -> ValkeyClient {
  var configuration = ValkeyClientConfiguration(retryParameters: .init(maxAttempts: 1), commandTimeout: .seconds(2))
  configuration.connectionPool.circuitBreakerTripAfter = .seconds(2)
  return ValkeyClient(address, configuration: configuration, logger: logger)
}
// end
