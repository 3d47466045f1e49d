import Beans
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

@Suite("What faults say") struct FaultReportSpecification {
  @Test("A report numbers all faults, each with its place, the beans that wanted it and a section of the document")
  func severalFaults() throws {
    let environment = try Environment(name: "shop")
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
           see Faults.md#unknownproperty

        2. unknownBean: parameter 0: no bean of type Pool can be seen from 'shop'
           at \(file):\(catalogue)
           for Catalogue (\(file):\(catalogue))
             → Pool
           see Faults.md#unknownbean
        """)
  }

  @Test("A report of a failure has each bean on its path with the place of its declaration, and the cause once")
  func path() throws {
    let environment = try Environment(name: "shop")
    let line = #line + 2
    try environment
      .define(environment.bean(Shop.self, lazy: true, factory: Shop.init))
      .define(environment.bean(Catalogue.self, lazy: true, factory: Catalogue.init))
      .define(environment.bean(Pool.self, lazy: true, factory: { () throws -> Pool in throw Boom(name: "no") }))
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
        for Shop (\(file):\(line))
          → Catalogue (\(file):\(line + 1))
          → Pool (\(file):\(line + 2))
        see Faults.md#creationfailed
        """)
    #expect("\(error)".ranges(of: cause).count == 1, "\(error)")
    try environment.shutdown()
  }

  @Test("Two types of one name are told apart")
  func namesakes() throws {
    let environment = try Environment(name: "shop")
    try environment
      .define(environment.bean(North.Store.self, id: "s", factory: North.Store.init))
      .define(environment.bean(Shop.self, lazy: true, factory: { (_: South.Store) in throw Boom() }))
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(fault.message.contains("North.Store") && fault.message.contains("South.Store"), "\(fault)")
    let other = try Environment(name: "shop")
    try other.define(other.bean(North.Store.self, id: "s", factory: North.Store.init))
    let mismatch = try requireFault(.typeMismatch) { try other.getBean(South.Store.self, byId: "s") }
    #expect(mismatch.message.contains("North.Store, not a "), "\(mismatch)")
    try other.shutdown()
  }

  @Test("A template of the type that is missing is named")
  func templates() throws {
    let environment = try Environment(name: "shop")
    try environment
      .define(environment.bean(Pool.self, id: "base", abstract: true, factory: Pool.init))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init))
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(fault.message.contains("'base' is a template of that type"), "\(fault)")
  }

  @Test("A value that looks like a placeholder is said to be taken as it is")
  func placeholders() throws {
    let environment = try Environment(name: "shop")
    try environment.define(environment.bean(Port.self).property("number", value: "${port}"))
    let fault = try requireFault(.conversionFailed) { try environment.startup() }
    #expect(fault.message.contains("'resolve:'"), "\(fault)")
  }

  @Test("A provider that is called while its bean is built is not told to use a provider")
  func providers() throws {
    let environment = try Environment(name: "shop")
    try environment
      .define(environment.bean(Pool.self, factory: { (shop: Provider<Shop>) in try taking(shop) }))
      .define(environment.bean(Catalogue.self, factory: Catalogue.init))
      .define(environment.bean(Shop.self, factory: Shop.init))
    let fault = try requireFault(.cyclicDependency) { try environment.startup() }
    #expect(fault.message.contains("called later"), "\(fault)")
    #expect(fault.steps.first == fault.steps.last && fault.steps.allSatisfy { $0.origin != nil })
  }

  private func taking(_ shop: Provider<Shop>) throws -> Pool {
    _ = try shop.get()
    return Pool()
  }

  @Test("A scope that is not open is said how to open")
  func scopes() throws {
    let environment = try Environment(name: "shop")
    _ = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(Pool.self, factory: Pool.init))
    }
    try environment.define(
      environment.bean(Shop.self, lazy: true, factory: { (_: Provider<Pool>) in throw Boom() }))
    try environment.define(environment.bean(Port.self, lazy: true).scope("request"))
    let fault = try requireFault(.scopeNotActive) { try environment.getBean(Port.self) }
    #expect(fault.message.contains("withChild"), "\(fault)")
    try environment.shutdown()
  }
}
