import Beans
import Testing

@Suite("Prototypes that work only further in") struct UnusablePrototypeSpecification {
  @Test("A prototype that needs beans of a factory's children is an error without them, at each lookup")
  func fromTheParent() throws {
    let parent = try Environment(name: "parent")
    try parent.define(parent.bean(Journal.self, factory: { (_: Counter) in Journal() }).scope("prototype"))
    let with = try parent.childFactory(
      "with", seed: Void.self, configure: { try $0.define($0.bean(Counter.self, factory: Counter.init)) })
    let without = try parent.childFactory("without", seed: Void.self)
    for _ in 0..<2 {
      _ = try with.withChild(()) { try $0.getBean(Journal.self) }
      for _ in 0..<2 {
        try requireFault(.unknownBean, description: "Counter", through: "Journal") { try parent.getBean(Journal.self) }
        try without.withChild(()) { child in _ = try requireFault(.unknownBean) { try child.getBean(Journal.self) } }
      }
    }
    try parent.shutdown()
  }

  @Test("A plain child environment has the same errors")
  func fromAPlainChild() throws {
    let parent = try Environment(name: "parent")
    try parent.define(parent.bean(Journal.self, factory: { (_: Counter) in Journal() }).scope("prototype"))
    _ = try parent.childFactory("with", seed: Void.self) { try $0.define($0.bean(Counter.self, factory: Counter.init)) }
    let child = try Environment(name: "child", parent: parent)
    for _ in 0..<3 { try requireFault(.unknownBean) { try child.getBean(Journal.self) } }
    try parent.shutdown()
  }

  @Test("A taker of the prototype reports the error of its lookup")
  func taken() throws {
    let environment = try Environment()
    // The environment has two counters, one of which is not open; children use the nearest one.
    try environment.define(environment.bean(Counter.self, factory: Counter.init))
    try environment.define(environment.bean(Counter.self, factory: Counter.init).scope("request"))
    try environment.define(
      environment.bean(Journal.self, factory: { (_: Counter, _: [Counter]) in Journal() }).scope("prototype"))
    try environment.define(environment.bean(Taker.self, factory: Taker.init).scope("prototype"))
    try environment.define(environment.bean(OtherTaker.self, factory: OtherTaker.init).scope("prototype"))
    _ = try environment.childFactory(
      "request", seed: Void.self, configure: { try $0.define($0.bean(Counter.self, factory: Counter.init)) })
    try environment.startup()
    let fault = try requireFault(.ambiguousBean) { try environment.getBean(Journal.self) }
    let taken = try requireFault(.ambiguousBean, through: "Journal") { try environment.getBean(Taker.self) }
    #expect(taken.message.hasSuffix(fault.message), "\(taken)")
    // A bean's own missing dependency comes first.
    let other = try requireFault(.scopeNotActive) { try environment.getBean(OtherTaker.self) }
    #expect(!other.passes("Journal"))
    try environment.shutdown()
  }
}

private final class Taker {
  init(journal: Journal) {}
}

private final class OtherTaker {
  init(counters: [Counter], journal: Journal) {}
}
