import Beans
import Testing

private final class Clock: Initializable, Sendable {}
private final class Atlas: Initializable, Sendable {}
private enum Replica {}

private final class Drawer {
  var clock: Clock?
  init() {}
}

@Suite("Hints of faults at inactive declarations")
struct InactiveHintSpecification {
  private let environment: Environment
  private let hint = "but inactive: profile 'production' is not active"

  init() throws { environment = try Environment(name: "shop", traceOrigin: true) }

  @Test("A hint names an inactive declaration if a bean of the id has another type")
  func typeMismatch() throws {
    try environment
      .define(environment.bean(Clock.self, id: "main").profile("production"))
      .define(environment.bean(Atlas.self, id: "main"))
      .define(environment.bean(Drawer.self, lazy: true) { (_: Clock) in Drawer() }.argument(0, ref: "main"))
    try requireFault(.typeMismatch, message: "a Clock 'main' is declared at", hint) { try environment.startup() }
  }

  @Test("A hint names an inactive declaration if a bean of the id lacks the requested tag")
  func tagMismatch() throws {
    try environment
      .define(environment.bean(Clock.self, id: "main").qualifier(Replica.self).profile("production"))
      .define(environment.bean(Clock.self, id: "main"))
      .define(environment.bean(Drawer.self) { (_: Qualified<Replica, Clock>) in Drawer() }.argument(0, ref: "main"))
    try requireFault(.typeMismatch, message: hint) { try environment.startup() }
  }

  @Test("A hint names an inactive factory if its seed is requested")
  func seed() throws {
    let line = #line + 1
    try environment.childFactory("request", seed: Int.self, under: { $0.profile("production") })
    try environment.define(environment.bean(Drawer.self) { (_: Current<Int>) in Drawer() })
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(
      fault.message.contains(
        "a seed of type Int is declared at \(#fileID):\(line) in module Adhoc, but inactive: "
          + "the children of 'request' are: "),
      "\(fault)")
  }

  @Test("A hint names an inactive declaration if a bean embedded in it is requested")
  func embedded() throws {
    try environment.define(
      environment.bean(Drawer.self, factory: { Drawer() })
        .property(\.clock, bean: environment.bean(Clock.self, id: "inner")).profile("production"))
    defer { try? environment.shutdown() }
    for fault in [
      try requireFault(.unknownBean) { try environment.getBean(Clock.self) },
      try requireFault(.unknownBean) { try environment.getBean(Clock.self, byId: "inner") },
    ] {
      #expect(fault.message.contains("a Clock 'inner' is declared at") && fault.message.contains(hint), "\(fault)")
    }
  }

  @Test("A fault of an inactive factory has the place of the factory")
  func factory() throws {
    let line = #line + 1
    let requests = try environment.childFactory("request", seed: Int.self, under: { $0.profile("production") })
    defer { try? environment.shutdown() }
    try requireFault(.scopeNotActive, line: line) { try requests.build(1) }
    #expect(environment.report().contains("origin: \(#fileID):\(line)"))
  }

  @Test("A hint has the place of the inactive factory of an unknown scope")
  func scope() throws {
    let line = #line + 1
    try environment.childFactory("tenant", seed: Int.self, under: { $0.profile("production") })
    try environment.define(environment.bean(Clock.self).scope("tenant"))
    try requireFault(.unknownScope, message: "\(#fileID):\(line)") { try environment.startup() }
  }

  @Test("A hint does not name an inactive declaration without the requested tag")
  func otherTag() throws {
    try environment.define(environment.bean(Clock.self).profile("production"))
    defer { try? environment.shutdown() }
    let fault = try requireFault(.unknownBean) { try environment.getBean(Qualified<Replica, Clock>.self).value }
    #expect(!fault.message.contains("inactive"), "\(fault)")
  }

  @Test("A hint names an inactive declaration with the requested tag")
  func tag() throws {
    try environment.define(environment.bean(Clock.self).qualifier(Replica.self).profile("production"))
    defer { try? environment.shutdown() }
    try requireFault(.unknownBean, message: hint) { try environment.getBean(Qualified<Replica, Clock>.self).value }
  }

  @Test("A hint does not name an inactive private declaration outside its module")
  func otherModule() throws {
    try environment.include(Adhoc { try $0.define($0.bean(Clock.self, id: "clock").private().profile("production")) })
    defer { try? environment.shutdown() }
    for fault in [
      try requireFault(.unknownBean) { try environment.getBean(Clock.self) },
      try requireFault(.unknownBean) { try environment.getBean(Clock.self, byId: "clock") },
    ] { #expect(!fault.message.contains("inactive"), "\(fault)") }
  }

  @Test("A hint names an inactive private declaration inside its module")
  func ownModule() throws {
    try environment.include(
      Adhoc { environment in
        try environment
          .define(environment.bean(Clock.self, id: "clock").private().profile("production"))
          .define(environment.bean(Drawer.self, id: "one") { (_: Clock) in Drawer() })
          .define(environment.bean(Drawer.self, id: "two") { (_: Clock) in Drawer() }.argument(0, ref: "clock"))
          .define(environment.bean(Drawer.self, id: "three") { (_: Provider<Clock>) in Drawer() })
      })
    let faults = try startupFaults(of: environment)
    #expect(faults.count == 3)
    for fault in faults { #expect(fault.message.contains(hint), "\(fault)") }
  }
}
