extension Operations {
  /// Returns every check with its status, the time of the last change, and the reason of its last failure, and the
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
    let against = [HealthProbe.alive, .ready].map { probe in
      ("/\(probe.path)", JSON.array(reasons(against: probe, snapshot.checks).map { .string($0) }))
    }
    return .object([
      ("status", .string(snapshot.isUp ? "UP" : "DOWN")), ("reasons", .object(against)), ("checks", .array(checks)),
    ])
  }
}
