import Beans
import BeansEventLoop
import BeansServer

/// What the shop is made of, in three environments: the application, a session, a request.
///
///     application ── configuration, store, catalogue, page, ids, log
///     ├── session ── cart, profile
///     │   └── request ── log entry, transaction, orders, visitor, the handlers that know one
///     └── request ── log entry, transaction, orders, the handlers for everybody
struct ShopEnvironment: Sendable {
  let application: Environment
  let sessions: EnvironmentFactory<SessionSeed>
  /// Requests of a visitor, inside the session.
  let visitorRequests: EnvironmentFactory<HTTPRequest>
  /// Requests that need no session.
  let requests: EnvironmentFactory<HTTPRequest>

  /// Declares everything; nothing is built before `application.startup()`.
  ///
  /// - Parameters:
  ///   - currentLoop: the loop that an environment opened now belongs to.
  init(_ configuration: Configuration, currentLoop: @escaping @Sendable () -> EventLoop) throws {
    application = try Environment(name: "application")
    try Self.declareTemplates(in: application, configuration)
    try Self.declareSingletons(in: application)
    try Self.declareRequestBeans(in: application)

    requests = try application.childFactory(
      "request", seed: HTTPRequest.self, scope: { RequestScope(loop: currentLoop()) })
    let idle = configuration.sessionIdle
    sessions = try application.childFactory(
      "session", seed: SessionSeed.self, scope: { SessionScope(loop: currentLoop(), idleTimeout: idle) }
    ) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
      try session.define(session.bean(VisitorProfile.self, factory: VisitorProfile.init))
    }
    visitorRequests = try sessions.childFactory(
      "request", seed: HTTPRequest.self, scope: { RequestScope(loop: currentLoop()) }
    ) { request in
      try request.define(request.bean(CurrentVisitor.self, factory: CurrentVisitor.init))
      try request.define(request.bean(PageHandler.self, factory: PageHandler.init))
      try request.define(request.bean(CartHandler.self, factory: CartHandler.init))
      try request.define(request.bean(CheckoutHandler.self, factory: CheckoutHandler.init))
      try request.define(request.bean(OrdersHandler.self, factory: OrdersHandler.init))
    }
  }

  /// The technical half of the store, so that whoever completes it says only what to open.
  private static func declareTemplates(in application: Environment, _ configuration: Configuration) throws {
    try application.define(
      application.bean(SQLiteStore.self, id: "store-template", abstract: true, factory: SQLiteStore.init)
        .property(\.path, value: configuration.database)
        .property(\.busyTimeout, value: .seconds(5))
        .property(\.journalMode, value: .wal))
  }

  private static func declareSingletons(in application: Environment) throws {
    try application.define(
      application.bean(SQLiteStore.self, id: "store", parent: "store-template")
        .postConstruct { try $0.open(prepare: ShopSchema.prepare) }
        .onDestroy { $0.close() })
    try application.define(application.bean(Catalogue.self, factory: Catalogue.init(store:)))
    try application.define(application.bean(StorefrontPage.self, factory: StorefrontPage.init))
    try application.define(application.bean(IdGenerator.self, factory: IdGenerator.init))
    try application.define(application.bean(AccessLog.self, factory: { AccessLog() }))
    try application.define(application.bean(ErrorLog.self, factory: { ErrorLog() }))
    try application.define(application.bean(HealthHandler.self, factory: HealthHandler.init))
    try application.define(application.bean(LoopLag.self, factory: { LoopLag() }))
    try application.define(application.bean(LiveTree.self, factory: LiveTree.init))
  }

  /// Declared once, for the children of both request factories.
  private static func declareRequestBeans(in application: Environment) throws {
    try application.define(
      application.bean(RequestLog.self, factory: RequestLog.init).scope("request").onDestroy { $0.finish() })
    try application.define(
      application.bean(SQLiteTransaction.self, factory: SQLiteTransaction.init).scope("request")
        .onDestroy { try $0.finish() })
    try application.define(application.bean(OrderRepository.self, factory: OrderRepository.init).scope("request"))
    try application.define(application.bean(ProductsHandler.self, factory: ProductsHandler.init).scope("request"))
    try application.define(
      application.bean(EnvironmentsHandler.self, factory: EnvironmentsHandler.init).scope("request"))
  }
}

/// What a session is opened with.
struct SessionSeed: Sendable {
  /// The value of the visitor's `sid` cookie.
  let id: String
}

/// The tree of environments, for `GET /environments`: counts of all, and some of each kind, and how late the loops are.
final class LiveTree: LiveReport {
  /// How many children of an environment are listed.
  static let maximumChildren = 50

  private let environment: Environment
  private let lag: LoopLag

  init(environment: Environment, lag: LoopLag) {
    self.environment = environment
    self.lag = lag
  }

  func text() -> String {
    let counts = environment.statistics().map { counts in
      "\(counts.scope): \(counts.opened - counts.finished) live, \(counts.created - counts.released) beans\n"
    }
    let loops = lag.takeWorst().enumerated().map { number, lag in
      "loop \(number): \(lag / .microseconds(1)) µs late at most since this was asked last\n"
    }
    return counts.joined() + loops.joined() + "\n" + environment.report(maximumChildren: Self.maximumChildren)
  }
}
