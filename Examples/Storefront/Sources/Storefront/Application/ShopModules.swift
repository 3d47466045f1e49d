import Beans
import BeansLogging
import BeansRunning

/// The database: a template with the technical half, so that a declaration that completes it only names the file.
struct StoreModule: BeanModule {
  let configuration: Configuration

  func configure(_ environment: Environment) throws {
    let template = { environment.bean(SQLiteStore.self, id: "template", abstract: true, factory: SQLiteStore.init) }
    try environment
      .define(
        template().property(\.path, value: configuration.database).property(\.journalMode, value: .wal)
          .profile("!test").private()
      )
      // Created for each run, and removed after it.
      .define(
        template().property(\.path, value: configuration.database + ".test").property(\.isTemporary, value: true)
          .profile("test").private()
      )
      .define(
        environment.bean(SQLiteStore.self, id: "store", parent: "template")
          .property(\.busyTimeout, value: .seconds(5))
          .onDestroy { $0.close() }
      )
      // Completes the write in flight at the end, and refuses the waiting ones.
      .define(writerQueue(environment))
      .define(
        environment.bean(SQLiteTransaction.self, factory: SQLiteTransaction.init).scope("request")
          .onDestroy { try $0.finish() })
  }
}

/// The beans of the shop: catalogue, page, ids, sales, orders.
struct ShopModule: BeanModule {
  let configuration: Configuration

  func configure(_ environment: Environment) throws {
    let kept = configuration.ordersKept
    try environment
      .define(environment.bean(Catalogue.self, factory: Catalogue.init(store:)))
      .define(environment.bean(StorefrontPage.self, factory: StorefrontPage.init))
      .define(environment.bean(IdGenerator.self, factory: IdGenerator.init))
      .define(
        environment.bean(Sales.self, factory: { Sales() })
          .scheduled(at: "0 * * * *") { ServiceLog.sales.info($0.text()) }
      )
      .define(
        environment.bean(OrderSweeper.self) { (queue: WriterQueue) in OrderSweeper(queue: queue, kept: kept) }
          // A store that is locked or full may be usable again soon.
          .restarts(after: .seconds(1), upTo: .seconds(600), limit: 100)
      )
      // For the children of both request factories.
      .define(environment.bean(OrderRepository.self, factory: OrderRepository.init).scope("request"))
      .define(environment.bean(ProductsHandler.self, factory: ProductsHandler.init).scope("request"))
  }
}

/// The beans of a visitor for the length of a session.
struct VisitModule: BeanModule {
  func configure(_ environment: Environment) throws {
    try environment
      .define(environment.bean(Cart.self, factory: Cart.init).requires(VisitorProfile.self))
      .define(environment.bean(VisitorProfile.self, factory: VisitorProfile.init))
  }
}

/// The handlers of a visitor's requests, inside the session.
struct VisitorRequestModule: BeanModule {
  func configure(_ environment: Environment) throws {
    try environment
      .define(environment.bean(CurrentVisitor.self, factory: CurrentVisitor.init))
      .define(environment.bean(PageHandler.self, factory: PageHandler.init))
      .define(environment.bean(CartHandler.self, factory: CartHandler.init))
      .define(environment.bean(CheckoutHandler.self, factory: CheckoutHandler.init))
      .define(environment.bean(OrdersHandler.self, factory: OrdersHandler.init))
  }
}

/// The beans for the operators of the service.
struct OperationsModule: BeanModule {
  func configure(_ environment: Environment) throws {
    try environment
      .define(environment.bean(AccessLog.self, factory: { AccessLog(ServiceLog.access) }))
      .define(environment.bean(ErrorLog.self, factory: { ErrorLog() }).onDestroy { $0.flush() })
      .define(environment.bean(HealthHandler.self, factory: HealthHandler.init))
      .define(environment.bean(StoreCheck.self, factory: StoreCheck.init))
      .define(environment.bean(LiveTree.self, factory: LiveTree.init))
      .define(
        environment.decorate((any LiveReport).self) { (inner: any LiveReport, sales: Sales) in
          SalesReport(inner, sales)
        }
      )
      .define(
        environment.bean(RequestLog.self, factory: RequestLog.init).scope("request").onDestroy { $0.finish() }
      )
      .define(environment.bean(EnvironmentsHandler.self, factory: EnvironmentsHandler.init).scope("request"))
  }
}

extension StoreModule {
  private func writerQueue(_ environment: Environment) -> TypedBeanDeclaration<WriterQueue> {
    environment.bean(WriterQueue.self) { [configuration] (store: SQLiteStore) in
      try WriterQueue(store: store, patience: configuration.storeWait)
    }.onDestroy { $0.closeAndWait() }
  }
}
