import Beans

/// The workload as declarations: an application environment and a factory of request environments.
struct ContainerApplication<Seed> {
  let environment: Environment
  let requests: EnvironmentFactory<Seed>

  /// - Parameter configure: declares the beans of a request.
  init(seed: Seed.Type, configure: (Environment) throws -> Void) throws {
    environment = try Environment(name: "application")
    requests = try environment.childFactory("request", seed: seed, configure: configure)
    try Self.declareSingletons(in: environment)
    try environment.startup()
  }

  /// - Parameter onDestroy: whether each of a request's beans has a release callback of its own.
  init(seed: Seed.Type, onDestroy: (@Sendable () -> Void)? = nil) throws {
    try self.init(seed: seed) { try Self.declareRequest(in: $0, onDestroy: onDestroy) }
  }

  private static func declareRequest(in child: Environment, onDestroy: (@Sendable () -> Void)?) throws {
    func define<Bean>(_ declaration: TypedBeanDeclaration<Bean>) throws {
      if let onDestroy { declaration.onDestroy { _ in onDestroy() } }
      try child.define(declaration)
    }
    try define(child.bean(R0.self, factory: R0.init))
    try define(child.bean(R1.self, factory: R1.init))
    try define(child.bean(R2.self, factory: R2.init))
    try define(child.bean(R3.self, factory: R3.init))
    try define(child.bean(R4.self, factory: R4.init))
    try define(child.bean(R5.self, factory: R5.init))
    try define(child.bean(R6.self, factory: R6.init))
    try define(child.bean(R7.self, factory: R7.init))
  }

  /// Two of its eight beans have to be released: one conforms to `DisposableBean`, one has an `onDestroy`.
  static func declareDisposableRequest(in child: Environment) throws {
    try child.define(child.bean(D0.self, factory: D0.init))
    try child.define(child.bean(D1.self, factory: D1.init))
    try child.define(child.bean(D2.self, factory: D2.init))
    try child.define(child.bean(D3.self, factory: D3.init))
    try child.define(child.bean(D4.self, factory: D4.init))
    try child.define(child.bean(D5.self, factory: D5.init))
    try child.define(child.bean(D6.self, factory: D6.init).onDestroy { $0.close() })
    try child.define(child.bean(D7.self, factory: D7.init))
  }

  static func declareSingletons(in environment: Environment) throws {
    try environment.define(environment.bean(S0.self, factory: S0.init))
    try environment.define(environment.bean(S1.self, factory: S1.init))
    try environment.define(environment.bean(S2.self, factory: S2.init))
    try environment.define(environment.bean(S3.self, factory: S3.init))
    try environment.define(environment.bean(S4.self, factory: S4.init))
    try environment.define(environment.bean(S5.self, factory: S5.init))
    try environment.define(environment.bean(S6.self, factory: S6.init))
    try environment.define(environment.bean(S7.self, factory: S7.init))
    try environment.define(environment.bean(S8.self, factory: S8.init))
    try environment.define(environment.bean(S9.self, factory: S9.init))
    try environment.define(environment.bean(S10.self, factory: S10.init))
    try environment.define(environment.bean(S11.self, factory: S11.init))
    try environment.define(environment.bean(S12.self, factory: S12.init))
    try environment.define(environment.bean(S13.self, factory: S13.init))
    try environment.define(environment.bean(S14.self, factory: S14.init))
    try environment.define(environment.bean(S15.self, factory: S15.init))
    try environment.define(environment.bean(S16.self, factory: S16.init))
    try environment.define(environment.bean(S17.self, factory: S17.init))
    try environment.define(environment.bean(S18.self, factory: S18.init))
    try environment.define(environment.bean(S19.self, factory: S19.init))
  }
}
