import Beans
import BeansInject
import Testing

/// Cycles of declarations are faults of startup; cycles of lookups inside factories are found when they close.
@Suite("Cycles", .timeLimit(.minutes(20))) struct CycleSpecification {
  @FreshEnvironment private var environment

  // MARK: declared

  @Test("A cycle through constructors is a fault, drawn as A → B → A")
  func constructors() throws {
    try environment.define(environment.bean(Hen.self, factory: Hen.init))
    try environment.define(environment.bean(Egg.self, factory: Egg.init))
    let fault = try requireFault(.cyclicDependency, through: "Hen", "Egg") { try environment.startup() }
    #expect(fault.path.count == 3)
    #expect(fault.path.first == fault.path.last)
    let text = fault.description
    #expect(text.contains("Hen → Egg → Hen") || text.contains("Egg → Hen → Egg"))
    #expect(fault.origin?.file == #fileID)
  }

  @Test("A bean that needs itself is a cycle")
  func itself() throws {
    try environment.define(environment.bean(Ouroboros.self, factory: Ouroboros.init))
    try requireFault(.cyclicDependency, description: "Ouroboros → Ouroboros") { try environment.startup() }
  }

  @Test("A bean that requires itself is a cycle")
  func requiresItself() throws {
    try environment.define(environment.bean(Node.self, id: "a").requires(id: "a"))
    try requireFault(.cyclicDependency) { try environment.startup() }
  }

  @Test("A cycle may pass through properties, requires, arguments and lazy beans")
  func mixed() throws {
    try environment.define(environment.bean(Node.self, id: "a").property(\.next, ref: "b"))
    try environment.define(environment.bean(Node.self, id: "b", lazy: true).requires(id: "c"))
    try environment.define(environment.bean(Link.self, id: "c", factory: Link.init).argument(0, ref: "d"))
    try environment.define(environment.bean(Node.self, id: "d").property(\.next, inject: InjectBean(id: "a")))
    let fault = try requireFault(.cyclicDependency) { try environment.startup() }
    #expect(fault.path.count == 5)
  }

  @Test("A cycle may pass through T?, [T], protocols and prototypes")
  func indirect() throws {
    let optional = try Environment(name: "optional")
    try optional.define(optional.bean(Node.self, factory: { (link: Link?) in Node() }))
    try optional.define(optional.bean(Link.self, factory: Link.init))
    try requireFault(.cyclicDependency) { try optional.startup() }

    let array = try Environment(name: "array")
    try array.define(array.bean(Node.self, factory: { (links: [any Chained]) in Node() }))
    try array.define(array.bean(Link.self, factory: Link.init).scope("prototype"))
    try requireFault(.cyclicDependency) { try array.startup() }
  }

  @Test("Independent cycles are all reported")
  func two() throws {
    try environment.define(environment.bean(Hen.self, factory: Hen.init))
    try environment.define(environment.bean(Egg.self, factory: Egg.init))
    try environment.define(environment.bean(Ouroboros.self, factory: Ouroboros.init))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.cyclicDependency, .cyclicDependency])
    #expect(faults.contains { $0.passes("Ouroboros") })
    #expect(faults.contains { $0.passes("Hen") && $0.passes("Egg") })
  }

  @Test("A cycle beside very many others is reported")
  func besideMany() throws {
    for number in 0..<30 {
      let node = environment.bean(Node.self, id: "\(number)")
      try environment.define((0..<30).filter { $0 != number }.reduce(node) { $0.requires(id: "\($1)") })
    }
    try environment.define(environment.bean(Ouroboros.self, factory: Ouroboros.init))
    try environment.define(environment.bean(Hen.self, factory: Hen.init))
    try environment.define(environment.bean(Egg.self, factory: Egg.init))
    let faults = try startupFaults(of: environment)
    #expect(faults.allSatisfy { $0.code == .cyclicDependency })
    #expect(faults.count < 200)
    #expect(faults.contains { $0.passes("Ouroboros") })
    #expect(faults.contains { $0.passes("Hen") && $0.passes("Egg") })
  }

  @Test("A bean that depends on a cycle without being part of it is not drawn")
  func bystanders() throws {
    try environment.define(environment.bean(Farm.self, factory: Farm.init))
    try environment.define(environment.bean(Hen.self, factory: Hen.init))
    try environment.define(environment.bean(Egg.self, factory: Egg.init))
    let fault = try requireFault(.cyclicDependency) { try environment.startup() }
    #expect(!fault.passes("Farm"))
  }

  @Test("A cycle hides no fault of a prototype that a bean on it takes")
  func beside() throws {
    let parent = try Environment(name: "parent")
    try parent.define(parent.bean(Ouroboros.self, factory: { (_: Farm) in throw Boom() }).scope("prototype"))
    try parent.define(parent.bean(Farm.self, factory: { throw Boom() }).lazy())
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Farm.self, factory: { (_: Node, _: Ouroboros) in throw Boom() }).scope("prototype"))
    try child.define(child.bean(Farm.self, factory: { throw Boom() }))
    try child.define(child.bean(Node.self, factory: { (_: [Farm]) in Node() }))
    let faults = try startupFaults(of: child)
    #expect(Set(faults.map(\.code)) == [.cyclicDependency, .ambiguousBean])
    #expect(faults.contains { $0.code == .ambiguousBean && $0.passes("Ouroboros") })
    try parent.shutdown()
  }

  @Test("A cycle among the children's beans is found at startup")
  func amongChildren() throws {
    _ = try environment.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Hen.self, factory: Hen.init))
      try child.define(child.bean(Egg.self, factory: Egg.init))
    }
    try requireFault(.cyclicDependency) { try environment.startup() }
  }

  @Test("A diamond is no cycle")
  func diamond() throws {
    try environment.define(environment.bean(Node.self, id: "top").requires(id: "left").requires(id: "right"))
    try environment.define(environment.bean(Node.self, id: "left").requires(id: "bottom"))
    try environment.define(environment.bean(Node.self, id: "right").requires(id: "bottom"))
    try environment.define(environment.bean(Node.self, id: "bottom"))
    try environment.startup()
  }

  // MARK: closed by lookups, on one thread

  @Test("A cycle that lookups inside factories close is found when it closes")
  func dynamic() throws {
    try environment.define(
      environment.bean(
        Hen.self, lazy: true, factory: { [unowned environment] in Hen(egg: try environment.getBean(Egg.self)) }))
    try environment.define(
      environment.bean(
        Egg.self, lazy: true, factory: { [unowned environment] in Egg(hen: try environment.getBean(Hen.self)) }))
    try environment.startup()
    try requireFault(.cyclicDependency, description: "Hen → Egg → Hen") { try environment.getBean(Hen.self) }
    try requireFault(.cyclicDependency, description: "Egg → Hen → Egg") { try environment.getBean(Egg.self) }
  }

  @Test("A dynamic cycle among eager beans fails the startup")
  func dynamicAtStartup() throws {
    try environment.define(
      environment.bean(Hen.self, factory: { [unowned environment] in Hen(egg: try environment.getBean(Egg.self)) }))
    try environment.define(environment.bean(Egg.self, factory: Egg.init))
    try requireFault(.cyclicDependency, through: "Hen", "Egg") { try environment.startup() }
  }

  @Test("A bean whose factory looks itself up is a cycle, a prototype as well", arguments: ["singleton", "prototype"])
  func dynamicItself(scope: String) throws {
    try environment.define(
      environment.bean(
        Ouroboros.self, lazy: true,
        factory: { [unowned environment] in Ouroboros(tail: try environment.getBean(Ouroboros.self)) }
      ).scope(scope))
    let fault = try requireFault(.cyclicDependency) { try environment.getBean(Ouroboros.self) }
    #expect(fault.description.contains("Ouroboros → Ouroboros"))
  }

  @Test("A provider that is called in a constructor may close a cycle")
  func providerInConstructor() throws {
    try environment.define(environment.bean(Egg.self, lazy: true, factory: Egg.init))
    try environment.define(
      environment.bean(Hen.self, lazy: true, factory: { (egg: Provider<Egg>) in Hen(egg: try egg.get()) }))
    try environment.startup()
    try requireFault(.cyclicDependency) { try environment.getBean(Egg.self) }
  }

  @Test("A lookup in postConstruct may close a cycle")
  func postConstruct() throws {
    try environment.define(
      environment.bean(Node.self, lazy: true)
        .postConstruct { [unowned environment] node in _ = try environment.getBean(Link.self) })
    try environment.define(environment.bean(Link.self, lazy: true, factory: Link.init))
    try environment.startup()
    try requireFault(.cyclicDependency) { try environment.getBean(Link.self) }
  }

  @Test("A factory that survives the cycle it closed returns its bean")
  func survivedCycle() throws {
    try environment.define(
      environment.bean(Node.self, id: "a", lazy: true) { [unowned environment] in
        let node = Node()
        node.next = try? environment.getBean(Node.self, byId: "b")
        return node
      })
    try environment.define(
      environment.bean(Node.self, id: "b", lazy: true) { [unowned environment] in
        let node = Node()
        node.next = try? environment.getBean(Node.self, byId: "a")
        return node
      })
    let a = try environment.getBean(Node.self, byId: "a")
    #expect(a.next?.next == nil)
    #expect(try a.next === environment.getBean(Node.self, byId: "b"))
  }
}

private protocol Chained {}

private final class Hen {
  let egg: Egg
  init(egg: Egg) { self.egg = egg }
}

private final class Egg {
  let hen: Hen
  init(hen: Hen) { self.hen = hen }
}

private final class Ouroboros {
  let tail: Ouroboros
  init(tail: Ouroboros) { self.tail = tail }
}

private final class Farm { init(hen: Hen) {} }

private final class Node: Initializable {
  var next: Node?
  init() {}
}

private final class Link: Chained {
  let node: Node
  init(node: Node) { self.node = node }
}
