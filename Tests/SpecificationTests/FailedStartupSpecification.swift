import Beans
import BeansInject
import Testing

/// Calls after a startup that failed.
@Suite("Calls after a failed startup") struct FailedStartupSpecification {
  /// The ways in which startups fail.
  enum Failure: CaseIterable {
    case declaration, factory, finishedDependency, finishedDuringStartup, readiness
  }

  /// An environment whose startup has failed, and two factories that were declared in it before.
  private struct Failed {
    let environment: Environment
    let requests: EnvironmentFactory<Int>
    let nested: EnvironmentFactory<Int>
    let cause: EnvironmentError
  }

  private func fail(_ failure: Failure) async throws -> Failed {
    let environment = try Environment(name: "application")
    let requests = try environment.childFactory("session", seed: Int.self)
    let nested = try requests.childFactory("request", seed: Int.self)
    switch failure {
    case .declaration: try environment.define(environment.bean(Holder.self, factory: Holder.init))
    case .factory: try environment.define(environment.bean(Part.self, factory: { throw Boom() }))
    case .finishedDependency:
      let other = try Environment(name: "other")
      other.finish()
      try environment.define(environment.bean(Part.self, factory: { try other.getBean(Part.self) }))
    case .finishedDuringStartup:
      try environment.define(
        environment.bean(Part.self) { [unowned environment] in
          environment.finish()
          return Part()
        })
    case .readiness:
      try environment.define(environment.bean(Part.self, async: { () async throws -> Part in throw Boom() }))
    }
    let cause = await #expect(throws: EnvironmentError.self) { try await environment.ready() }
    return Failed(environment: environment, requests: requests, nested: nested, cause: try #require(cause))
  }

  @Test("Every later call throws the cause, even if the environment is finished", arguments: Failure.allCases)
  func everyCall(_ failure: Failure) async throws {
    let failed = try await fail(failure)
    let (environment, cause) = (failed.environment, failed.cause)
    let isFinished = failure == .finishedDependency || failure == .finishedDuringStartup
    #expect((cause.code == .finished) == isFinished, "\(cause)")
    let calls: [(name: String, call: () throws -> Void)] = [
      ("startup", { try environment.startup() }),
      ("getBean", { _ = try environment.getBean(Part.self) }),
      ("getBeansByType", { _ = try environment.getBeansByType(Part.self) }),
      ("inject", { try environment.inject(Part()) }),
      ("define", { try environment.define(environment.bean(Part.self)) }),
      ("define settings", { try environment.define(environment.settings()) }),
      ("registerScope", { try environment.registerScope(AbstractBeanScope(name: "own")) }),
      ("registerConversion", { try environment.registerConversion(from: Int.self, to: Part.self) { _ in Part() } }),
      ("alias", { try environment.alias("other", of: "part") }),
      ("include", { try environment.include(Empty()) }),
      ("childFactory", { _ = try environment.childFactory("late", seed: Int.self) }),
      ("childFactory of a factory", { _ = try failed.requests.childFactory("late", seed: Int.self) }),
      ("childFactory of a nested factory", { _ = try failed.nested.childFactory("late", seed: Int.self) }),
      ("build", { _ = try failed.requests.build(1) }),
      ("build of a nested factory", { _ = try failed.nested.build(1) }),
      ("withChild", { try failed.requests.withChild(1) { _ in } }),
      ("Environment(parent:)", { _ = try Environment(name: "child", parent: environment) }),
    ]
    for (name, call) in calls {
      let fault = #expect(throws: EnvironmentError.self, "\(name)") { try call() }
      #expect(fault?.message == cause.message && fault?.code == cause.code, "\(name): \(fault as Any)")
    }
  }
}

private final class Part: Initializable { init() {} }

private final class Holder {
  init(part: Part) {}
}

private struct Empty: BeanModule {
  func configure(_ environment: Environment) throws {}
}
