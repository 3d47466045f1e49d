import Beans
import BeansEventLoop
import BeansServer

/// What the shop is made of, in three environments: the application, a session, a request.
///
///     application ── configuration, store, catalogue, page, ids, log, sales
///     ├── session ── cart, profile
///     │   └── request ── log entry, transaction, orders, visitor, the handlers that know one
///     └── request ── log entry, transaction, orders, the handlers for everybody
struct ShopEnvironment: Sendable {
  let application: Environment
  /// Those of visitors who have something in the cart, by the value of their cookie.
  let sessions: SessionRegistry<Void>
  /// Opens a session that is not known yet.
  let visits: EnvironmentFactory<Void>
  /// Requests of a visitor, inside the session.
  let visitorRequests: EnvironmentFactory<HTTPRequest>
  /// Requests that need no session.
  let requests: EnvironmentFactory<HTTPRequest>
  /// How late loops are, once somebody has them watched.
  let lag = LoopLag()

  /// Declares everything; nothing is built before `application.ready()`.
  ///
  /// - Parameters:
  ///   - application: where it is declared.
  ///   - configuration: what the service is told.
  ///   - currentLoop: the loop that an environment opened now belongs to; nil where none will be opened.
  init(
    _ application: Environment, _ configuration: Configuration, currentLoop: (@Sendable () -> EventLoop)?
  ) throws {
    self.application = application
    let requestScope = currentLoop.map { loop in { @Sendable () -> any BeanScope in RequestScope(loop: loop()) } }
    let idle = configuration.sessionIdle
    let sessionScope = currentLoop.map { loop in
      { @Sendable () -> any BeanScope in SessionScope(loop: loop(), idleTimeout: idle) }
    }
    try application
      .define(application.settings().setValue(key: "beans.profiles", value: configuration.profiles))
      .include(StoreModule(configuration: configuration))
      .include(ShopModule())
      .include(OperationsModule())

    requests = try application.childFactory("request", seed: HTTPRequest.self, scope: requestScope)
    visits = try application.childFactory("session", seed: Void.self, scope: sessionScope) { session in
      try session.include(VisitModule())
    }
    sessions = SessionRegistry(visits, capacity: configuration.sessions)
    try application.define(application.bean(sessions)).define(application.bean(lag))
    visitorRequests = try visits.childFactory("request", seed: HTTPRequest.self, scope: requestScope) { request in
      try request.include(VisitorRequestModule())
    }
  }
}

/// The tree of environments, for `GET /environments`: counts of all, some of each kind, how old sessions are, and how late the
/// loops are.
final class LiveTree: LiveReport {
  /// How many children of an environment are listed.
  static let maximumChildren = 50

  private let environment: Environment
  private let sessions: SessionRegistry<Void>
  private let lag: LoopLag

  init(environment: Environment, sessions: SessionRegistry<Void>, lag: LoopLag) {
    self.environment = environment
    self.sessions = sessions
    self.lag = lag
  }

  func text() -> String {
    environment.liveReport(sessions: [sessions], lag: lag, maximumChildren: Self.maximumChildren)
  }
}
