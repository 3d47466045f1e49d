import Beans
import Testing

@Suite("Faults of startup") struct StartupFaultSpecification {
  @FreshEnvironment private var environment

  @Test("A single fault is thrown as itself")
  func single() throws {
    try environment.define(environment.bean(Client.self, factory: Client.init))
    try requireFault(.unknownBean, through: "Client") { try environment.startup() }
  }

  @Test("All faults are reported at once, as startupFailed that holds them, each with its origin")
  func allAtOnce() throws {
    var lines: [Int] = []
    func define(_ declaration: BeanDeclaration, _ line: Int) throws {
      lines.append(line)
      try environment.define(declaration)
    }
    try define(environment.bean(Client.self, factory: Client.init), #line)
    try define(environment.bean(Part.self, parent: "nowhere", factory: { Part() }), #line)
    try define(environment.bean(Gear.self).scope("reqest"), #line)
    try define(environment.bean(Hen.self, factory: Hen.init), #line)
    try environment.define(environment.bean(Egg.self, factory: Egg.init))
    try environment.define(environment.bean(Gear.self, id: "twice"))
    try define(environment.bean(Gear.self, id: "twice"), #line)
    try define(environment.bean(NoFactory.self), #line)

    let failure = try requireFault(.startupFailed) { try environment.startup() }
    let faults = failure.underlying.compactMap { $0 as? EnvironmentError }
    #expect(faults.count == failure.underlying.count)
    let expected: Set<EnvironmentError.Code> = [
      .unknownBean, .unknownScope, .cyclicDependency, .duplicateId, .invalidDeclaration,
    ]
    #expect(Set(faults.map(\.code)) == expected)
    #expect(faults.filter { $0.code == .unknownBean }.count == 2)
    for line in lines where line != lines[3] {
      #expect(faults.contains { $0.isFrom(file: #fileID, line: line) }, "no fault of line \(line)")
    }
    for fault in faults {
      #expect(failure.description.contains(fault.message))
    }
  }

  @Test("Two faults of one bean are two faults")
  func twoOfOneBean() throws {
    try environment.define(environment.bean(Pair.self, factory: Pair.init))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownBean, .unknownBean])
    #expect(faults.contains { $0.description.contains("Missing") })
    #expect(faults.contains { $0.description.contains("Gear") })
  }

  @Test("A fault's description holds message, path, id and file:line")
  func description() throws {
    let (client, line) = (environment.bean(Client.self, id: "main-client", factory: Client.init), #line)
    try environment.define(client)
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    let text = fault.description
    #expect(text.contains(fault.message))
    #expect(text.contains("\(#fileID):\(line)"))
    #expect(text.contains("main-client"))
    #expect(text.contains("Missing"))
    #expect(!fault.path.isEmpty)
  }

  @Test("Faults of lazy beans and of prototypes are faults of startup")
  func lazyAndPrototypes() throws {
    try environment.define(environment.bean(Client.self, lazy: true, factory: Client.init))
    try environment.define(
      environment.bean(Pair.self, factory: Pair.init).scope("prototype").argument(1, value: Gear()))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownBean, .unknownBean])
    #expect(faults.contains { $0.passes("Client") })
    #expect(faults.contains { $0.passes("Pair") })
  }

  @Test("Faults of a factory's children are found at startup, with those of the application")
  func faultsOfChildren() throws {
    try environment.define(environment.bean(Pair.self, factory: Pair.init).argument(1, value: Gear()))
    _ = try environment.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Client.self, factory: Client.init))
    }
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownBean, .unknownBean])
    #expect(faults.contains { $0.passes("Client") })
    #expect(faults.contains { $0.passes("Pair") })
  }

  @Test("A failed environment throws the same cause with every later call")
  func staysFailed() throws {
    try environment.define(environment.bean(Client.self, factory: Client.init))
    try environment.define(environment.bean(Gear.self, id: "gear"))
    let requests = try environment.childFactory("request", seed: Int.self)
    let cause = try requireFault(.unknownBean) { try environment.startup() }
    let calls: [() throws -> Void] = [
      { try environment.startup() },
      { _ = try environment.getBean(Gear.self) },
      { _ = try environment.getBean(Gear.self, byId: "gear") },
      { _ = try environment.getBeansByType(Gear.self) },
      { try environment.withBean(Gear.self) { _ in } },
      { _ = try requests.build(1) },
      { _ = try requests.withChild(1) { _ in } },
    ]
    for (index, call) in calls.enumerated() {
      let again = try requireFault(.unknownBean) { try call() }
      #expect(again.message == cause.message, "call \(index)")
      #expect(again.path == cause.path, "call \(index)")
    }
  }

  @Test("A declaration that is faulty for the children of two factories is reported once")
  func onceForTwoFactories() throws {
    _ = try environment.childFactory("request", seed: Int.self)
    _ = try environment.childFactory("visit", seed: String.self).childFactory("request", seed: Int.self)
    try environment.define(environment.bean(Client.self, factory: Client.init).scope("request"))
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(fault.underlying.isEmpty && fault.passes("Client"))
  }

  @Test("A lookup below a failed environment throws its cause, even after the root has been shut down")
  func belowFailedEnvironment() throws {
    let root = try Environment()
    let failed = try Environment(parent: root)
    try failed.define(failed.bean(Client.self, factory: Client.init))
    let below = try Environment(parent: failed)
    try requireFault(.unknownBean) { try failed.startup() }
    try root.shutdown()
    for environment in [below, failed] {
      try requireFault(.unknownBean, through: "Client") { try environment.getBean(Client.self) }
    }
    try requireFault(.finished) { try root.getBean(Client.self) }
  }

  @Test("A first lookup that fails to start the environment throws the fault of startup")
  func failingFirstLookup() throws {
    try environment.define(environment.bean(Gear.self))
    try environment.define(environment.bean(Client.self, factory: Client.init))
    try requireFault(.unknownBean, through: "Client") { try environment.getBean(Gear.self) }
  }

  @Test("A throwing factory causes the release of the built beans in reverse order, and the environment is failed")
  func releasesBuiltBeans() throws {
    let journal = Journal()
    for name in ["a", "b"] {
      try environment.define(
        environment.bean(Noted.self, id: name, factory: { Noted(name, journal) })
          .onDestroy { _ in journal.note("onDestroy \(name)") })
    }
    try environment.define(
      environment.bean(Part.self) {
        journal.note("boom")
        throw Boom()
      }.onDestroy { _ in journal.note("onDestroy part") })
    try environment.define(environment.bean(Noted.self, id: "c", factory: { Noted("c", journal) }))

    let fault = try requireFault(.creationFailed, causes: [Boom()]) { try environment.startup() }
    let expected = [
      "init a", "init b", "boom", "preDestroy b", "onDestroy b", "preDestroy a", "onDestroy a",
    ]
    #expect(journal.entries == expected)

    let again = try requireFault(.creationFailed) { try environment.getBean(Noted.self, byId: "a") }
    #expect(again.message == fault.message)
    try? environment.shutdown()
    #expect(journal.entries == expected)
  }

  @Test("A release that fails after a failed startup hides neither the cause nor the other releases")
  func failingReleaseAfterFailedStartup() throws {
    let journal = Journal()
    try environment.define(environment.bean(Noted.self, factory: { Noted("a", journal) }))
    try environment.define(environment.bean(Gear.self).onDestroy { _ in throw Boom(name: "release") })
    try environment.define(environment.bean(Part.self, factory: { throw Boom(name: "factory") }))
    let fault = try requireFault(.creationFailed) { try environment.startup() }
    #expect(fault.causes.contains(Boom(name: "factory")))
    #expect(journal.entries == ["init a", "preDestroy a"])
  }

  @Test("A failing child releases its own beans, not its parent's")
  func failingChild() throws {
    let journal = Journal()
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(Noted.self, id: "parent's", factory: { Noted("parent's", journal) }))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Noted.self, id: "child's", factory: { Noted("child's", journal) }))
    try child.define(child.bean(Part.self, factory: { throw Boom() }))
    try requireFault(.creationFailed) { try child.startup() }
    #expect(journal.entries == ["init parent's", "init child's", "preDestroy child's"])
    _ = try parent.getBean(Noted.self)
  }

  @Test("A plain child of a failed environment fails with the same cause")
  func childOfFailed() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(Client.self, factory: Client.init))
    let cause = try requireFault(.unknownBean) { try parent.startup() }
    let fault = try requireFault(.unknownBean) { try Environment(name: "child", parent: parent).startup() }
    #expect(fault.message == cause.message)
  }
}

private final class Missing {}

private final class Gear: Initializable { init() {} }

private final class Part {}

private final class NoFactory {}

private final class Client {
  init(missing: Missing) {}
}

private final class Pair {
  init(missing: Missing, gear: Gear) {}
}

private final class Hen {
  init(egg: Egg) {}
}

private final class Egg {
  init(hen: Hen) {}
}

private final class Noted: DisposableBean {
  let name: String
  let journal: Journal
  init(_ name: String, _ journal: Journal) {
    self.name = name
    self.journal = journal
    journal.note("init \(name)")
  }
  func preDestroy() throws { journal.note("preDestroy \(name)") }
}
