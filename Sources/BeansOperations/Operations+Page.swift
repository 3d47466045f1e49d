import Beans
@_spi(BeansPackage) import BeansErrors
import BeansServer

extension Operations {
  /// Returns the whole page for people; for the page's script, which accepts JSON, a newer snapshot of the changing
  /// sections.
  func page(_ accept: String?) -> OperationsResponse {
    if accept?.contains("application/json") == true { return .json(200, .object(changing)) }
    let fixed: [(String, JSON)] = [
      ("beans", beans ?? .object([("contexts", .object([]))])), ("startup", startup),
    ]
    return OperationsPage.response(.object(changing + fixed), nonce: UnguessableId.make())
  }

  /// The state of the service at one moment. Excludes `beans` and `startup`: they do not change once the environment
  /// has started, and may be large.
  private var changing: [(String, JSON)] {
    let snapshot = snapshot
    let process = snapshot.process
    return [
      ("time", JSON(Timestamp.now)), ("name", .string(environment.name)), ("started", .bool(graph != nil)),
      ("livez", .bool(snapshot.isAlive)), ("readyz", .bool(snapshot.isReady)), ("health", health(snapshot)),
      ("environments", snapshot.environments), ("loggers", loggers),
      ("configuration", configuration), ("metrics", .string(snapshot.metrics.text(as: .prometheus))),
      (
        "process",
        .object([
          ("startTime", JSON(begun.time)), ("upSeconds", .number((.now - begun.instant).seconds)),
          ("cpuSeconds", process.cpuTime.map { .number($0) } ?? nil),
          ("residentBytes", process.residentMemory.map { .integer($0) } ?? nil),
          ("descriptors", process.openDescriptors.map { .integer($0) } ?? nil),
          ("threads", process.threads.map { .integer($0) } ?? nil),
        ])
      ),
    ]
  }
}
