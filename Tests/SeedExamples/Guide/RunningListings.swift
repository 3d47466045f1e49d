// Marked listings stand in the article to the letter: see ListingTests.swift.

import Synchronization  // for the types around the listings

// listing
import Beans
import BeansRunning
import BeansYAML
import Synchronization

// end

/// A complete program; the article adds `@main`.
enum CompleteProgram {
  // continued
  struct PoolSettings: Decodable, Sendable {
    let host: String
    let size: Int
  }

  final class Pool: Sendable {
    init(settings: PoolSettings) async throws {
      try await Task.sleep(for: .milliseconds(20))
      print("\(settings.size) connections to \(settings.host)")
    }

    func write(_ steps: [String]) async { print("committed: \(steps.joined(separator: ", "))") }
    func close() async { print("connections closed") }
  }

  struct Order: Sendable { let number: Int }
  struct OutOfStock: Error {}

  final class UnitOfWork: Sendable {
    private let pool: Pool
    private let steps = Mutex<[String]>([])
    init(pool: Pool) { self.pool = pool }

    func add(_ step: String) { steps.withLock { $0.append(step) } }

    func end(_ outcome: ScopeOutcome) async {
      switch outcome {
      case .completed: await pool.write(steps.withLock { $0 })
      case .failed(let error): print("rolled back: \(error)")
      }
    }
  }

  final class Orders: RunnableBean, Sendable {
    private let requests: EnvironmentFactory<Order>
    init(requests: EnvironmentFactory<Order>) { self.requests = requests }

    func run() async throws {
      for number in 1... {
        try await Task.sleep(for: .milliseconds(100))
        try? await requests.withChild(Order(number: number)) { request in
          let work = try request.getBean(UnitOfWork.self)
          work.add("order \(number)")
          if number % 2 == 0 { throw OutOfStock() }
          work.add("payment \(number)")
        }
      }
    }
  }

  final class Prices: Sendable {
    func reload() { print("prices reloaded") }
  }

  struct Service {
    static func declare(in shop: Environment) throws {
      try shop.childFactory("request", seed: Order.self) { request in
        try request.define(UnitOfWork.self, factory: UnitOfWork.init) { $0.onDestroy { await $0.end($1) } }
      }
      try shop
        .define(PoolSettings.self, configuration: "pool")
        .define(Pool.self, async: Pool.init) { $0.onDestroy { await $0.close() } }
        .define(Orders.self, factory: Orders.init)
        .define(Prices.self, factory: Prices.init) { $0.scheduled(every: .milliseconds(250)) { $0.reload() } }
    }

    static func main() async throws {
      let shop = try Environment(name: "shop")
      try shop.addConfigurationSource(YAMLConfigurationSource(path: "shop.yaml"))
      try declare(in: shop)
      try await shop.run(until: [.terminate, .interrupt])
    }
  }
  // end
}

// listing
import Beans
import BeansRunning
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

  func declareConsumer(in shop: Environment) throws {
    try shop
      .define(Consumer.self, factory: Consumer.init) { $0.restarts(after: .seconds(1), upTo: .seconds(60), limit: 5) }
      .define(Shipments.self, factory: Shipments.init)
      .define(Queue.self, factory: Queue.init)
  }
  // end

  // listing
  func declarePrices(in shop: Environment, zone: ScheduleZone) throws {
    try shop.define(Prices.self, factory: Prices.init) {
      $0.scheduled(every: .seconds(300)) { prices in try await prices.reload() }
        .scheduled(at: "30 6 * * mon-fri", in: zone) { try await $0.reload() }
    }
  }
  // end
}

// listing
import BeansRunning
import Foundation

extension ScheduleZone {
  init(_ zone: TimeZone) {
    self.init { .seconds(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0.components.seconds)))) }
  }
}
// end

extension Running {
  // listing
  func reloadsOnTime() async throws -> Int {
    let clock = ManualClock()
    let shop = try Environment(name: "shop")
    try shop.useClock(clock)
    try declarePrices(in: shop, zone: .utc)
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
