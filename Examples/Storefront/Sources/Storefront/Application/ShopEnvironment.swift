import Beans
import BeansEventLoop
import BeansOperations
import BeansServer
import BeansSessions

/// The tag of the factory that opens requests inside of sessions.
enum InsideSession {}

/// The declarations of the shop, in three environments: the application, a session, a request.
///
///     application ── configuration, store, catalogue, page, ids, log, sales
///     ├── session ── cart, profile
///     │   └── request ── log entry, transaction, orders, visitor, the handlers that know one
///     └── request ── log entry, transaction, orders, the handlers for everybody
struct ShopEnvironment: Sendable {
  let application: Environment
  /// The sessions of visitors with goods in the cart, by the value of their cookie: local to this process, or in a
  /// store that all nodes share.
  let sessions: Sessions<SessionState>
  /// The factory of new sessions.
  let visits: EnvironmentFactory<SessionState>
  /// The factory of a visitor's requests, inside the session.
  let visitorRequests: EnvironmentFactory<HTTPRequest>
  /// The factory of requests that need no session.
  let requests: EnvironmentFactory<HTTPRequest>
  /// The lag of the loops, once they are watched.
  let lag = LoopLag()
  /// The durations and outcomes of sessions and requests.
  let durations = ScopeDurations()

  /// Declares all beans; none is built before `application.ready()`.
  ///
  /// - Parameters:
  ///   - application: the environment of all declarations. `configuration` has been read from its configuration
  ///     manager.
  ///   - configuration: the settings of the service.
  ///   - store: keeps sessions for all nodes; nil if sessions are local to this process.
  ///   - currentLoop: returns the loop of an environment that is opened now; nil if none will be opened.
  init(
    _ application: Environment, _ configuration: Configuration, store: (any SessionStore)? = nil,
    currentLoop: (@Sendable () -> EventLoop)?
  ) throws {
    self.application = application
    let requestScope = currentLoop.map { loop in { @Sendable () -> any ChildScope in RequestScope(loop: loop()) } }
    let idle = configuration.sessionIdle
    // If nodes share sessions, the store decides when one expires.
    let isShared = store != nil
    let sessionScope = currentLoop.map { loop in
      { @Sendable () -> any ChildScope in
        isShared ? LoopScope(name: "session", loop: loop()) : SessionScope(loop: loop(), idleTimeout: idle)
      }
    }
    try application
      .addObserver(durations)
      .include(StoreModule(configuration: configuration))
      .include(ShopModule(configuration: configuration))
      .include(OperationsModule())

    requests = try application.childFactory("request", seed: HTTPRequest.self, scope: requestScope)
      .logMetadata(\.logMetadata)
    visits = try application.childFactory(
      "session", seed: SessionState.self, configure: { session in try session.include(VisitModule()) },
      scope: sessionScope)
    sessions =
      store.map { [visits] store in Sessions(visits, store: store) }
      ?? Sessions(visits, capacity: configuration.sessions)
    visitorRequests = try visits.childFactory(
      "request", seed: HTTPRequest.self, configure: { request in try request.include(VisitorRequestModule()) },
      scope: requestScope
    )
    .logMetadata(\.logMetadata)
    try application
      .define(instance: requests) { $0.primary() }
      .define(instance: visitorRequests) { $0.qualifier(InsideSession.self) }
      .define(instance: sessions)
      .define(instance: lag)
      .define(instance: configuration)
      .define(ShopService.self, factory: ShopService.init)
      .define(ProductsByHand.self, factory: ProductsByHand.init) { $0.lazy() }
  }

  /// Returns the handler for the public server, once the application is ready.
  ///
  /// - Throws: `EnvironmentError` if a bean of the handler fails.
  func handler(_ operations: Operations) throws -> HTTPHandler {
    try application.getBean(Configuration.self).byHand
      ? application.getBean(ProductsByHand.self).handler(operations)
      : application.getBean(ShopService.self).handler(operations)
  }
}

/// The tree of environments, for `GET /environments`: counts of all, some of each kind, the age of sessions, and the
/// lag of the loops.
final class LiveTree: LiveReport {
  private let operations: Operations

  init(environment: Environment, sessions: any ScopeReporting, lag: LoopLag) {
    operations = Operations(environment: environment, sessions: [sessions], lag: lag)
  }

  func text() -> String {
    let answer = operations.respond(method: "GET", path: "/environments", accept: "text/plain")
    return String(decoding: answer?.body ?? [], as: UTF8.self)
  }
}
