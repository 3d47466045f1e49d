import Beans
import Glibc
import Synchronization

extension Fault {
  /// Beans that need each other.
  static let cycles: [Fault] = [
    .startup(.cyclicDependency, "Factories need each other's beans.") { shop in
      try shop.define(shop.bean(Hen.self, factory: Hen.init))
      try shop.define(shop.bean(Egg.self, factory: { (hen: Hen) in Egg(hen) }))
    },
    .startup(
      .cyclicDependency, "A bean needs itself."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Order) in Order() })) },
    .startup(.cyclicDependency, "A property refers to a bean that needs this one.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock", factory: { (_: Order) in Stock() }))
      try shop.define(shop.bean(Order.self).property(\.stock, ref: "stock"))
    },
    .startup(.cyclicDependency, "A dependency of an assisted factory's products takes that factory.") { shop in
      try shop.define(shop.bean(Stock.self, factory: { (_: Factory<OrderFactory>) in Stock() }))
      try shop.define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>, _: Stock) in Order() })
    },
    .startup(.cyclicDependency, "Templates inherit from each other.") { shop in
      try shop.define(shop.template("a").parent("b")).define(shop.template("b").parent("a"))
      try shop.define(shop.bean(Order.self, parent: "a"))
    },
    .startup(.cyclicDependency, "Aliases name each other.") { try $0.alias("a", of: "b").alias("b", of: "a") },
    .startup(
      .cyclicDependency, "A factory looks up, while it runs, a bean that needs its own.",
      when: .building
    ) { shop in
      try shop.define(shop.bean(Hen.self, factory: Hen.init))
      try shop.define(
        shop.bean(
          Egg.self,
          factory: { (environment: Environment) in
            Egg(try environment.getBean(Hen.self))
          }))
    },
    .call(
      .cyclicDependency, "Two threads build beans whose factories look each other up."
    ) { shop in throw try acrossThreads(shop) },
    .awaiting(.cyclicDependency, "Asynchronous factories await each other's beans.") { shop in
      try shop.define(
        shop.bean(
          Order.self, lazy: true,
          async: { (shop: Environment) in
            _ = try await shop.getBean(awaiting: Stock.self)
            return Order()
          }))
      try shop.define(
        shop.bean(
          Stock.self, lazy: true,
          async: { (shop: Environment) in
            _ = try await shop.getBean(awaiting: Order.self)
            return Stock()
          }))
      _ = try await shop.getBean(awaiting: Order.self)
    },
    .awaiting(.cyclicDependency, "An asynchronous factory looks up its own bean.") { shop in
      try shop.define(
        shop.bean(
          Stock.self, lazy: true, async: { (shop: Environment) throws -> Stock in try shop.getBean(Stock.self) }))
      _ = try await shop.getBean(awaiting: Stock.self)
    },
    .call(.cyclicDependency, "Configuration values lead back to each other by their placeholders.") { shop in
      try shop.define(shop.settings().setValue(key: "a", value: "${b}").setValue(key: "b", value: "${a}"))
      _ = try shop.getConfigurationValue(String.self, key: "a")
    },
  ]

  /// The thread that looks up last finds the circle, and draws it from its own bean on; the order is not fixed before.
  private static func acrossThreads(_ shop: Environment) throws -> any Error {
    let arrived = Atomic(0)
    let expected = Atomic(0)
    @Sendable func meet() {
      arrived.add(1, ordering: .acquiringAndReleasing)
      // Both threads come here; one may come again, and finds the other one here.
      while arrived.load(ordering: .acquiring) < expected.load(ordering: .acquiring) { sched_yield() }
    }
    try shop.define(
      shop.bean(
        Order.self, lazy: true,
        factory: { (environment: Environment) in
          meet()
          for _ in 0..<100 { sched_yield() }
          _ = try environment.getBean(Stock.self)
          return Order()
        }))
    try shop.define(
      shop.bean(
        Stock.self, lazy: true,
        factory: { (environment: Environment) in
          meet()
          _ = try environment.getBean(Order.self)
          return Stock()
        }))
    try shop.startup()
    while true {
      expected.store(arrived.load(ordering: .acquiring) + 2, ordering: .releasing)
      let errors = together([{ _ = try shop.getBean(Order.self) }, { _ = try shop.getBean(Stock.self) }])
      guard let error = errors[0] as? EnvironmentError else { return Outage() }
      if error.path.first == "Order" || error.code != .cyclicDependency { return error }
    }
  }
}

private final class Hen {
  init(egg: Egg) {}
}

private final class Egg {
  init(_ hen: Hen) {}
}
