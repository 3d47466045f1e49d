import Beans
import BeansEventLoop
import BeansOperations
import BeansServer
import BeansSessions

/// What the shop is made of, in three environments: the application, a session, a request.
///
///     application ── configuration, store, catalogue, page, ids, log, sales
///     ├── session ── cart, profile
///     │   └── request ── log entry, transaction, orders, visitor, the handlers that know one
///     └── request ── log entry, transaction, orders, the handlers for everybody
struct ShopEnvironment: Sendable {
  let application: Environment
  /// Those of visitors who have something in the cart, by the value of their cookie, where this process alone has them.
  let sessions: SessionRegistry<SessionState>
  /// The sessions that all nodes share; nil where this process alone has sessions.
  let sharedSessions: SessionManager?
  /// Opens a session that is not known yet.
  let visits: EnvironmentFactory<SessionState>
  /// Requests of a visitor, inside the session.
  let visitorRequests: EnvironmentFactory<HTTPRequest>
  /// Requests that need no session.
  let requests: EnvironmentFactory<HTTPRequest>
  /// How late loops are, once somebody has them watched.
  let lag = LoopLag()

  /// The sessions that the reports of this node tell of.
  var reportedSessions: any SessionReporting { sharedSessions ?? sessions }

  /// Declares everything; nothing is built before `application.ready()`.
  ///
  /// - Parameters:
  ///   - application: the environment that everything is declared in. `configuration` has been read from its configuration
  ///     manager.
  ///   - configuration: the settings of the service.
  ///   - store: keeps sessions for all nodes; nil where this process alone has them.
  ///   - currentLoop: the loop that an environment opened now belongs to; nil where none will be opened.
  init(
    _ application: Environment, _ configuration: Configuration, store: (any SessionStore)? = nil,
    currentLoop: (@Sendable () -> EventLoop)?
  ) throws {
    self.application = application
    let requestScope = currentLoop.map { loop in { @Sendable () -> any BeanScope in RequestScope(loop: loop()) } }
    let idle = configuration.sessionIdle
    // Where nodes share sessions, the store knows when one expires.
    let isShared = store != nil
    let sessionScope = currentLoop.map { loop in
      { @Sendable () -> any BeanScope in
        isShared ? LoopScope(name: "session", loop: loop()) : SessionScope(loop: loop(), idleTimeout: idle)
      }
    }
    try application
      .include(StoreModule(configuration: configuration))
      .include(ShopModule())
      .include(OperationsModule())

    requests = try application.childFactory("request", seed: HTTPRequest.self, scope: requestScope)
    visits = try application.childFactory("session", seed: SessionState.self, scope: sessionScope) { session in
      try session.include(VisitModule())
    }
    sessions = SessionRegistry(visits, capacity: configuration.sessions)
    sharedSessions = store.map { [visits] store in SessionManager(visits, store: store) }
    try application.define(application.bean(sharedSessions ?? sessions as any SessionReporting)).define(
      application.bean(lag))
    visitorRequests = try visits.childFactory("request", seed: HTTPRequest.self, scope: requestScope) { request in
      try request.include(VisitorRequestModule())
    }
  }
}

/// The tree of environments, for `GET /environments`: counts of all, some of each kind, how old sessions are, and how late the
/// loops are.
final class LiveTree: LiveReport {
  private let operations: Operations

  init(environment: Environment, sessions: any SessionReporting, lag: LoopLag) {
    operations = Operations(environment: environment, sessions: [sessions], lag: lag)
  }

  func text() -> String {
    let answer = operations.respond(method: "GET", path: "/environments", accept: "text/plain")
    return String(decoding: answer?.body ?? [], as: UTF8.self)
  }
}
