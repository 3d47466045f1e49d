import Beans
import Testing

@Suite("Building one bean") struct LifecycleSpecification {
  @FreshEnvironment private var environment
  private let journal = Journal()

  // MARK: order

  @Test("The steps run in order: factory, properties, environment, post processors, postConstruct, .postConstruct")
  func order() throws {
    let journal = journal
    try environment.define(
      environment.bean(Witness.self, factory: { Witness(journal) })
        .property(\.name, value: "named")
        .postConstruct { _ in journal.note(".postConstruct") })
    try environment.define(environment.bean(Inspector.self, factory: { processor("first", journal) }))
    try environment.define(environment.bean(Inspector.self, factory: { processor("second", journal) }))
    try environment.startup()
    #expect(
      journal.entries == [
        "factory", "property", "environment", "first", "second", "postConstruct", ".postConstruct",
      ])
  }

  @Test("The ancestors' post processors come first")
  func ancestorsFirst() throws {
    let journal = journal
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    let child = try Environment(name: "child", parent: parent)
    let grandchild = try Environment(name: "grandchild", parent: child)
    try grandchild.define(grandchild.bean(Inspector.self, factory: { processor("grandchild", journal) }))
    try grandchild.define(grandchild.bean(Witness.self, factory: { Witness(journal) }))
    try child.define(child.bean(Inspector.self, factory: { processor("child", journal) }))
    try parent.define(parent.bean(Inspector.self, factory: { processor("parent 1", journal) }))
    try parent.define(parent.bean(Inspector.self, factory: { processor("parent 2", journal) }))
    try grandchild.startup()
    let expected = ["factory", "environment", "parent 1", "parent 2", "child", "grandchild", "postConstruct"]
    #expect(journal.entries == expected)
  }

  @Test("A child's post processors never receive the parent's beans, even if first looked up through the child")
  func childProcessorsStayInside() throws {
    let journal = journal
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(Witness.self, lazy: true, factory: { Witness(journal) }))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Inspector.self, factory: { processor("child", journal) }))
    _ = try child.getBean(Witness.self)
    #expect(journal.entries == ["factory", "environment", "postConstruct"])
  }

  @Test("Post processors receive the beans of a factory's children")
  func processorsAndChildren() throws {
    let journal = journal
    let application = try Environment(name: "application")
    defer { try? application.shutdown() }
    try application.define(application.bean(Inspector.self, factory: { processor("processor", journal) }))
    let requests = try application.childFactory("request", seed: Int.self) { child in
      try child.define(child.bean(Witness.self, factory: { Witness(journal) }))
    }
    try requests.withChild(1) { child in
      _ = try child.getBean(Witness.self)
      #expect(journal.entries == ["factory", "environment", "processor", "postConstruct"])
    }
  }

  @Test("A post processor may replace the object: the next one gets it, it is post-constructed and cached")
  func replacing() throws {
    let journal = journal
    try environment.define(environment.bean(Replacer.self))
    try environment.define(environment.bean(Inspector.self, factory: { processor("next", journal) }))
    try environment.define(
      environment.bean(Witness.self, factory: { Witness(journal) })
        .postConstruct { journal.note(".postConstruct \(type(of: $0))") })
    let bean = try environment.getBean(Witness.self)
    #expect(bean is WitnessProxy)
    #expect(try environment.getBean(Witness.self) === bean)
    let expected = ["factory", "environment", "next of a proxy", "proxy postConstruct", ".postConstruct WitnessProxy"]
    #expect(journal.entries == expected)
  }

  @Test("The replacement, not the original, is released")
  func replacementIsReleased() throws {
    let journal = journal
    try environment.define(environment.bean(Replacer.self))
    try environment.define(environment.bean(Witness.self, factory: { Witness(journal) }))
    try environment.startup()
    try environment.shutdown()
    #expect(journal.count(of: "proxy preDestroy") == 1)
    #expect(journal.count(of: "preDestroy") == 0)
  }

  @Test("A replacement of another type is a type mismatch, never a trap")
  func unfittingReplacement() throws {
    try environment.define(environment.bean(Vandal.self))
    try environment.define(environment.bean(Part.self, lazy: true))
    try environment.startup()
    try requireFault(.typeMismatch, description: "Part") { try environment.getBean(Part.self) }
  }

  @Test("Every instance of a prototype goes through all steps")
  func prototypes() throws {
    let journal = journal
    try environment.define(environment.bean(Witness.self, factory: { Witness(journal) }).scope("prototype"))
    _ = try environment.getBean(Witness.self)
    _ = try environment.getBean(Witness.self)
    let once = ["factory", "environment", "postConstruct"]
    #expect(journal.entries == once + once)
  }

  @Test("An instance handed in goes through all steps but the factory")
  func readyInstance() throws {
    let journal = journal
    let witness = Witness(journal)
    try environment.define(environment.bean(Inspector.self, factory: { processor("processor", journal) }))
    try environment.define(
      environment.bean(witness).property(\.name, value: "named").postConstruct { _ in journal.note(".postConstruct") })
    try environment.startup()
    let expected = ["factory", "property", "environment", "processor", "postConstruct", ".postConstruct"]
    #expect(journal.entries == expected)
    try environment.shutdown()
    #expect(journal.entries == expected + ["preDestroy"])
  }

  @Test("A value bean has a lifecycle as well")
  func values() throws {
    let journal = journal
    try environment.define(
      environment.bean(Token.self, factory: { Token(journal: journal) })
        .postConstruct { _ in journal.note(".postConstruct") }
        .onDestroy { _ in journal.note(".onDestroy") })
    try environment.startup()
    try environment.shutdown()
    #expect(journal.entries == ["postConstruct", ".postConstruct", "preDestroy", ".onDestroy"])
  }

  // MARK: EnvironmentAware

  @Test("EnvironmentAware receives the environment in which the bean is built")
  func environmentAware() throws {
    let journal = journal
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(Witness.self, id: "singleton", lazy: true, factory: { Witness(journal) }))
    try parent.define(parent.bean(Witness.self, id: "prototype", factory: { Witness(journal) }).scope("prototype"))
    let child = try Environment(name: "child", parent: parent)
    let sibling = try Environment(name: "sibling", parent: parent)
    let singleton = try child.getBean(Witness.self, byId: "singleton")
    #expect(singleton.environment === parent)
    #expect(try child.getBean(Witness.self, byId: "prototype").environment === child)
    #expect(try sibling.getBean(Witness.self, byId: "prototype").environment === sibling)
    try sibling.startup()
    #expect(singleton.environment === parent)
  }

  // MARK: failures

  @Test("An error of a factory arrives once, as creationFailed with the original in underlying")
  func throwingFactory() throws {
    let (part, line) = (environment.bean(Part.self, id: "part", lazy: true, factory: { throw Boom() }), #line)
    try environment.define(part)
    let fault = try requireFault(.creationFailed, description: "part", through: "Part", line: line) {
      try environment.getBean(Part.self)
    }
    #expect(fault.underlying.count == 1)
    #expect(fault.underlying.first as? Boom == Boom())
  }

  @Test("The original error arrives once, with the whole path, through any number of users")
  func throwingDependency() throws {
    try environment.define(environment.bean(Part.self, lazy: true, factory: { throw Boom() }))
    try environment.define(environment.bean(Frame.self, lazy: true, factory: Frame.init))
    try environment.define(environment.bean(House.self, lazy: true, factory: House.init))
    try environment.startup()
    let fault = try requireFault(.creationFailed) { try environment.getBean(House.self) }
    #expect(fault.underlying.count == 1)
    #expect(fault.underlying.first as? Boom == Boom())
    #expect(fault.path.count == 3)
    #expect(fault.path.first?.contains("House") == true)
    #expect(fault.path.last?.contains("Part") == true)
  }

  @Test("An EnvironmentError from a lookup inside a factory passes through with its path extended")
  func lookupFails() throws {
    try environment.define(
      environment.bean(
        Frame.self, lazy: true, factory: { [unowned environment] in Frame(part: try environment.getBean(Part.self)) }))
    try environment.define(environment.bean(House.self, lazy: true, factory: House.init))
    try environment.startup()
    let direct = try requireFault(.unknownBean) { try environment.getBean(Part.self) }
    let fault = try requireFault(.unknownBean, through: "Frame") { try environment.getBean(House.self) }
    #expect(fault.path.first?.contains("House") == true)
    #expect(fault.path.count > direct.path.count)
    #expect(fault.description.contains("Part"))
  }

  @Test("A failing post processor or postConstruct is creationFailed, and the object is dropped without preDestroy")
  func failingSteps() throws {
    let journal = journal
    let declarations: [(Environment) throws -> Void] = [
      { environment in
        try environment.define(
          environment.bean(Inspector.self, factory: { Inspector { if $0 is Witness { throw Boom() } } }))
        try environment.define(environment.bean(Witness.self, lazy: true, factory: { Witness(journal) }))
      },
      { environment in
        try environment.define(
          environment.bean(Witness.self, lazy: true, factory: { Witness(journal, isFailing: true) }))
      },
      { environment in
        try environment.define(
          environment.bean(Witness.self, lazy: true, factory: { Witness(journal) })
            .postConstruct { _ in throw Boom() })
      },
    ]
    for (index, declare) in declarations.enumerated() {
      let environment = try Environment()
      try declare(environment)
      try environment.startup()
      let fault = try requireFault(.creationFailed, through: "Witness") { try environment.getBean(Witness.self) }
      #expect(fault.causes == [Boom()], "declaration \(index)")
      try environment.shutdown()
    }
    #expect(journal.count(of: "preDestroy") == 0)
    #expect(journal.count(of: "factory") == 3)
  }

  @Test("A failed build leaves nothing behind: the next lookup builds anew, and only that one is released")
  func triesAgain() throws {
    let journal = journal
    let attempts = Counter()
    try environment.define(
      environment.bean(Witness.self, lazy: true, factory: { Witness(journal, isFailing: attempts.increment() == 1) }))
    try environment.startup()
    try requireFault(.creationFailed) { try environment.getBean(Witness.self) }
    let witness = try environment.getBean(Witness.self)
    #expect(try environment.getBean(Witness.self) === witness)
    #expect(attempts.value == 2)
    try environment.shutdown()
    #expect(journal.count(of: "preDestroy") == 1)
  }

  @Test("An object whose building fails is not kept alive")
  func failedObjectIsFreed() throws {
    // The part is built on this thread.
    nonisolated(unsafe) weak var failed: Part?
    try environment.define(
      environment.bean(Part.self, lazy: true) {
        let part = Part()
        failed = part
        return part
      }.postConstruct { _ in throw Boom() })
    try requireFault(.creationFailed) { try environment.getBean(Part.self) }
    #expect(failed == nil)
  }
}

