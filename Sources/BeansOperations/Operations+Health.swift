import Beans
import BeansRunning

extension Operations {
  /// Returns every check and every bean that runs with its status, the time of the last change, and the reason of its last failure, and the
  /// reasons for the failure of each probe. For operators alone: a reason may contain internals of a check.
  func health(_ snapshot: ServiceSnapshot) -> JSON {
    let checks = snapshot.checks.map { report in
      JSON.object([
        ("name", .string(report.check.name)), ("status", .string(report.state.status.rawValue)),
        ("since", JSON(report.state.since)), ("reason", JSON(report.state.reason)),
        ("probe", .string("/\(report.check.probe.path)")), ("critical", .bool(report.check.isCritical)),
        ("contrary", .integer(report.state.contrary)), ("micros", JSON(microseconds: report.state.duration)),
      ])
    }
    let runs = snapshot.runs.map { run in
      JSON.object([
        ("name", .string("run of \(run.label)")), ("status", .string(run.status.text)), ("since", JSON(nil as String?)),
        ("reason", JSON(run.reason)), ("probe", .string("/\(HealthProbe.ready.path)")), ("critical", .bool(true)),
        ("contrary", .integer(0)), ("micros", JSON(microseconds: nil)), ("restarts", .integer(run.restarts)),
      ])
    }
    let against = [HealthProbe.alive, .ready].map { probe in
      ("/\(probe.path)", JSON.array(reasons(against: probe, snapshot.checks, snapshot.runs).map { .string($0) }))
    }
    return .object([
      ("status", .string(snapshot.isUp ? "UP" : "DOWN")), ("reasons", .object(against)),
      ("checks", .array(checks + runs)),
    ])
  }
}

extension BeanRunReport.Status {
  /// The status as that of a check.
  fileprivate var text: String {
    switch self {
    case .starting: HealthState.Status.unknown.rawValue
    case .up, .ended: HealthState.Status.up.rawValue
    case .restarting: "DEGRADED"
    case .failed: HealthState.Status.down.rawValue
    }
  }
}
