import Beans
import Synchronization
import Testing

/// The capabilities of a class that is declared as a protocol.
@Suite("Capabilities behind a declared type", .timeLimit(.minutes(20))) struct HiddenCapabilitySpecification {
  @FreshEnvironment("shop") private var environment

  fileprivate struct Hidden: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () -> any Piece
  }

  @Test(
    "A capability that startup has to know is a fault behind a protocol, which says how to declare the bean",
    arguments: [
      Hidden(testDescription: "an EventListener (Listener)") { Listener(Journal()) },
      Hidden(testDescription: "an EventListener (ListeningValue)") { ListeningValue() },
      Hidden(testDescription: "an AsyncBean (Awaited)") { Awaited() },
      Hidden(testDescription: "a FactoryBean (Maker)") { Maker() },
      Hidden(testDescription: "a ConfigurationSource (Source)") { Source() },
      Hidden(testDescription: "a BeanScope (Scope)") { Scope(name: "own") },
      Hidden(testDescription: "a BeanPostProcessor (Processor)") { Processor() },
    ])
  fileprivate func needsDeclaration(_ hidden: Hidden) throws {
    try environment.define((any Piece).self, factory: hidden.make)
    let fault = try requireFault(.invalidDeclaration) { try environment.startup() }
    let type = try #require(hidden.testDescription.split(separator: "(").last?.dropLast())
    #expect(
      fault.message
        == "Piece turned out to be \(hidden.testDescription), which startup has to know: declare it as \(type)")
    #expect(fault.cause == .undeclaredCapability)
    #expect(fault.origin?.file.hasSuffix("HiddenCapabilitySpecification.swift") == true)
  }

  @Test("A prototype, a subclass and a bean of a child are judged alike")
  func everyDeclaration() throws {
    func expectFault(_ declare: (Environment) throws -> Void, _ use: (Environment) throws -> Void) throws {
      let environment = try Environment(name: "shop")
      try declare(environment)
      let fault = try requireFault(.invalidDeclaration) {
        try environment.startup()
        try use(environment)
      }
      #expect(fault.cause == .undeclaredCapability, "\(fault)")
    }
    try expectFault(
      { try $0.define((any Piece).self, factory: { Listener(Journal()) }) { $0.scope("prototype") } },
      { _ = try $0.getBean((any Piece).self) })
    try expectFault({ try $0.define(Base.self, factory: { ListeningBase() as Base }) }, { _ in })
    var requests: EnvironmentFactory<Int>?
    try expectFault(
      { environment in
        requests = try environment.childFactory("request", seed: Int.self) {
          try $0.define((any Piece).self, factory: { Listener(Journal()) })
        }
      }, { _ in try requests?.withChild(1) { _ = try $0.getBean((any Piece).self) } })
  }

  @Test("A bean that is declared as its class is found as the protocol, and keeps its capabilities")
  func declaredAsClass() throws {
    let journal = Journal()
    try environment.define(Listener.self, factory: { Listener(journal) })
      .define(Taker.self, factory: Taker.init)
      // Another face of the listener.
      .define((any Face).self, factory: { (listener: Listener) -> any Face in listener })
    try environment.startup()
    _ = try environment.getBean((any Piece).self)
    _ = try environment.getBean((any Face).self)
    try environment.publish("event")
    #expect(journal.entries == ["event"])
    try environment.shutdown()
  }

  @Test("An instance is declared as its own class")
  func instance() throws {
    let journal = Journal()
    try environment.define(instance: Listener(journal) as any Piece).startup()
    try environment.publish("event")
    #expect(journal.entries == ["event"])
    try environment.shutdown()
  }

  @Test("Capabilities that startup need not know are found in the object")
  func foundInTheObject() throws {
    let journal = Journal()
    try environment.define((any Piece).self, factory: { Found(journal) })
    try environment.startup()
    try environment.shutdown()
    #expect(journal.entries == ["environment shop", "postConstruct", "preDestroy"])
  }
}

private protocol Face: Sendable {}
private protocol Piece: Sendable {}

private final class Listener: Piece, Face, EventListener {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func receive(_ event: String) { journal.note(event) }
}
private struct ListeningValue: Piece, EventListener { func receive(_ event: String) {} }
private final class Awaited: Piece, AsyncBean { func postConstruct() async {} }
private final class Maker: Piece, FactoryBean { func create() throws -> Int { 1 } }
private final class Source: Piece, ConfigurationSource {
  let url = "source"
  let canOverrule = true
  func load(_ manager: ConfigurationManager) {}
}
private final class Scope: AbstractBeanScope, Piece, @unchecked Sendable {}  // immutable beside its base class
private final class Processor: Piece, BeanPostProcessor { func process(_ bean: AnyObject) -> AnyObject { bean } }

private class Base: @unchecked Sendable {}  // immutable
private final class ListeningBase: Base, EventListener, @unchecked Sendable { func receive(_ event: String) {} }

private final class Taker: Sendable { init(_ part: any Piece, _ face: any Face) {} }

private final class Found: Piece, EnvironmentAware, Bean, DisposableBean {
  private let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  var environment: Environment? {
    get { nil }
    set { if let newValue { journal.note("environment \(newValue.name)") } }
  }
  func postConstruct() { journal.note("postConstruct") }
  func preDestroy() { journal.note("preDestroy") }
}
