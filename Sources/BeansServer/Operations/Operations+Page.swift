import Beans

extension Operations {
  /// Everything, for people.
  var page: OperationsResponse {
    let snapshot = snapshot
    let process = snapshot.process
    let upTime = process.startTime.map { ProcessFigures.now - $0 }
    let data = JSON.object([
      ("name", .string(environment.name)), ("livez", .bool(snapshot.isAlive)), ("readyz", .bool(snapshot.isReady)),
      ("health", snapshot.health), ("environments", snapshot.environments(ScopeAges.below(environment))),
      ("beans", beans ?? .object([("contexts", .object([]))])), ("startup", startup), ("loggers", loggers),
      ("configuration", configuration), ("metrics", .string(snapshot.metrics.text(as: .prometheus))),
      (
        "process",
        .object([
          ("upSeconds", upTime.map { .number($0) } ?? nil), ("cpuSeconds", process.cpuTime.map { .number($0) } ?? nil),
          ("residentBytes", process.residentMemory.map { .integer($0) } ?? nil),
          ("descriptors", process.openDescriptors.map { .integer($0) } ?? nil),
          ("threads", process.threads.map { .integer($0) } ?? nil),
        ])
      ),
    ])
    return OperationsPage.response(data, nonce: UnguessableId.make())
  }
}
