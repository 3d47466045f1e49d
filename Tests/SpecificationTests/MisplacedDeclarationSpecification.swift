import Beans
import Testing

@Suite("Declarations inside of configure", .timeLimit(.minutes(20))) struct MisplacedDeclarationSpecification {
  @FreshEnvironment("shop") private var shop

  @Test("A declaration of the environment around the children is a fault that names both lines")
  func wrongReceiver() throws {
    _ = try shop.childFactory("request", seed: Int.self, file: "Shop.swift", line: 3) { _ in
      try shop.define(Part.self, file: "Shop.swift", line: 4, factory: Part.init)
    }
    let fault = try requireFault(.invalidDeclaration, message: "Part is declared in 'shop'") { try shop.startup() }
    #expect(fault.origin == .init(file: "Shop.swift", line: 4))
    #expect(fault.message.contains("the children of 'request' (childFactory at Shop.swift:3)"), "\(fault)")
  }

  @Test("A declaration of any environment further out is a fault", arguments: 0..<3)
  func everyLevel(level: Int) throws {
    let root = try Environment(name: "root")
    let shop = try Environment(name: "shop", parent: root)
    _ = try shop.childFactory("session", seed: Int.self) { session in
      _ = try session.childFactory("request", seed: Int.self) { request in
        try [root, shop, session][level].define(Part.self, factory: Part.init)
      }
    }
    let declared = level == 0 ? root : shop
    try requireFault(.invalidDeclaration, message: "the children of 'request'") { try declared.startup() }
  }

  @Test("An alias of the environment around the children is a fault, too")
  func alias() throws {
    try shop.define(shop.bean(Part.self, id: "part", factory: Part.init))
    _ = try shop.childFactory("request", seed: Int.self) { _ in try shop.alias("piece", of: "part") }
    #expect(try requireFault(.invalidDeclaration) { try shop.startup() }.message.contains("alias 'piece'"))
  }

  @Test("Declarations before and after the closure, and after one that throws, are no faults")
  func outside() throws {
    struct Boom: Error {}
    _ = try shop.childFactory("session", seed: Int.self) { session in
      _ = try session.childFactory("request", seed: Int.self) { try $0.define(Part.self, factory: Part.init) }
      try session.define(Other.self, factory: Other.init)
    }
    #expect(throws: Boom.self) { try shop.childFactory("visit", seed: Int.self) { _ in throw Boom() } }
    try shop.define(Part.self, factory: Part.init).startup().shutdown()
  }

  @Test(
    "A declaration that another environment makes than the one that defines it is a fault",
    arguments: [
      Receiver(testDescription: "a factory") { try $0.define($1.bean(Part.self, factory: Part.init)) },
      Receiver(testDescription: "an instance") { try $0.define($1.bean(Part())) },
      Receiver(testDescription: "a type") { try $0.define($1.bean(Empty.self)) },
      Receiver(testDescription: "an asynchronous factory") { try $0.define($1.bean(Part.self, async: { Part() })) },
      Receiver(testDescription: "a template") { try $0.define($1.template("base")) },
      Receiver(testDescription: "a section") { try $0.define($1.bean(Section.self, configuration: "section")) },
      Receiver(testDescription: "an assisted factory") { try $0.define($1.bindFactory(Part.self).to { Part() }) },
    ])
  fileprivate func receiver(_ receiver: Receiver) async throws {
    try shop.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["SECTION_SIZE": "1"]))
    _ = try shop.childFactory("request", seed: Int.self) { request in try receiver.declare(request, shop) }
    let fault = try requireFault(.invalidDeclaration) { try shop.startup() }
    #expect(fault.cause == .otherReceiver, "\(fault)")
    #expect(fault.message.contains("is made by another environment than 'request', which defines it"), "\(fault)")
    #expect(fault.origin?.file == "SpecificationTests/MisplacedDeclarationSpecification.swift")

    let right = try Environment(name: "right")
    try right.addConfigurationSource(ProcessInfoConfigurationSource(variables: ["SECTION_SIZE": "1"]))
    try receiver.declare(right, right)
    try await right.ready()
    try await right.shutdown()
  }
}

private struct Receiver: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Declares a bean in the first environment by a method of the second one.
  let declare: @Sendable (Environment, Environment) throws -> Void
}

private struct Section: Decodable, Sendable { let size: Int }
private final class Empty: Initializable, Sendable {}

private final class Part: Sendable {}
private final class Other: Sendable {}
