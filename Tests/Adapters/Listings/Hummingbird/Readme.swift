import Beans
import Hummingbird

actor Database {  // one for the process, such as a pool of connections
  private(set) var orders: [String] = []
  init() async throws {}  // connects, before the first request
  func write(_ orders: [String]) { self.orders += orders }
  func close() {}
}

actor Transaction {  // one for each request
  private let database: Database
  private var orders: [String] = []
  init(database: Database) { self.database = database }
  func insert(_ order: String) { orders.append(order) }
  func end(outcome: ScopeOutcome) async {
    if case .completed = outcome { await database.write(orders) }  // else nothing is written
  }
}

struct Checkout: Sendable {  // one for each request
  let request: Request, transaction: Transaction
  func order(_ product: String) async throws -> String {
    await transaction.insert(product)
    guard let customer = request.cookies["customer"] else { throw HTTPError(.unauthorized) }
    return "\(customer.value) ordered \(product)"
  }
}

func declareOrders(in shop: Beans.Environment) throws -> Router<BasicRequestContext> {
  let requests = try shop.childFactory("request", seed: Request.self) { request in
    try request.define(Transaction.self, factory: Transaction.init) { $0.onDestroy { await $0.end(outcome: $1) } }
    try request.define(Checkout.self, factory: Checkout.init)
  }
  return try Router().add(middleware: RequestEnvironments(requests))  // the adapter, see below
    .on("orders/:product", .post, in: shop, Checkout.self) { _, context, checkout in
      try await checkout.order(context.parameters.require("product"))
    }
}

func declareShop(in shop: Beans.Environment) throws -> Router<BasicRequestContext> {
  try shop.define(Database.self, async: Database.init) { $0.onDestroy { await $0.close() } }
  return try declareOrders(in: shop)
}
