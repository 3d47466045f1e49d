import Beans
import Testing

/// Prototypes of the application as seen from children that hide an id to which they refer.
@Suite("Prototypes whose dependency a child hides") struct HiddenIdSpecification {
  /// An application with a prototype `Report` that refers to 'source'.
  private func application(scope: String = "prototype") throws -> Environment {
    let application = try Environment(name: "application")
    try application.define(application.bean(Source.self, id: "source"))
    try application.define(application.bean(Report.self, factory: Report.init).argument(0, ref: "source").scope(scope))
    return application
  }

  /// A declaration with the id 'source' in a child, with which no `Report` can be built there.
  enum Hiding: CaseIterable {
    case circle, missing, otherType

    var code: EnvironmentError.Code {
      switch self {
      case .circle: .cyclicDependency
      case .missing: .unknownBean
      case .otherType: .typeMismatch
      }
    }

    func define(in child: Environment) throws {
      switch self {
      case .circle:
        try child.define(child.bean(Source.self, id: "source", factory: { (_: Report) in Source() }).scope("prototype"))
      case .missing:
        try child.define(child.bean(Source.self, id: "source", abstract: true))
      case .otherType: try child.define(child.bean(Other.self, id: "source"))
      }
    }
  }

  @Test(
    "A prototype that no bean of the child needs is an error at each lookup there, and none of the startup",
    arguments: [Hiding.missing, .otherType])
  func tolerated(_ hiding: Hiding) throws {
    let application = try application()
    let requests = try application.childFactory("request", seed: Int.self) { request in
      try hiding.define(in: request)
      try request.define(request.bean(Part.self))
    }
    try application.startup()
    _ = try application.getBean(Report.self)
    try requests.withChild(1) { request in
      _ = try request.getBean(Part.self)
      for _ in 0..<2 {
        try requireFault(hiding.code, through: "Report") { try request.getBean(Report.self) }
        #expect(try requireFault { try request.getBean([Report].self) }.code == hiding.code)
      }
    }
    _ = try application.getBean(Report.self)
    try application.shutdown()
  }

  @Test("A circle through a prototype that no bean of the child needs is a fault of the startup, which draws it")
  func drawn() throws {
    let application = try application()
    defer { try? application.shutdown() }
    _ = try application.childFactory("request", seed: Int.self) { try Hiding.circle.define(in: $0) }
    let fault = try requireFault(.cyclicDependency, through: "Report", "Source 'source'") { try application.startup() }
    #expect(fault.path.first == fault.path.last && fault.path.count == 3, "\(fault)")
  }

  @Test("A prototype that a bean of the child needs is a fault of the startup", arguments: Hiding.allCases)
  func needed(_ hiding: Hiding) throws {
    let application = try application()
    defer { try? application.shutdown() }
    _ = try application.childFactory("request", seed: Int.self) { request in
      try hiding.define(in: request)
      try request.define(request.bean(Taker.self, factory: Taker.init))
    }
    #expect(try startupFaults(of: application).map(\.code) == [hiding.code])
  }

  @Test("A request's bean declared in the application is a fault of the startup", arguments: Hiding.allCases)
  func requestsBean(_ hiding: Hiding) throws {
    let application = try application(scope: "request")
    defer { try? application.shutdown() }
    _ = try application.childFactory("request", seed: Int.self) { try hiding.define(in: $0) }
    #expect(try startupFaults(of: application).map(\.code) == [hiding.code])
  }

  @Test("A plain child environment has the same errors", arguments: [Hiding.missing, .otherType])
  func plainChild(_ hiding: Hiding) throws {
    let application = try application()
    let child = try Environment(name: "child", parent: application)
    try hiding.define(in: child)
    try child.startup()
    for _ in 0..<2 { try requireFault(hiding.code) { try child.getBean(Report.self) } }
    _ = try application.getBean(Report.self)
    try application.shutdown()
  }

  @Test("A circle of the application is a fault of its startup, even if a child would break it by hiding an id")
  func brokenByAChild() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.define(
      application.bean(Source.self, id: "source", factory: { (_: Report) in Source() }).scope("prototype"))
    try application.define(
      application.bean(Report.self, factory: Report.init).argument(0, ref: "source").scope("prototype"))
    _ = try application.childFactory("request", seed: Int.self) { try $0.define($0.bean(Source.self, id: "source")) }
    #expect(try startupFaults(of: application).map(\.code) == [.cyclicDependency])
  }

  @Test("A circle of prototypes that a child declares is a fault of the startup")
  func ownCircle() throws {
    let application = try application()
    defer { try? application.shutdown() }
    _ = try application.childFactory("request", seed: Int.self) { request in
      try request.define(
        request.bean(Source.self, id: "source", factory: { (_: Report, _: Part) in Source() }).scope("prototype"))
      try request.define(request.bean(Part.self, factory: { (_: Source, _: Report) in Part() }).scope("prototype"))
    }
    let faults = try startupFaults(of: application)
    #expect(faults.allSatisfy { $0.code == .cyclicDependency }, "\(faults)")
    #expect(faults.contains { $0.passes("Part") } && faults.contains { $0.passes("Report") }, "\(faults)")
  }

  @Test("A circle of prototypes that no child breaks is a fault of the startup, once")
  func unbroken() throws {
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.define(
      application.bean(Source.self, id: "source", factory: { (_: Report) in Source() }).scope("prototype"))
    try application.define(
      application.bean(Report.self, factory: Report.init).argument(0, ref: "source").scope("prototype"))
    _ = try application.childFactory("request", seed: Int.self)
    _ = try application.childFactory("job", seed: Int.self)
    #expect(try startupFaults(of: application).map(\.code) == [.cyclicDependency])
  }
}

private final class Source: Initializable { init() {} }
private final class Part: Initializable { init() {} }
private final class Other: Initializable { init() {} }

private final class Report {
  init(source: Source) {}
}

private final class Taker {
  init(report: Report) {}
}
