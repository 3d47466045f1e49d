import Beans
import BeansInject
import Testing

@Suite("Injections that a class declares for its own properties") struct ClassInjectionSpecification {
  @FreshEnvironment private var environment

  // MARK: beans

  @Test("autowire injects the bean of the property's type, InjectBean the one with an id, inherited ones included")
  func beans() throws {
    try environment.define(environment.bean(Deluxe.self))
    try environment.define(environment.bean(Motor.self, id: "main", factory: { Motor() }).primary())
    try environment.define(environment.bean(Motor.self, id: "spare", factory: { Motor() }))
    let machine = try environment.getBean(Deluxe.self)
    #expect(try machine.motor === environment.getBean(Motor.self, byId: "main"))
    #expect(try machine.spare === environment.getBean(Motor.self, byId: "spare"))
    #expect(machine.absent == nil)
    #expect(
      try machine.motors.map(ObjectIdentifier.init) == environment.getBeansByType(Motor.self).map(ObjectIdentifier.init)
    )
  }

  @Test("Injected beans are built first")
  func order() throws {
    let journal = Journal()
    try environment.define(environment.bean(Machine.self, factory: { journal.noting("machine", Machine()) }))
    try environment.define(environment.bean(Motor.self, factory: { journal.noting("motor", Motor()) }))
    try environment.startup()
    #expect(journal.entries == ["motor", "machine"])
  }

  @Test("The steps run in order: properties, class-level injections, environment, post processors, postConstruct")
  func building() throws {
    let journal = Journal()
    try environment.define(environment.bean(Motor.self, factory: { Motor() }))
    try environment.define(environment.bean(journal))
    try environment.define(
      environment.bean(Inspector.self) { (journal: Journal) in
        Inspector { if $0 is Observed { journal.note("processed") } }
      })
    try environment.define(environment.bean(Observed.self, factory: Observed.init).property(\.given, value: "given"))
    try environment.startup()
    #expect(journal.entries == ["factory", "environment, motor: true, given: given", "processed", "constructed"])
  }

  @Test("The declaration's own property wins, by name and by key path, even without such a bean")
  func explicit() throws {
    let own = Motor(power: 1)
    for hasOther in [false, true] {
      let environment = try Environment()
      if hasOther { try environment.define(environment.bean(Motor.self, factory: { Motor() })) }
      try environment.define(environment.bean(Machine.self, id: "name").property("motor", value: own))
      try environment.define(environment.bean(Machine.self, id: "path").property(\.motor, value: own))
      #expect(try environment.getBean(Machine.self, byId: "name").motor === own)
      #expect(try environment.getBean(Machine.self, byId: "path").motor === own)
    }
  }

  @Test("A key path that may lead to either of two properties of one type wins, but does not excuse a missing bean")
  func ambiguousPath() throws {
    let (left, right) = (Motor(power: 1), Motor(power: 2))
    try environment.define(environment.bean(Motor.self, factory: { Motor() }))
    try environment.define(environment.bean(Twin.self, id: "one").property(\.left, value: left))
    try environment.define(
      environment.bean(Twin.self, id: "both").property(\.left, value: left).property("right", value: right))
    #expect(try environment.getBean(Twin.self, byId: "one").left === left)
    #expect(try environment.getBean(Twin.self, byId: "one").right.power == 100)
    #expect(try environment.getBean(Twin.self, byId: "both").right === right)
    let second = try Environment()
    try second.define(second.bean(Twin.self).property(\.left, value: left))
    let faults = try startupFaults(of: second)
    #expect(faults.map(\.code) == [.unknownBean, .unknownBean])
    let third = try Environment()
    try third.define(third.bean(FinalTwin.self).property(\.left, value: left).property(\.right, value: right))
    #expect(try third.getBean(FinalTwin.self).left === left)
    #expect(try third.getBean(FinalTwin.self).right === right)
  }

  @Test("A class without an instance is described all the same, and beans of other classes are not injected")
  func noInstance() throws {
    let built = Counter()
    try environment.define(environment.bean(Machine.self, lazy: true, factory: { built.counting(Machine()) }))
    try environment.define(environment.bean(Motor.self, factory: { Motor() }))
    try environment.startup()
    #expect(built.value == 0)
  }

  @Test("A class that does not describe itself can be described from outside, before the environment starts")
  func fromOutside() throws {
    let property = try BeanDescriptor.forClass(Foreign.self)["motor"]
    #expect(property.inject(InjectBean(id: "main")) === property)
    #expect(property.autowire() === property)
    try environment.define(environment.bean(Motor.self, factory: { Motor() }))
    try environment.define(environment.bean(Foreign.self))
    #expect(try environment.getBean(Foreign.self).motor === environment.getBean(Motor.self))
    let second = try Environment()
    try second.define(second.bean(Foreign.self, lazy: true))
    try requireFault(.unknownBean) { try second.startup() }
  }

  @Test("An object behind a protocol, and one of a subclass, are injected, too")
  func unforeseen() throws {
    try environment.define(environment.bean(Motor.self, factory: { Motor() }))
    try environment.define(environment.bean((any Mover).self, factory: { Machine() as any Mover }))
    #expect(try environment.getBean((any Mover).self).power == 100)
  }

  // MARK: configuration

  @Test("A configuration value is converted to the property's type; a default replaces a missing one")
  func configuration() throws {
    try environment.define(environment.settings().setValue(namespace: "server", key: "port", value: "8080"))
    try environment.define(environment.bean(Server.self))
    let server = try environment.getBean(Server.self)
    #expect(server.port == 8080)
    #expect(server.timeout == 30)
    #expect(server.name == nil)
  }

  @Test("Children of a factory get the value that startup has found")
  func configurationInChildren() throws {
    try environment.define(environment.settings().setValue(namespace: "server", key: "port", value: 1))
    try environment.define(environment.bean(Server.self).scope("request"))
    let requests = try environment.childFactory("request", seed: Void.self)
    #expect(try requests.withChild(()) { try $0.getBean(Server.self).port } == 1)
  }

  @Test("A declaration's own property excuses a missing value")
  func explicitConfiguration() throws {
    try environment.define(environment.bean(Server.self).property("port", value: "81"))
    #expect(try environment.getBean(Server.self).port == 81)
    let second = try Environment()
    try second.define(second.bean(Server.self).property(\.port, value: 82))
    #expect(try second.getBean(Server.self).port == 82)
  }

  @Test("A bean whose scope opens further in gets the value of the environment that declares it")
  func configurationFurtherIn() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.settings().setValue(namespace: "server", key: "port", value: 4))
    try parent.define(parent.bean(Server.self).scope("request"))
    try parent.startup()
    let child = try Environment(name: "child", parent: parent)
    let requests = try child.childFactory("request", seed: Void.self)
    #expect(try requests.withChild(()) { try $0.getBean(Server.self).port } == 4)
  }

  @Test("A source that is a bean is built before its values are needed")
  func configurationFromABean() throws {
    try environment.define(environment.bean(Server.self))
    try environment.define(environment.bean(Source.self, factory: { Source() }))
    #expect(try environment.getBean(Server.self).port == 99)
  }

  @Test("A missing value without default, and one that does not convert, are faults at startup")
  func configurationFaults() throws {
    try environment.define(environment.bean(Server.self, id: "server", lazy: true))
    try requireFault(.missingConfiguration, message: "port", through: "'server'") { try environment.startup() }
    let second = try Environment()
    try second.define(second.settings().setValue(namespace: "server", key: "port", value: "many"))
    try second.define(second.bean(Server.self, lazy: true))
    try requireFault(.conversionFailed) { try second.startup() }
  }

  // MARK: user-defined kinds

  @Test("An Injection that is defined as a bean adds a kind, wherever it is declared, for all below")
  func ownKind() throws {
    try environment.define(environment.bean(Report.self))
    try environment.define(environment.bean(ShoutInjection.self, factory: { ShoutInjection("!") }))
    #expect(try environment.getBean(Report.self).title == "HELLO!")
    let child = try Environment(name: "child", parent: environment)
    try child.define(child.bean(Report.self))
    #expect(try child.getBean(Report.self).title == "HELLO!")
    let other = try Environment(name: "other", parent: environment)
    try other.define(other.bean(Report.self))
    try other.define(other.bean(ShoutInjection.self, factory: { ShoutInjection("?") }))
    let requests = try other.childFactory("request", seed: Void.self) { try $0.define($0.bean(Report.self)) }
    #expect(try other.getBean(Report.self).title == "HELLO?")
    #expect(try requests.withChild(()) { try $0.getBean(Report.self).title } == "HELLO?")
  }

  @Test("An Injection may need beans, which come before it and are not processed")
  func injectionWithNeeds() throws {
    let journal = Journal()
    try environment.define(environment.bean(Report.self))
    try environment.define(environment.bean(Inspector.self, factory: { Inspector { journal.note("\(type(of: $0))") } }))
    try environment.define(
      environment.bean(ShoutInjection.self, factory: { (mark: Mark) in ShoutInjection(mark.text) }))
    try environment.define(environment.bean(Mark.self, factory: { Mark() }))
    #expect(try environment.getBean(Report.self).title == "HELLO#")
    #expect(journal.entries == ["Report"])
  }

  @Test("A missing Injection for the kind fails startup, even if there are others")
  func noInjection() throws {
    try environment.define(environment.bean(Report.self, lazy: true))
    try requireFault(.invalidDeclaration, message: "Shout") { try environment.startup() }
    let second = try Environment()
    try second.define(second.bean(Report.self, lazy: true))
    try second.define(second.bean(OtherInjection.self, factory: { OtherInjection() }))
    try requireFault(.invalidDeclaration) { try second.startup() }
  }

  @Test("An unfitting result of an Injection is a fault, and its error is passed on")
  func badInjection() throws {
    try environment.define(environment.bean(Report.self, lazy: true))
    try environment.define(environment.bean(ShoutInjection.self, factory: { ShoutInjection(nil) }))
    try environment.startup()
    try requireFault(.typeMismatch) { try environment.getBean(Report.self) }
    let second = try Environment()
    try second.define(second.bean(Report.self, lazy: true))
    try second.define(second.bean(ShoutInjection.self, factory: { ShoutInjection("throw") }))
    try requireFault(.creationFailed, causes: [Boom()]) { try second.getBean(Report.self) }
  }

  // MARK: foreign objects

  @Test("inject runs the class's injections on an object, and nothing else")
  func inject() throws {
    let journal = Journal()
    try environment.define(environment.settings().setValue(namespace: "server", key: "port", value: 5))
    try environment.define(environment.bean(Motor.self, factory: { Motor() }))
    try environment.define(environment.bean(ShoutInjection.self, factory: { ShoutInjection(".") }))
    try environment.define(environment.bean(Inspector.self, factory: { Inspector { journal.note("\(type(of: $0))") } }))
    let (machine, server, report) = (Machine(), Server(), Report())
    try environment.inject(machine)
    try environment.inject(server)
    try environment.inject(report)
    try environment.inject(journal)
    #expect(try machine.motor === environment.getBean(Motor.self))
    #expect(server.port == 5)
    #expect(report.title == "HELLO.")
    #expect(journal.entries == ["Motor"])
  }

  @Test("inject throws the error of a lookup")
  func injectFaults() throws {
    try requireFault(.unknownBean) { try environment.inject(Machine()) }
    try requireFault(.missingConfiguration) { try environment.inject(Server()) }
    try environment.shutdown()
    try requireFault(.finished) { try environment.inject(Machine()) }
  }

  // MARK: faults

  @Test("Missing, ambiguous and circular beans are faults at startup, even of lazy beans; so are captives")
  func faults() throws {
    try environment.define(environment.bean(Machine.self, lazy: true))
    try requireFault(.unknownBean) { try environment.startup() }
    let second = try Environment()
    try second.define(second.bean(Machine.self, lazy: true))
    for _ in 0..<2 { try second.define(second.bean(Motor.self, factory: { Motor() })) }
    try requireFault(.ambiguousBean) { try second.startup() }
    let third = try Environment()
    try third.define(third.bean(Machine.self, lazy: true))
    try third.define(third.bean(Motor.self, factory: { (_: Machine) in Motor() }))
    try requireFault(.cyclicDependency) { try third.startup() }
    let fourth = try Environment()
    try fourth.define(fourth.bean(Machine.self, lazy: true))
    try fourth.define(fourth.bean(Motor.self, factory: { Motor() }).scope("request"))
    _ = try fourth.childFactory("request", seed: Void.self)
    try requireFault(.captiveDependency) { try fourth.startup() }
  }

  @Test("A descriptor initializer that throws, or names no property, is a fault at startup")
  func badInitializer() throws {
    let line = #line + 1
    try environment.define(environment.bean(Misspelt.self, lazy: true))
    try environment.define(environment.bean(Constant.self, lazy: true))
    let faults = try startupFaults(of: environment)
    #expect(faults.map(\.code) == [.unknownProperty, .invalidDeclaration])
    #expect(faults[0].isFrom(file: #fileID, line: line))
  }

  @Test("A descriptor initializer may look beans up in a parent, without a deadlock")
  func lookupsInInitializer() throws {
    let parent = try Environment()
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(7))
    try parent.startup()
    Curious.parent.value = parent
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Curious.self, factory: { Curious() }))
    try child.startup()
    #expect(Curious.seen.value == 7)
    Curious.parent.value = nil
  }
}

