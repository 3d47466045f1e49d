import Beans
import BeansGraph
import BeansInject
import BeansLogging
import Testing

private final class Pool: Sendable {}
private final class Catalogue: Sendable { init(pool: Pool) {} }
private final class Shop: Sendable { init(catalogue: Catalogue) {} }
private enum North { final class Store: Sendable {} }
private enum South { final class Store: Sendable {} }
private final class Port: Initializable {
  var number = 0
  init() {}
}

@Suite("Reports of faults") struct FaultReportSpecification {
  @FreshEnvironment("shop") private var environment

  @Test("A report numbers all faults, each with its place, the beans that needed it and a section of the document")
  func severalFaults() throws {
    let catalogue = #line + 1
    try environment.define(environment.bean(Catalogue.self, factory: Catalogue.init))
    let port = #line + 1
    try environment.define(environment.bean(Port.self).property("nummer", value: 1))
    let error = try requireFault(.startupFailed) { try environment.startup() }
    let file = "SpecificationTests/FaultReportSpecification.swift"
    #expect(
      error.report == """
        startupFailed: 2 faults in environment 'shop'

        1. unknownProperty: Port has no stored property 'nummer'; did you mean 'number'?
           at \(file):\(port)
           for Port
           help: Spell a stored property as the class does; or use a key path, which the compiler checks and may lead to any.
           see Faults.md#unknownproperty

        2. unknownBean: first parameter: no bean of type Pool can be seen from 'shop'
           at \(file):\(catalogue)
           for Catalogue (\(file):\(catalogue))
             → Pool
           help: Define a bean of that type, here or further out, or ask for an optional of it.
           see Faults.md#unknownbean
        """)
  }

  @Test("A report of a failure has each bean on its path with the place of its declaration, and the cause once")
  func path() throws {
    let line = #line + 2
    try environment
      .define(environment.bean(Shop.self, lazy: true, factory: Shop.init))
      .define(environment.bean(Catalogue.self, lazy: true, factory: Catalogue.init))
      .define(environment.bean(Pool.self, lazy: true, factory: { () throws -> Pool in throw Boom(name: "no") }))
    let call = #line + 1
    let error = try requireFault(.creationFailed) { try environment.getBean(Shop.self) }
    #expect(error.steps.map(\.label) == ["Shop", "Catalogue", "Pool"])
    #expect(error.steps.map(\.origin?.line) == [line, line + 1, line + 2])
    #expect(error.path == error.steps.map(\.label))
    let file = "SpecificationTests/FaultReportSpecification.swift"
    let cause = "\(Boom(name: "no"))"
    #expect(
      error.report == """
        creationFailed: Pool could not be created: \(cause)
        at \(file):\(line + 2)
        asked for at \(file):\(call)
        for Shop (\(file):\(line))
          → Catalogue (\(file):\(line + 1))
          → Pool (\(file):\(line + 2))
        help: \(error.help)
        see Faults.md#creationfailed
        """)
    // A program that ends with the error prints this text.
    #expect(String(reflecting: error) == error.report)
    #expect("\(error)".ranges(of: cause).count == 1, "\(error)")
    try environment.shutdown()
  }

  @Test("A failed call names its place, unless a declaration is faulty")
  func calls() throws {
    let declared = #line + 1
    try environment.define(environment.bean(Pool.self, lazy: true, factory: { () throws -> Pool in throw Boom() }))
    let visits = try environment.childFactory("visit", seed: Int.self)
    let visit = try visits.build(1)
    let notOpen = try environment.getBean(Provider<Int>.self)
    func line(of expected: EnvironmentError.Code, _ body: () throws -> Any) throws -> Int? {
      let fault = try requireFault(expected) { _ = try body() }
      #expect(fault.origin?.file == "SpecificationTests/FaultReportSpecification.swift", "\(fault)")
      return fault.origin?.line
    }
    #expect(try line(of: .unknownBean) { try environment.getBean(Port.self) } == #line)
    #expect(try line(of: .unknownBean) { try environment.getBean(Port.self, byId: "port") } == #line)
    #expect(try line(of: .unknownBean) { try environment.getBean(Qualified<North, Port>.self).value } == #line)
    #expect(try line(of: .unknownBean) { try environment.withBean(Port.self) { _ in 1 } } == #line)
    #expect(try line(of: .missingConfiguration) { try environment.getConfigurationValue(Int.self, key: "k") } == #line)
    #expect(try line(of: .scopeNotActive) { try notOpen.get() } == #line)
    let configuration = environment.configurationManager
    #expect(try line(of: .missingConfiguration) { try configuration.getValue(Int.self, key: "k") } == #line)
    #expect(try line(of: .unresolvedPlaceholder) { try configuration.resolve("${k}") } == #line)
    #expect(try line(of: .frozen) { try visits.childFactory("late", seed: Int.self) } == #line)
    #expect(try line(of: .frozen) { try visits.logMetadata { _ in [:] } } == #line)
    #expect(try line(of: .creationFailed) { try environment.getBean(Pool.self) } == declared)
    #expect(try line(of: .creationFailed) { try environment.getBeansByType(Pool.self) } == declared)
    // An error of the body passes through unchanged.
    let own = try requireFault(.exhausted) {
      try visits.withChild(1) { _ in throw EnvironmentError(.exhausted, "full") }
    }
    #expect(own.origin == nil)
    let lent = try requireFault(.exhausted) {
      try visit.withBean(Int.self) { _ in throw EnvironmentError(.exhausted, "full") }
    }
    #expect(lent.origin == nil)
    try environment.shutdown()
    #expect(try line(of: .finished) { try environment.graph() } == #line)
    #expect(try line(of: .finished) { try environment.validate() } == #line)
    #expect(try line(of: .finished) { try environment.getBean(Pool.self) } == #line)
    #expect(try line(of: .finished) { try environment.getBeansByType(Pool.self) } == #line)
    #expect(try line(of: .finished) { try environment.withBean(Pool.self) { _ in 1 } } == #line)
    #expect(try line(of: .finished) { try visits.build(1) } == #line)
    #expect(try line(of: .finished) { try visits.build(1, in: environment) } == #line)
    #expect(try line(of: .finished) { try visits.withChild(1) { _ in 1 } } == #line)
    #expect(try line(of: .finished) { try environment.publish(1) } == #line)
    #expect(try line(of: .finished) { try environment.startup() } == #line)
    #expect(try line(of: .finished) { try environment.startup(options: [.recordTimes]) } == #line)
    #expect(try line(of: .finished) { try Environment(name: "part", parent: environment) } == #line)
    #expect(try line(of: .finished) { try environment.inject(Port()) } == #line)
    #expect(
      try line(of: .finished) { try environment.addConfigurationSource(CommandLineConfigurationSource()) } == #line)
  }

  @Test("An awaited lookup that fails names its place")
  func awaitedCalls() async throws {
    let fault = await #expect(throws: EnvironmentError.self) { try await environment.getBean(awaiting: Port.self) }
    #expect(fault?.origin?.line == #line - 1)
    try await environment.shutdown()
    let late = await #expect(throws: EnvironmentError.self) { try await environment.ready() }
    #expect(late?.origin?.line == #line - 1)
  }

  @Test("The innermost lookup is named, not the lookup of the bean whose factory calls it")
  func innermostCall() throws {
    let line = #line + 3
    try environment.define(
      environment.bean(Pool.self, lazy: true) { (shop: Environment) in
        _ = try shop.getBean(Port.self); return Pool()
      })
    let fault = try requireFault(.unknownBean, line: line) { try environment.getBean(Pool.self) }
    #expect(fault.path == ["Pool", "Port"])
    #expect(fault.report.contains("asked for at SpecificationTests/FaultReportSpecification.swift:\(#line - 2)"))
    try environment.shutdown()
  }

  @Test("Two types of one name are distinguished")
  func namesakes() throws {
    try environment
      .define(environment.bean(North.Store.self, id: "s", factory: North.Store.init))
      .define(environment.bean(Shop.self, lazy: true, factory: { (_: South.Store) in throw Boom() }))
    try requireFault(.unknownBean, message: "North.Store", "South.Store") { try environment.startup() }
    let other = try Environment(name: "shop")
    try other.define(other.bean(North.Store.self, id: "s", factory: North.Store.init))
    try requireFault(.typeMismatch, message: "North.Store, not a ") { try other.getBean(South.Store.self, byId: "s") }
    try other.shutdown()
  }

  @Test("A template of the type that is missing is named")
  func templates() throws {
    try environment
      .define(environment.bean(Pool.self, id: "base", abstract: true, factory: Pool.init))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init))
    try requireFault(.unknownBean, message: "'base' is a template of that type") { try environment.startup() }
  }

  @Test("A value that looks like a placeholder is reported as a literal value")
  func placeholders() throws {
    try environment.define(environment.bean(Port.self).property("number", value: "${port}"))
    try requireFault(.conversionFailed, message: "'resolve:'") { try environment.startup() }
  }

  @Test("A provider that is called while its bean is built gets no advice to use a provider")
  func providers() throws {
    try environment
      .define(environment.bean(Pool.self, factory: { (shop: Provider<Shop>) in try Self.taking(shop) }))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init))
      .define(environment.bean(Shop.self, factory: Shop.init))
    let fault = try requireFault(.cyclicDependency, message: "called later") { try environment.startup() }
    #expect(fault.steps.first == fault.steps.last && fault.steps.allSatisfy { $0.origin != nil })
  }

  @Test("A report recommends no provider that would not find the bean either")
  func providersOfOthers() throws {
    _ = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Pool.self, factory: Pool.init))
    }
    try environment.define(
      environment.bean(Shop.self, lazy: true, factory: { (_: Provider<Qualified<North, Pool>>) in throw Boom() }))
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(fault.message.contains("bean of type Pool with qualifier North"), "\(fault)")
    #expect(!fault.message.contains("take a Provider"), "\(fault)")
    #expect(fault.help.contains("qualifier"), "\(fault.help)")
  }

  private static func taking(_ shop: Provider<Shop>) throws -> Pool {
    _ = try shop.get()
    return Pool()
  }

  @Test("A report on a scope that is not open names the way to open it")
  func scopes() throws {
    _ = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Pool.self, factory: Pool.init))
    }
    try environment.define(environment.bean(Shop.self, lazy: true, factory: { (_: Provider<Pool>) in throw Boom() }))
    try environment.define(environment.bean(Port.self, lazy: true).scope("request"))
    try requireFault(.scopeNotActive, message: "withChild") { try environment.getBean(Port.self) }
    try environment.shutdown()
  }
}
