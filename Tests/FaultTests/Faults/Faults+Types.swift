import Beans

extension Fault {
  /// Classes, properties and types that do not fit.
  static let types: [Fault] = [
    .startup(.typeMismatch, "A bean is asked for by its id, and has not the qualifier of the parameter.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      try shop.define(
        shop.bean(Order.self, factory: { (_: Qualified<Discount, Stock>) in Order() }).argument(0, ref: "stock"))
    },
    .call(
      .unknownClass, "A declaration by name names a class that is not in the program."
    ) { _ = try $0.bean(className: "FaultTests.Ordr", id: "order") },
    .call(.unknownClass, "Several classes have that name.") { _ = try $0.bean(className: "Paymaster") },
    .call(
      .unknownClass, "The name is that of a struct, an enum or a protocol."
    ) { _ = try $0.bean(className: "FaultTests.Discount") },
    .call(.unknownClass, "The name is that of a generic class.") { _ = try $0.bean(className: "FaultTests.Ledger") },
    .call(
      .unknownClass, "An XML document names a class that is not in the program."
    ) { try $0.loadShop("<bean id='order' class='FaultTests.Ordr'/>") },

    .startup(
      .unknownProperty, "A property is set by a name that the class does not have."
    ) { try $0.define($0.bean(Order.self).property("numbr", value: 1)) },
    .startup(
      .unknownProperty, "A property that is computed is set by name."
    ) { try $0.define($0.bean(Order.self).property("total", value: 1)) },
    .startup(
      .unknownProperty, "A property of a struct is set by name."
    ) { try $0.define($0.bean(Discount()).property("percent", value: 1)) },
    .startup(
      .unknownProperty, "An XML document sets a property that the class does not have."
    ) { try $0.loadShop("<bean class='FaultTests.Order'><property name='numbr' value='1'/></bean>") },

    .startup(.typeMismatch, "A reference leads to a bean of another type.") { shop in
      try shop.define(shop.bean(CardPayment.self, id: "card"))
      try shop.define(shop.bean(Order.self).property("stock", ref: "card"))
    },
    .startup(.typeMismatch, "A template has a listener for another class than the bean's.") { shop in
      try shop.define(shop.bean(Stock.self, id: "listening", abstract: true).listens { (_, _: Int) in })
      try shop.define(shop.bean(Order.self, parent: "listening"))
    },
    .startup(
      .typeMismatch, "nil is given to a type that is no optional."
    ) { try $0.define($0.bean(Order.self).property("number", .null)) },
    .startup(.typeMismatch, "A list is given to a type that is no collection.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      try shop.define(shop.bean(Order.self).property("number", .list([.reference("stock")])))
    },
    .startup(
      .typeMismatch, "A declaration states a protocol that its class does not conform to."
    ) { try $0.define($0.bean(Stock.self).implements((any Payment).self)) },
    .startup(
      .typeMismatch, "A factory bean makes something else than its target."
    ) { try $0.define($0.bean(Printer.self).target(Order.self)) },
    .startup(.typeMismatch, "A template's factory makes another class than the bean's.") { shop in
      try shop.define(shop.bean(Database.self, id: "databases", abstract: true, factory: Database.init))
      try shop.define(shop.bean(Catalogue.self, parent: "databases"))
    },
    .startup(.typeMismatch, "A callback inherited from a template expects another class.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stocks", abstract: true).onDestroy { _ in })
      try shop.define(shop.bean(Order.self, parent: "stocks"))
    },
    .startup(.typeMismatch, "A post processor replaces a bean by something else.", when: .building) { shop in
      try shop.define(shop.bean(Confusion.self))
      try shop.define(shop.bean(Order.self))
    },
    .startup(
      .typeMismatch, "A custom scope returns another object than the bean.", when: .building
    ) { shop in
      try shop.registerScope(WrongScope())
      try shop.define(shop.bean(Stock.self).scope("wrong"))
      try shop.define(shop.bean(Order.self, factory: { (_: Stock) in Order() }))
    },
    .startup(.typeMismatch, "An XML document gives a list to a property that is no collection.") { shop in
      try shop.loadShop(
        "<bean class='FaultTests.Order'><property name='number'><list><value>1</value></list></property></bean>")
    },
    .startup(
      .typeMismatch, "A factory bean that may make several things has made something else than its target.",
      when: .building
    ) { try $0.define($0.bean(Till.self).target(CashPayment.self)) },
    .startup(.typeMismatch, "A property inherited from a template is one of another class.") { shop in
      try shop.define(shop.bean(Order.self, id: "orders", abstract: true).property(\.number, value: 1))
      try shop.define(shop.bean(Stock.self, parent: "orders"))
    },
    .call(.typeMismatch, "A lookup by id asks for another type than the bean's.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      _ = try shop.getBean(Order.self, byId: "stock")
    },
  ]
}

enum North { final class Paymaster {} }

enum South { final class Paymaster {} }

class Ledger<Entry> {}

private final class Printer: FactoryBean, Initializable {
  func create() -> Stock { Stock() }
}

private final class Till: FactoryBean, Initializable {
  func create() -> any Payment { CardPayment() }
}

private final class Confusion: BeanPostProcessor, Initializable {
  func process(_ bean: AnyObject) -> AnyObject { bean is Order ? Stock() : bean }
}

private final class WrongScope: BeanScope {
  let name = "wrong"
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) -> AnyObject { CardPayment() }
  func finish() {}
}
