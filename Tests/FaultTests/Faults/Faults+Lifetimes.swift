import Beans

extension Fault {
  /// Scopes, and beans that live shorter than their takers.
  static let lifetimes: [Fault] = [
    .startup(.captiveDependency, "A singleton would hold a bean of a request.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      try shop.define(shop.bean(Order.self, factory: { (_: Stock) in Order() }))
      _ = try shop.childFactory("request", seed: Int.self)
    },
    .startup(.captiveDependency, "A singleton would hold a bean of a request through a prototype.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      try shop.define(
        shop.bean(Checkout.self, factory: { (_: Stock) in Checkout(payment: CashPayment()) }).scope("prototype"))
      try shop.define(shop.bean(Order.self, factory: { (_: Checkout) in Order() }))
      _ = try shop.childFactory("request", seed: Int.self)
    },
    .startup(.captiveDependency, "A singleton would hold beans of a request in an array or an optional.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      try shop.define(shop.bean(Order.self, factory: { (_: [Stock]) in Order() }))
      _ = try shop.childFactory("request", seed: Int.self)
    },
    .startup(.captiveDependency, "A bean of a session would hold one of a request.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      try shop.define(shop.bean(Order.self, factory: { (_: Stock) in Order() }).scope("session"))
      let sessions = try shop.childFactory("session", seed: String.self)
      _ = try sessions.childFactory("request", seed: Int.self)
    },
    .startup(.captiveDependency, "The products of an assisted factory would hold a bean of a request.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      try shop.define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>, _: Stock) in Order() })
      _ = try shop.childFactory("request", seed: Int.self)
    },

    .startup(
      .unknownScope, "A declaration names a scope that does not exist."
    ) { try $0.define($0.bean(Order.self).scope("reqest")) },
    .startup(
      .unknownScope, "A declaration names a scope that a scope bean might have brought.", when: .preparing
    ) { shop in
      try shop.define(shop.bean(Shift.self))
      try shop.define(shop.bean(Order.self).scope("shfit"))
    },
    .startup(
      .unknownScope, "An XML document names a scope that does not exist."
    ) { try $0.loadShop("<bean class='FaultTests.Order' scope='reqest'/>") },

    .startup(.scopeNotActive, "A bean of a request needs one of a scope that is not around it.") { shop in
      try shop.define(shop.bean(Stock.self).scope("session"))
      try shop.define(shop.bean(Order.self, factory: { (_: Stock) in Order() }).scope("request"))
      _ = try shop.childFactory("session", seed: String.self)
      _ = try shop.childFactory("request", seed: Int.self)
    },
    .call(.scopeNotActive, "A bean of a request is looked up outside any request.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      _ = try shop.childFactory("request", seed: Int.self)
      _ = try shop.getBean(Stock.self)
    },
    .call(.scopeNotActive, "A provider is asked for a bean of a request outside any request.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      _ = try shop.childFactory("request", seed: Int.self)
      _ = try shop.getBean(Provider<Stock>.self).get()
    },
    .call(.scopeNotActive, "A `Current` bean is asked for where no child is current.") { shop in
      try shop.define(shop.bean(Stock.self).scope("request"))
      _ = try shop.childFactory("request", seed: Int.self)
      _ = try shop.getBean(Current<Stock>.self).get()
    },
    .call(.scopeNotActive, "A request of a session is opened outside any session.") { shop in
      let sessions = try shop.childFactory("session", seed: String.self)
      _ = try sessions.childFactory("request", seed: Int.self).build(1)
    },
    .call(.scopeNotActive, "A request of a session is opened in another environment.") { shop in
      let sessions = try shop.childFactory("session", seed: String.self)
      _ = try sessions.childFactory("request", seed: Int.self).build(1, in: shop)
    },
    .call(.scopeNotActive, "A child is opened of a factory whose module has a condition that does not hold.") { shop in
      let module = Requests()
      try shop.include(module.profile("production"))
      _ = try module.factory?.build(1)
    },
    .call(.scopeNotActive, "A lookup is made on the argument of `configure`, which is no environment yet.") { shop in
      _ = try shop.childFactory("request", seed: Int.self) { request in _ = try request.getBean(Int.self) }
    },
  ]
}

final class Shift: BeanScope, Initializable {
  let name = "shift"
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { try factory.create(bean) }
  func finish() {}
}
