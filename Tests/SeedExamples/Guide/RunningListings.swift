// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans
import BeansTesting

// end

struct Running {
  final class Queue: Sendable {
    let orders: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation
    init() { (orders, continuation) = AsyncStream.makeStream() }
    func append(_ order: Int) { continuation.yield(order) }
  }

  final class Shipments: Sendable {
    private let numbers = Mutex<[Int]>([])
    var all: [Int] { numbers.withLock { $0 } }
    func ship(_ order: Int) { numbers.withLock { $0.append(order) } }
  }

  final class Prices: Sendable {
    private let reloads = Atomic(0)
    var count: Int { reloads.load(ordering: .relaxed) }
    func reload() async throws { reloads.add(1, ordering: .relaxed) }
  }

  // continued
  final class Consumer: RunnableBean {
    private let queue: Queue
    private let shipments: Shipments

    init(queue: Queue, shipments: Shipments) {
      self.queue = queue
      self.shipments = shipments
    }

    func run() async throws {
      for await order in queue.orders { shipments.ship(order) }
    }
  }
  // end
}

extension Running {
  // listing
  func declareConsumer(in shop: Environment) throws {
    try shop
      .define(
        shop.bean(Consumer.self, factory: Consumer.init)
          .restarts(after: .seconds(1), upTo: .seconds(60), limit: 5)
      )
      .define(shop.bean(Shipments.self, factory: Shipments.init))
      .define(shop.bean(Queue.self, factory: Queue.init))
  }

  func serve(_ shop: Environment) async throws {
    try await shop.run(shutdownLimit: .seconds(10))
  }
  // end

  // listing
  func declarePrices(in shop: Environment) throws {
    try shop.define(
      shop.bean(Prices.self, factory: Prices.init)
        .scheduled(every: .seconds(300)) { prices in try await prices.reload() }
        .scheduled(at: "30 6 * * mon-fri", utcOffset: .seconds(3600)) { try await $0.reload() })
  }
  // end

  // listing
  func reloadsOnTime() async throws -> Int {
    let clock = ManualClock()
    let shop = try Environment(name: "shop")
    try shop.useClock(clock)
    try declarePrices(in: shop)
    try shop.startup()
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(300))
    // The call has ended when its schedule sleeps again.
    try await clock.waitForSleepers(2)
    let count = try shop.getBean(Prices.self).count
    try await shop.shutdown()
    return count
  }
  // end
}