private protocol Mover: AnyObject { var power: Int { get } }

private final class Motor: Initializable {
  let power: Int
  init() { power = 100 }
  init(power: Int) { self.power = power }
}

private class Machine: Initializable, BeanDescriptorInitializer, Mover {
  var motor = Motor(power: 0)
  var power: Int { motor.power }
  required init() {}

  class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["motor"].autowire()
  }
}

private final class Foreign: Initializable {
  var motor = Motor(power: 0)
  init() {}
}

private class Twin: Initializable, BeanDescriptorInitializer {
  var left = Motor(power: 0)
  var right = Motor(power: 0)
  required init() {}

  class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["left"].autowire()
    try beanDescriptor["right"].autowire()
  }
}

private final class FinalTwin: Initializable, BeanDescriptorInitializer {
  var left = Motor(power: 0)
  var right = Motor(power: 0)
  init() {}

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["left"].autowire()
    try beanDescriptor["right"].autowire()
  }
}

private final class Deluxe: Machine {
  var spare: Motor?
  var absent: Deluxe.Radio?
  var motors: [Motor] = []

  final class Radio {}

  override class func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try super.initializeBeanDescriptor(beanDescriptor)
    try beanDescriptor["spare"].inject(InjectBean(id: "spare"))
    try beanDescriptor["absent"].autowire()
    try beanDescriptor["motors"].autowire()
  }
}