// MARK: - beans

private class Witness: Bean, DisposableBean, EnvironmentAware {
  let journal: Journal
  let isFailing: Bool
  var name = "" { didSet { journal.note("property") } }
  weak var environment: Environment? { didSet { journal.note("environment") } }

  init(_ journal: Journal, isFailing: Bool = false) {
    self.journal = journal
    self.isFailing = isFailing
    journal.note("factory")
  }

  init(replacing original: Witness) {
    journal = original.journal
    isFailing = false
  }

  func postConstruct() throws {
    journal.note("postConstruct")
    if isFailing { throw Boom() }
  }

  func preDestroy() throws { journal.note("preDestroy") }
}

private final class WitnessProxy: Witness {
  override func postConstruct() throws { journal.note("proxy postConstruct") }
  override func preDestroy() throws { journal.note("proxy preDestroy") }
}

private struct Token: Bean, DisposableBean {
  let journal: Journal
  func postConstruct() throws { journal.note("postConstruct") }
  func preDestroy() throws { journal.note("preDestroy") }
}

private func processor(_ name: String, _ journal: Journal) -> Inspector {
  Inspector { bean in if bean is Witness { journal.note(bean is WitnessProxy ? "\(name) of a proxy" : name) } }
}

private final class Replacer: BeanPostProcessor, Initializable {
  init() {}
  func process(_ bean: AnyObject) throws -> AnyObject {
    guard let witness = bean as? Witness else { return bean }
    return WitnessProxy(replacing: witness)
  }
}

private final class Vandal: BeanPostProcessor, Initializable {
  init() {}
  func process(_ bean: AnyObject) throws -> AnyObject {
    bean is Part ? Vandal() : bean
  }
}

private final class Part: Initializable { init() {} }

private final class Frame {
  init(part: Part) {}
}

private final class House {
  init(frame: Frame) {}
}
