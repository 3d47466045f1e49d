import Beans
import BeansInject
import Testing

@Suite("Declaring") struct DeclaringSpecification {
  @FreshEnvironment private var environment

  @Test("define on a started environment throws frozen")
  func defineAfterStartup() throws {
    let environment = try Environment(name: "started").startup()
    try requireFault(.frozen) { try environment.define(environment.bean(Plain.self)) }
    #expect(try environment.getBeansByType(Plain.self).isEmpty)
  }

  @Test("registerScope on a started environment throws frozen")
  func registerScopeAfterStartup() throws {
    let environment = try Environment(name: "started").startup()
    try requireFault(.frozen) { try environment.registerScope(AbstractBeanScope(name: "late")) }
  }

  @Test("childFactory on a started environment throws frozen")
  func childFactoryAfterStartup() throws {
    let environment = try Environment(name: "started").startup()
    defer { try? environment.shutdown() }
    try requireFault(.frozen) { try environment.childFactory("request", seed: Int.self) }
  }

  @Test("A declaration after startup is named by its place")
  func placeOfLateDeclarations() throws {
    let environment = try Environment(name: "started").startup()
    defer { try? environment.shutdown() }
    let calls: [(what: String, call: (Environment) throws -> Void)] = [
      ("registerScope", { try $0.registerScope(AbstractBeanScope(name: "late"), file: "Late.swift", line: 7) }),
      ("childFactory", { _ = try $0.childFactory("late", seed: Int.self, file: "Late.swift", line: 7) }),
      ("childFactory", { _ = try $0.childFactory("late", seed: Int.self, file: "Late.swift", line: 7) { _ in } }),
      ("include", { try $0.include(Stocks(), file: "Late.swift", line: 7) }),
      (
        "registerConversion",
        { try $0.registerConversion(from: Int.self, to: Port.self, file: "Late.swift", line: 7) { Port(number: $0) } }
      ),
    ]
    for (what, call) in calls {
      let error = try requireFault(.frozen) { try call(environment) }
      #expect(error.message.hasPrefix(what))
      #expect(error.origin == EnvironmentError.Origin(file: "Late.swift", line: 7), "\(what)")
    }
    // The default is the place of the call.
    let here = try requireFault(.frozen) { try environment.registerScope(AbstractBeanScope(name: "late")) }
    #expect(here.origin == EnvironmentError.Origin(file: #fileID, line: #line - 1))
  }

