import Beans

// The beans of the faults: a shop. The types are not private, so XML can name them, as `FaultTests.Order`.

final class Database {
  init() {}
}

protocol Payment {}

final class CardPayment: Payment, Initializable {}

final class CashPayment: Payment, Initializable {}

final class Stock: Initializable {
  init() {}
}

final class Order: Initializable {
  enum Status: String { case open, paid }

  var number = 0
  var quantity: UInt8 = 1
  var isPaid = false
  var status = Status.open
  var deadline = Duration.seconds(1)
  var stock = Stock()
  var lines: [Int] = []
  let currency = "EUR"
  var total: Int { number }
}

/// A module with content that cannot be compared.
struct Courier: BeanModule {
  let days: Int
  func configure(_ environment: Environment) throws {}
}

struct Stocks: BeanModule {
  func configure(_ environment: Environment) throws { try environment.define(environment.bean(Stock.self).private()) }
}

/// A module that declares the children for requests.
final class Requests: BeanModule {
  private(set) var factory: EnvironmentFactory<Int>?
  func configure(_ environment: Environment) throws {
    factory = try environment.childFactory("request", seed: Int.self)
  }
}

final class Checker: BeanPostProcessor {
  func process(_ bean: AnyObject) -> AnyObject { bean }
}

class Delivery {}

final class TracedDelivery: Delivery, AsyncBean {
  func postConstruct() async {}
}

final class Catalogue {
  init(database: Database) {}
}

final class Checkout {
  init(payment: any Payment) {}
}

struct Discount { var percent = 0 }

struct Outage: Error, CustomStringConvertible {
  let description = "the database does not answer"
}

/// A tag of the factory that creates orders from their numbers.
struct OrderFactory: AssistedFactory {
  typealias Element = Order
  typealias Seed = Int
}

/// Fails when it runs.
final class Failing: RunnableBean {
  func run() async throws { throw Outage() }
}

/// Runs until it is cancelled.
final class Idle: RunnableBean {
  private let (starts, continuation) = AsyncStream.makeStream(of: Void.self)

  func run() async throws {
    continuation.yield()
    try await Task.sleep(for: .seconds(3_600))
  }

  /// Returns once it runs.
  func untilStarted() async { for await _ in starts { return } }
}