private final class Observed: Bean, EnvironmentAware, BeanDescriptorInitializer {
  private let journal: Journal
  var given = ""
  private var motor: Motor?
  var environment: Environment? {
    didSet {
      if environment != nil { journal.note("environment, motor: \(motor != nil), given: \(given)") }
    }
  }

  init(_ journal: Journal) {
    self.journal = journal
    journal.note("factory")
  }

  func postConstruct() { journal.note("constructed") }

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["motor"].autowire()
  }
}

private final class Server: Initializable, BeanDescriptorInitializer {
  var port = 0
  var timeout: Int32 = 0
  var name: String?
  init() {}

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["port"].inject(InjectConfigurationValue(namespace: "server", key: "port"))
    try beanDescriptor["timeout"].inject(InjectConfigurationValue(key: "timeout", defaultValue: "30"))
    try beanDescriptor["name"].inject(InjectConfigurationValue(key: "name"))
  }
}

private final class Source: ConfigurationSource {
  let url = "bean"
  let canOverrule = true

  func load(_ manager: ConfigurationManager) throws {
    try manager.configurationAdded(ConfigurationItem(namespace: "server", key: "port", value: 99), source: self)
  }
}

private final class Shout: Inject, @unchecked Sendable {
  let text: String

  init(_ text: String) {
    self.text = text
    super.init()
  }
}

