import Beans

extension Fault {
  /// Beans that have to be awaited, and those that their takers own.
  static let awaited: [Fault] = [
    .startup(.invalidDeclaration, "A bean that its environment keeps is to be `Owned`.") { shop in
      try shop.define(shop.bean(Stock.self))
      try shop.define(shop.bean(Order.self, factory: { (_: Owned<Stock>) in Order() }))
    },
    .startup(.invalidDeclaration, "`Owned` is requested of a type that is no bean.") { shop in
      try shop.define(shop.bean(Stock.self).scope("prototype"))
      try shop.define(shop.bean(Order.self, factory: { (_: Owned<[Stock]>) in Order() }))
    },
    .call(.finished, "An `Owned` bean is used after it has been released.") { shop in
      try shop.define(shop.bean(Stock.self).scope("prototype"))
      let stock = try shop.getBean(Owned<Stock>.self)
      try stock.release()
      _ = try stock.get()
    },

    .call(.notReady, "A lookup needs a bean that is created asynchronously.") { shop in
      try shop.define(shop.bean(Stock.self, async: { Stock() }))
      try shop.define(shop.bean(Order.self, factory: { (_: Stock) in Order() }))
      _ = try shop.getBean(Order.self)
    },
    .call(
      .notReady, "A startup that cannot wait meets beans that are created asynchronously."
    ) { shop in
      try shop.define(shop.bean(Stock.self, async: { Stock() }))
      try shop.startup()
    },
    .startup(
      .invalidDeclaration, "A prototype is to be created asynchronously."
    ) { try $0.define($0.bean(Stock.self, async: { Stock() }).scope("prototype")) },
    .startup(.invalidDeclaration, "A bean of a scope that decides by itself is to be created asynchronously.") { shop in
      try shop.registerScope(Shift())
      try shop.define(shop.bean(Stock.self, async: { Stock() }).scope("shift"))
    },
    .startup(
      .invalidDeclaration, "A post processor is to be created asynchronously."
    ) { try $0.define($0.bean(Checker.self, async: { Checker() })) },
    .call(.invalidDeclaration, "Several threads would share a bean that is not known to be `Sendable`.") { shop in
      try shop.define(shop.bean(Stock.self))
      try shop.startup(options: [.requireSendable])
    },
    .call(.invalidDeclaration, "A factory returns an `AsyncBean`, which its declared type hides.") { shop in
      try shop.define(shop.bean(Delivery.self, lazy: true, factory: { TracedDelivery() }))
      _ = try shop.getBean(Delivery.self)
    },
  ]
}
