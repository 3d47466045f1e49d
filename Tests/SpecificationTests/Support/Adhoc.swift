import Beans

/// A module that runs a closure.
struct Adhoc: BeanModule {
  private let body: (Environment) throws -> Void
  init(_ body: @escaping (Environment) throws -> Void) { self.body = body }
  func configure(_ environment: Environment) throws { try body(environment) }
}
