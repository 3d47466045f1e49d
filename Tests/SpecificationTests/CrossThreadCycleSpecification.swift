import Beans
import TestSupport
import Testing

/// A builds x and needs y, B builds y and needs x: the second one to wait gets an error, never a deadlock.
@Suite("Cycles across threads", .timeLimit(.minutes(20))) struct CrossThreadCycleSpecification {
  /// Returns an environment of lazy nodes; each looks up the next in the ring, when all factories have been entered.
  private func ring(
    of ids: [String], closed: Captured<Bool>, surviving: Set<String> = []
  ) throws -> Environment {
    let environment = try Environment(name: "ring")
    let meeting = MeetingPoint(of: ids.count, "all factories")
    for (index, id) in ids.enumerated() {
      let next = ids[(index + 1) % ids.count]
      try environment.define(
        environment.bean(Node.self, id: id, lazy: true) { [unowned environment] in
          guard closed.value == true else { return Node(next: nil) }
          try meeting.arriveAndWait()
          if surviving.contains(id) {
            return Node(next: try? environment.getBean(Node.self, byId: next))
          }
          return Node(next: try environment.getBean(Node.self, byId: next))
        })
    }
    return try environment.startup()
  }

  @Test("Threads that wait for each other in a ring all get cyclicDependency with the path", arguments: [2, 3, 5])
  func ring(size: Int) throws {
    let ids = (0..<size).map { "node-\($0)" }
    let closed = Captured<Bool>()
    closed.value = true
    let environment = try ring(of: ids, closed: closed)
    let threads = ids.map { id in BackgroundThread { try environment.getBean(Node.self, byId: id) } }
    for thread in threads {
      let fault = try requireFault(.cyclicDependency) { try thread.value() }
      #expect(fault.path.count > size)
      for id in ids { #expect(fault.description.contains(id)) }
    }
  }

  @Test("The slots are empty after such a failure: the next lookups try again")
  func triesAgain() throws {
    let closed = Captured<Bool>()
    closed.value = true
    let environment = try ring(of: ["a", "b"], closed: closed)
    let threads = ["a", "b"].map { id in BackgroundThread { try environment.getBean(Node.self, byId: id) } }
    for thread in threads { try requireFault(.cyclicDependency) { try thread.value() } }
    closed.value = false
    #expect(try environment.getBean(Node.self, byId: "a").next == nil)
    #expect(try environment.getBean(Node.self, byId: "b").next == nil)
  }

  @Test("A factory that survives the refusal lets the others finish")
  func survivor() throws {
    let closed = Captured<Bool>()
    closed.value = true
    // The refused factory survives, whichever it is; the other one then gets its bean.
    let environment = try ring(of: ["a", "b"], closed: closed, surviving: ["a", "b"])
    let threads = ["a", "b"].map { id in BackgroundThread { try environment.getBean(Node.self, byId: id) } }
    let (a, b) = (try threads[0].value(), try threads[1].value())
    #expect((a.next === b && b.next == nil) || (b.next === a && a.next == nil))
  }

  @Test("The ring may pass through constructor injection")
  func throughInjection() throws {
    let environment = try Environment()
    let meeting = MeetingPoint(of: 2, "both factories")
    try environment.define(
      environment.bean(Node.self, id: "x", lazy: true) { [unowned environment] in
        try meeting.arriveAndWait()
        return Node(next: try environment.getBean(Wrapper.self).node)
      })
    try environment.define(
      environment.bean(Node.self, id: "y", lazy: true) { [unowned environment] in
        try meeting.arriveAndWait()
        return Node(next: try environment.getBean(Node.self, byId: "x"))
      })
    try environment.define(environment.bean(Wrapper.self, lazy: true, factory: Wrapper.init).argument(0, ref: "y"))
    try environment.startup()
    let threads = ["x", "y"].map { id in BackgroundThread { try environment.getBean(Node.self, byId: id) } }
    for thread in threads {
      try requireFault(.cyclicDependency, description: "Wrapper") { try thread.value() }
    }
  }

  @Test("The ring may pass through a child and its parent")
  func throughHierarchy() throws {
    let application = try Environment(name: "application")
    let holder = Captured<Environment>()
    let meeting = MeetingPoint(of: 2, "both factories")
    try application.define(
      application.bean(
        Wrapper.self, lazy: true,
        factory: { try meeting.before(Wrapper(node: try holder.value!.getBean(Node.self))) }))
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(
        child.bean(Node.self) { (environment: Environment) in
          try meeting.before(Node(next: try environment.getBean(Wrapper.self).node))
        })
    }
    let child = try requests.build(1)
    holder.value = child
    let wrapper = BackgroundThread { _ = try application.getBean(Wrapper.self) }
    let node = BackgroundThread { _ = try child.getBean(Node.self) }
    try requireFault(.cyclicDependency) { try wrapper.value() }
    try requireFault(.cyclicDependency) { try node.value() }
    holder.value = nil
    try application.shutdown()
  }

  @Test("Threads that wait for the same bean without a ring are no cycle")
  func crossingPaths() throws {
    let environment = try Environment()
    let meeting = MeetingPoint(of: 2, "both factories")
    try environment.define(environment.bean(Node.self, id: "shared", lazy: true, factory: { Node(next: nil) }))
    for id in ["a", "b"] {
      try environment.define(
        environment.bean(Node.self, id: id, lazy: true) { [unowned environment] in
          try meeting.arriveAndWait()
          return Node(next: try environment.getBean(Node.self, byId: "shared"))
        })
    }
    try environment.startup()
    let threads = ["a", "b"].map { id in BackgroundThread { try environment.getBean(Node.self, byId: id) } }
    #expect(try threads[0].value().next === threads[1].value().next)
  }
}

private final class Node: Sendable {
  let next: Node?
  init(next: Node?) { self.next = next }
}

private final class Wrapper: Sendable {
  let node: Node
  init(node: Node) { self.node = node }
}
