import Beans
import Testing

/// A module that runs a closure; each one is another module.
final class Adhoc: BeanModule, Equatable {
  private let body: (Environment) throws -> Void
  init(_ body: @escaping (Environment) throws -> Void) { self.body = body }
  func configure(_ environment: Environment) throws { try body(environment) }
  static func == (one: Adhoc, other: Adhoc) -> Bool { one === other }
}

extension Environment {
  /// Declares a factory of children in a module of its own, to which `conditions` adds conditions.
  @discardableResult
  func childFactory<Seed: Sendable>(
    _ scope: String, seed: Seed.Type, under conditions: (Adhoc) -> any BeanModule, file: StaticString = #fileID,
    line: UInt = #line, configure: @escaping (Environment) throws -> Void = { _ in }
  ) throws -> EnvironmentFactory<Seed> {
    var factory: EnvironmentFactory<Seed>?
    let module = Adhoc {
      factory = try $0.childFactory(scope, seed: seed, file: file, line: line, configure: configure)
    }
    try include(conditions(module), file: file, line: line)
    return try #require(factory)
  }
}