private final class ShoutInjection: Injection, @unchecked Sendable {
  private let mark: String?

  init(_ mark: String?) {
    self.mark = mark
    super.init(for: Shout.self)
  }

  override func computeValue(_ inject: Inject, property: PropertyDescriptor, environment: Environment) throws -> Any? {
    guard let mark, let shout = inject as? Shout else { return 3 }
    if mark == "throw" { throw Boom() }
    return shout.text.uppercased() + mark
  }
}

private final class OtherInjection: Injection, @unchecked Sendable {
  init() { super.init(for: OtherInject.self) }
}

private final class OtherInject: Inject, @unchecked Sendable {}

private final class Mark {
  let text = "#"
}

private final class Report: Initializable, BeanDescriptorInitializer {
  var title = ""
  init() {}

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["title"].inject(Shout("hello"))
  }
}

private final class Misspelt: Initializable, BeanDescriptorInitializer {
  init() {}

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["nothing"].autowire()
  }
}

private final class Constant: Initializable, BeanDescriptorInitializer {
  let motor = Motor()
  init() {}

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["motor"].autowire()
  }
}

private final class Curious: BeanDescriptorInitializer {
  static let parent = Captured<Environment>()
  static let seen = Captured<Int>()

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    seen.value = try parent.value?.getBean(Int.self)
  }
}
