import Beans
import Testing

private final class Clock: Initializable, Sendable {}

@Suite("Places of declarations in modules") struct ModuleOriginSpecification {
  private let environment: Environment

  init() throws { environment = try Environment(name: "shop", traceOrigin: true) }

  /// Returns the error that the declaration throws in a module, or that startup finds.
  private func fault(_ body: @escaping (Environment) throws -> Void) throws -> EnvironmentError {
    try requireFault {
      try environment.include(Adhoc(body))
      try environment.startup()
    }
  }

  private func expectModule(
    in fault: EnvironmentError, _ code: EnvironmentError.Code, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(fault.code == code, "\(fault)", sourceLocation: sourceLocation)
    #expect(fault.origin?.module == "Adhoc", "\(fault)", sourceLocation: sourceLocation)
  }

  @Test("A fault of an alias names the module")
  func alias() throws {
    expectModule(in: try fault { try $0.alias("watch", of: "clock") }, .unknownBean)
    let other = try Environment(name: "shop")
    try other.define(other.bean(Clock.self, id: "clock")).include(Adhoc { try $0.alias("watch", of: "clock") })
    try other.alias("watch", of: "clock")
    let taken = try requireFault(.duplicateId) { try other.startup() }
    #expect(taken.message.hasSuffix("in module Adhoc"), "\(taken)")
  }

  @Test("A fault of a scope names the module")
  func scope() throws {
    final class Shift: AbstractBeanScope, @unchecked Sendable {}  // adds nothing to it
    expectModule(in: try fault { try $0.registerScope(Shift(name: "prototype")) }, .invalidDeclaration)
    try environment.include(Other { try $0.registerScope(Shift(name: "shift")) })
    let taken = try requireFault(.invalidDeclaration) { try environment.registerScope(Shift(name: "shift")) }
    #expect(taken.message.contains(" in module Other"), "\(taken)")
  }

  @Test("A fault of a factory of children, of children's children, and of their declarations names the module")
  func factory() throws {
    expectModule(in: try fault { _ = try $0.childFactory("singleton", seed: Int.self) }, .invalidDeclaration)
    let other = try Environment(name: "shop")
    let nested = try requireFault {
      try other.include(
        Adhoc { environment in
          let sessions = try environment.childFactory("session", seed: String.self)
          _ = try sessions.childFactory("session", seed: Int.self)
        })
    }
    expectModule(in: nested, .invalidDeclaration)
    #expect(nested.message.contains(" in module Adhoc"), "\(nested)")
  }

  @Test("A fault of the name of a missing class names the module")
  func className() throws {
    expectModule(in: try fault { _ = try $0.bean(className: "Shop.Nobody") }, .unknownClass)
  }

  @Test("A fault of a declaration after the module's own lookup names the module")
  func frozen() throws {
    let fault = try fault { environment in
      _ = try environment.getBean(Clock?.self)
      try environment.define(environment.bean(Clock.self))
    }
    expectModule(in: fault, .frozen)
  }

  @Test("A fault of a setting that exists already names the module")
  func setting() throws {
    let fault = try fault { environment in
      try environment
        .define(environment.settings().setValue(key: "rate", value: 1))
        .define(environment.settings().setValue(key: "rate", value: 2))
    }
    expectModule(in: fault, .invalidDeclaration)
  }

  @Test("A fault of a module's condition has the place of the inclusion")
  func condition() throws {
    let line = #line + 1
    try environment.include(Adhoc { _ in }.when { _ in throw Boom() })
    try requireFault(.invalidDeclaration, path: ["module Adhoc"], line: line) { try environment.startup() }
  }
}

private struct Other: BeanModule {
  private let body: @Sendable (Environment) throws -> Void
  init(_ body: @escaping @Sendable (Environment) throws -> Void) { self.body = body }
  func configure(_ environment: Environment) throws { try body(environment) }
}