  @Test("A scope whose name is taken is named with both places")
  func placesOfOneName() throws {
    let environment = try Environment(name: "shop")
    defer { try? environment.shutdown() }
    let first = EnvironmentError.Origin(file: #fileID, line: #line + 1)
    try environment.registerScope(AbstractBeanScope(name: "shift"))
    let registered = try requireFault(.invalidDeclaration, message: "\(first)") {
      try environment.registerScope(AbstractBeanScope(name: "shift"))
    }
    #expect(registered.origin == EnvironmentError.Origin(file: #fileID, line: #line - 2))

    let outer = EnvironmentError.Origin(file: #fileID, line: #line + 1)
    let requests = try environment.childFactory("request", seed: Int.self)
    let opened = try requireFault(.invalidDeclaration) { try requests.childFactory("request", seed: Int.self) }
    #expect(opened.origin == EnvironmentError.Origin(file: #fileID, line: #line - 1))
    #expect(opened.message.contains("\(outer)"))
  }

  @Test("A first lookup starts the environment, and so freezes it")
  func defineAfterFirstLookup() throws {
    let environment = try Environment(name: "looked up")
    try environment.define(environment.bean(Plain.self))
    _ = try environment.getBean(Plain.self)
    try requireFault(.frozen) { try environment.define(environment.bean(Port(number: 1))) }
  }

  @Test("An environment has its name and its parent")
  func nameAndParent() throws {
    let parent = try Environment(name: "application")
    defer { try? parent.shutdown() }
    let child = try Environment(name: "tenant", parent: parent)
    #expect(parent.name == "application")
    #expect(parent.parent == nil)
    #expect(child.name == "tenant")
    #expect(child.parent === parent)
  }

  @Test("A bean is a class that need not derive from another one")
  func plainClass() throws {
    try environment.define(environment.bean(Plain.self))
    let bean = try environment.getBean(Plain.self)
    #expect(try environment.getBean(Plain.self) === bean)
  }

  @Test("A bean may be a value: structures and enumerations are boxed by the container")
  func values() throws {
    try environment.define(environment.bean(Port.self, factory: { Port(number: 8080) }))
    try environment.define(environment.bean(Mode.self, factory: { Mode.fast(level: 3) }))
    try environment.define(environment.bean(Listener.self, factory: Listener.init))
    #expect(try environment.getBean(Port.self) == Port(number: 8080))
    #expect(try environment.getBean(Mode.self) == .fast(level: 3))
    #expect(try environment.getBean(Listener.self).port == Port(number: 8080))
  }

  @Test("A value bean is found by a protocol it conforms to")
  func valueByProtocol() throws {
    try environment.define(environment.bean(Port.self, factory: { Port(number: 25) }))
    #expect(try environment.getBean((any Addressable).self).address == ":25")
  }

  @Test("An instance handed in is the bean, by type and by id")
  func readyInstance() throws {
    let plain = Plain()
    try environment.define(environment.bean(plain, id: "plain"))
    try environment.define(environment.bean(Port(number: 1)))
    #expect(try environment.getBean(Plain.self) === plain)
    #expect(try environment.getBean(Plain.self, byId: "plain") === plain)
    #expect(try environment.getBean(Port.self).number == 1)
  }

  @Test("An instance handed in is wired like any other bean")
  func readyInstanceIsWired() throws {
    let plain = Plain()
    try environment.define(environment.bean(plain).property(\.name, value: "wired"))
    try environment.startup()
    #expect(plain.name == "wired")
  }

  @Test("id, lazy, abstract, parent and scope may be given fluently or as arguments")
  func fluentDeclaration() throws {
    let built = Counter()
    let counting: @Sendable () -> Plain = { built.counting(Plain()) }
    try environment.define(environment.bean(Plain.self, id: "a", lazy: true, factory: counting))
    try environment.define(environment.bean(Plain.self, factory: counting).id("b").lazy())
    try environment.define(environment.bean(Plain.self, factory: counting).id("c").abstract())
    try environment.define(environment.bean(Plain.self, factory: counting).id("d").scope("prototype"))
    try environment.startup()
    #expect(built.value == 0)
    #expect(try environment.getBean(Plain.self, byId: "a") !== environment.getBean(Plain.self, byId: "b"))
    #expect(built.value == 2)
  }

  @Test("An optional is no bean type")
  func optionalType() throws {
    try requireFault(.invalidDeclaration, description: "Plain") {
      try environment.define(environment.bean(Plain?.self, factory: { Plain() })).startup()
    }
  }

  @Test("An array is no bean type")
  func arrayType() throws {
    try requireFault(.invalidDeclaration) {
      try environment.define(environment.bean([Plain].self, factory: { [Plain()] })).startup()
    }
  }

  @Test("A wrapper of the container is no bean type")
  func wrapperType() throws {
    try environment.define(environment.bean(Plain.self))
    try requireFault(.invalidDeclaration) {
      try environment.define(
        environment.bean(Provider<Plain>.self, factory: { (provider: Provider<Plain>) in provider })
      ).startup()
    }
  }

  @Test("An optional or an array handed in as an instance is refused")
  func optionalInstance() throws {
    let optional = try Environment(name: "optional")
    let nothing: Plain? = nil
    try requireFault(.invalidDeclaration) { try optional.define(optional.bean(nothing)).startup() }
    let array = try Environment(name: "array")
    try requireFault(.invalidDeclaration) { try array.define(array.bean([Port(number: 1)])).startup() }
  }

  @Test("A class without init() needs a factory, and the fault reports this")
  func missingFactory() throws {
    let (declaration, line) = (environment.bean(NeedsPort.self), #line)
    try environment.define(declaration)
    try requireFault(.invalidDeclaration, description: "NeedsPort", "factory", line: line) { try environment.startup() }
  }

  @Test("A metatype is no instance: it is a class that has no factory")
  func metatype() throws {
    let type: Any.Type = Plain.self
    try requireFault(.invalidDeclaration) { try environment.define(environment.bean(type)).startup() }
  }

  @Test("A class without init() is legal when abstract")
  func abstractWithoutFactory() throws {
    try environment.define(environment.bean(NeedsPort.self, id: "template", abstract: true)).startup()
    try requireFault(.unknownBean) { try environment.getBean(NeedsPort.self) }
  }

  @Test("A class without init() is legal when its template brings the factory")
  func factoryFromTemplate() throws {
    try environment.define(environment.bean(NeedsPort.self, parent: "template"))
    try environment.define(
      environment.bean(NeedsPort.self, id: "template", abstract: true, factory: { NeedsPort(port: Port(number: 7)) }))
    #expect(try environment.getBean(NeedsPort.self).port.number == 7)
  }

  @Test("A template without a factory does not make such a class legal")
  func noFactoryInTemplate() throws {
    try environment.define(environment.template("template"))
    try environment.define(environment.bean(NeedsPort.self, parent: "template"))
    try requireFault(.invalidDeclaration) { try environment.startup() }
  }

  @Test("Dependencies are known before anything is built: a fault in the last bean builds none")
  func nothingIsBuiltBeforeValidation() throws {
    let built = Counter()
    try environment.define(environment.bean(Plain.self, factory: { built.counting(Plain()) }))
    try environment.define(environment.bean(Listener.self, factory: Listener.init))
    try requireFault(.unknownBean, description: "Port") { try environment.startup() }
    #expect(built.value == 0)
  }

  @Test("No instance is created to find dependencies")
  func noSampleInstances() throws {
    let made = Sample.made.value
    try environment.define(environment.bean(Sample.self, lazy: true).property(\.plain, inject: InjectBean()))
    try environment.define(environment.bean(Sample.self, id: "template", abstract: true))
    try environment.define(environment.bean(Plain.self))
    try environment.startup()
    #expect(Sample.made.value == made)
    _ = try environment.getBean(Sample.self)
    #expect(Sample.made.value == made + 1)
  }

  @Test("Duplicate ids are a fault of startup, not of define")
  func duplicateIds() throws {
    try environment.define(environment.bean(Plain.self, id: "twice"))
    let (second, line) = (environment.bean(Port(number: 1), id: "twice"), #line)
    try environment.define(second)
    try requireFault(.duplicateId, description: "twice", line: line) { try environment.startup() }
  }

  @Test("An abstract bean takes an id like any other")
  func duplicateTemplateId() throws {
    try environment.define(environment.template("twice"))
    try environment.define(environment.bean(Plain.self, id: "twice"))
    try requireFault(.duplicateId) { try environment.startup() }
  }
}

private protocol Addressable { var address: String { get } }

private struct Port: Equatable, Addressable {
  var number: Int
  var address: String { ":\(number)" }
}

private enum Mode: Equatable { case fast(level: Int) }

private struct Listener { let port: Port }

private final class Plain: Initializable {
  var name = ""
  init() {}
}

private final class NeedsPort {
  let port: Port
  init(port: Port) { self.port = port }
}

private final class Sample: Initializable {
  static let made = Counter()
  var plain: Plain?
  init() { Self.made.increment() }
}

private struct Stocks: BeanModule {
  func configure(_ environment: Environment) throws {}
}
