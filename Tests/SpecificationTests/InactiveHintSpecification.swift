import Beans
import Testing

private final class Clock: Initializable, Sendable {}
private final class Atlas: Initializable, Sendable {}
private enum Replica {}

private final class Drawer {
  var clock: Clock?
  init() {}
}

@Suite("What does not count is named by the faults that it would have prevented")
struct InactiveHintSpecification {
  private let environment: Environment
  private let hint = "but inactive: profile 'production' is not active"

  init() throws { environment = try Environment(name: "shop", traceOrigin: true) }

  @Test("where a bean of the id has another type")
  func typeMismatch() throws {
    try environment
      .define(environment.bean(Clock.self, id: "main").profile("production"))
      .define(environment.bean(Atlas.self, id: "main"))
      .define(environment.bean(Drawer.self, lazy: true) { (_: Clock) in Drawer() }.argument(0, ref: "main"))
    let fault = try requireFault(.typeMismatch) { try environment.startup() }
    #expect(fault.message.contains("a Clock 'main' is declared at") && fault.message.contains(hint), "\(fault)")
  }

  @Test("where a bean of the id has not the tag that is asked for")
  func tagMismatch() throws {
    try environment
      .define(environment.bean(Clock.self, id: "main").qualifier(Replica.self).profile("production"))
      .define(environment.bean(Clock.self, id: "main"))
      .define(
        environment.bean(Drawer.self) { (_: Qualified<Replica, Clock>) in Drawer() }.argument(0, ref: "main"))
    let fault = try requireFault(.typeMismatch) { try environment.startup() }
    #expect(fault.message.contains(hint), "\(fault)")
  }

  @Test("where the seed of a factory that does not count is asked for")
  func seed() throws {
    let line = #line + 1
    try environment.childFactory("request", seed: Int.self).profile("production")
    try environment.define(environment.bean(Drawer.self) { (_: Current<Int>) in Drawer() })
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(
      fault.message.contains(
        "a seed of type Int is declared at \(#fileID):\(line), but inactive: the children of 'request' are: "),
      "\(fault)")
  }

  @Test("where a bean is asked for that is declared in place, in what does not count")
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

  @Test("with the place of the factory, where its children do not count")
  func factory() throws {
    let line = #line + 1
    let requests = try environment.childFactory("request", seed: Int.self).profile("production")
    defer { try? environment.shutdown() }
    let fault = try requireFault(.scopeNotActive) { try requests.build(1) }
    #expect(fault.isFrom(file: #fileID, line: line), "\(fault)")
    #expect(environment.report().contains("origin: \(#fileID):\(line)"))
  }

  @Test("with the place of the factory, where a scope is not known")
  func scope() throws {
    let line = #line + 1
    try environment.childFactory("tenant", seed: Int.self).profile("production")
    try environment.define(environment.bean(Clock.self).scope("tenant"))
    let fault = try requireFault(.unknownScope) { try environment.startup() }
    #expect(fault.message.contains("\(#fileID):\(line)"), "\(fault)")
  }

  @Test("but not where it has no such tag")
  func otherTag() throws {
    try environment.define(environment.bean(Clock.self).profile("production"))
    defer { try? environment.shutdown() }
    let fault = try requireFault(.unknownBean) { try environment.getBean(Clock.self, qualifier: Replica.self) }
    #expect(!fault.message.contains("inactive"), "\(fault)")
  }

  @Test("where it has the tag")
  func tag() throws {
    try environment.define(environment.bean(Clock.self).qualifier(Replica.self).profile("production"))
    defer { try? environment.shutdown() }
    let fault = try requireFault(.unknownBean) { try environment.getBean(Clock.self, qualifier: Replica.self) }
    #expect(fault.message.contains(hint), "\(fault)")
  }

  @Test("but not outside its module, where it is private")
  func otherModule() throws {
    try environment.include(
      Adhoc { try $0.define($0.bean(Clock.self, id: "clock").private().profile("production")) })
    defer { try? environment.shutdown() }
    for fault in [
      try requireFault(.unknownBean) { try environment.getBean(Clock.self) },
      try requireFault(.unknownBean) { try environment.getBean(Clock.self, byId: "clock") },
    ] { #expect(!fault.message.contains("inactive"), "\(fault)") }
  }

  @Test("in its module, where it is private")
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
