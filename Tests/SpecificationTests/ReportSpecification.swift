import Beans
import Testing

@Suite("Report") struct ReportSpecification {
  private func environment(traceOrigin: Bool = false) throws -> Environment {
    let environment = try Environment(name: "warehouse", traceOrigin: traceOrigin)
    try environment.define(environment.bean(Crane.self, id: "crane-1"))
    try environment.define(environment.bean(Truck.self, id: "truck-1", lazy: true))
    try environment.define(environment.bean(Crate.self, id: "crate-1").scope("prototype"))
    try environment.define(environment.bean(Crate.self, id: "crate-template", abstract: true))
    return environment
  }

  /// Returns the line of the report for `id`.
  private func line(of id: String, in report: String) throws -> String {
    try #require(report.split(separator: "\n").map(String.init).first { $0.contains(id) }, "\(report)")
  }

  @Test("A report names the environment and every bean: type, id, lazy, abstract, scope")
  func contents() throws {
    let report = try environment().startup().report()
    #expect(report.contains("warehouse"))
    #expect(try line(of: "crane-1", in: report).contains("Crane"))
    #expect(try line(of: "truck-1", in: report).contains("Truck"))
    #expect(try line(of: "truck-1", in: report).contains("lazy"))
    #expect(try line(of: "crate-1", in: report).contains("prototype"))
    #expect(try line(of: "crate-template", in: report).contains("abstract"))
  }

  @Test("A line of a report omits properties that a bean does not have")
  func noMore() throws {
    let report = try environment().startup().report()
    let crane = try line(of: "crane-1", in: report)
    #expect(!crane.contains("lazy: true"))
    #expect(!crane.contains("abstract"))
    #expect(!crane.contains("prototype"))
  }

  @Test("traceOrigin keeps file and line of each bean in the report; without it only shared beans have a place")
  func origins() throws {
    let traced = try environment(traceOrigin: true).startup().report()
    #expect(try line(of: "crane-1", in: traced).contains("\(#fileID):"))
    let untraced = try environment().startup().report()
    let parts = untraced.split(separator: "shared by threads", maxSplits: 1)
    #expect(parts.count == 2 && !parts[0].contains("ReportSpecification.swift"))
  }

  @Test("A report with a limit contains so many children of each environment, and the number of the others")
  func limited() throws {
    let environment = try environment()
    let factory = try environment.childFactory("shift", seed: Int.self)
    try environment.startup()
    let shifts = try (0..<5).map { try factory.build($0) }
    #expect(environment.report().split(separator: "\n").count { $0.contains("shift: open") } == 5)
    let limited = environment.report(maximumChildren: 2)
    #expect(limited.split(separator: "\n").count { $0.contains("shift: open") } == 2)
    #expect(limited.contains("and 3 more"))
    #expect(environment.report(maximumChildren: 5) == environment.report())
    #expect(environment.report(maximumChildren: -1).contains("and 5 more"))
    for shift in shifts { shift.finish() }
    #expect(!environment.report(maximumChildren: 0).contains("more"))
    try environment.shutdown()
  }

  @Test("A report is no lookup: it builds nothing, and it works before startup")
  func buildsNothing() throws {
    let environment = try Environment(name: "warehouse")
    let built = Counter()
    try environment.define(environment.bean(Crane.self, id: "crane-1", factory: { built.counting(Crane()) }))
    #expect(environment.report().contains("crane-1"))
    #expect(built.value == 0)
    try environment.define(environment.bean(Truck.self))
  }

  @Test("A failed or finished environment still has a report, with its name")
  func failedAndFinished() throws {
    let failed = try environment()
    try failed.define(failed.bean(Loader.self, factory: Loader.init).argument(0, ref: "nowhere"))
    try requireFault(.unknownBean) { try failed.startup() }
    #expect(failed.report().contains("warehouse"))

    let finished = try environment()
    try finished.shutdown()
    #expect(finished.report().contains("warehouse"))
  }
}

private final class Crane: Initializable { init() {} }
private final class Truck: Initializable { init() {} }
private final class Crate: Initializable { init() {} }
private final class Loader {
  init(crane: Crane) {}
}
