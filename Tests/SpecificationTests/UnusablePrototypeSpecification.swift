import Beans
import Testing

@Suite("Prototypes that work only further in") struct UnusablePrototypeSpecification {
  @Test("One that needs what only a factory's children have is an error where that is missing, at each lookup")
  func fromTheParent() throws {
    let parent = try Environment(name: "parent")
    try parent.define(
      parent.bean(Journal.self, factory: { (_: Counter) in Journal() }).scope("prototype"))
    let with = try parent.childFactory(
      "with", seed: Void.self, configure: { try $0.define($0.bean(Counter.self, factory: Counter.init)) })
    let without = try parent.childFactory("without", seed: Void.self)
    for _ in 0..<2 {
      _ = try with.withChild(()) { try $0.getBean(Journal.self) }
      for _ in 0..<2 {
        let fault = try requireFault(.unknownBean) { try parent.getBean(Journal.self) }
        #expect(fault.passes("Journal") && fault.description.contains("Counter"))
        try without.withChild(()) { child in _ = try requireFault(.unknownBean) { try child.getBean(Journal.self) } }
      }
    }
    try parent.shutdown()
  }

  @Test("The same from a plain child environment")
  func fromAPlainChild() throws {
    let parent = try Environment(name: "parent")
    try parent.define(
      parent.bean(Journal.self, factory: { (_: Counter) in Journal() }).scope("prototype"))
    _ = try parent.childFactory(
      "with", seed: Void.self, configure: { try $0.define($0.bean(Counter.self, factory: Counter.init)) })
    let child = try Environment(name: "child", parent: parent)
    for _ in 0..<3 { try requireFault(.unknownBean) { try child.getBean(Journal.self) } }
    try parent.shutdown()
  }
}
