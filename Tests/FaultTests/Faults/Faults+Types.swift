import Beans

extension Fault {
  /// Classes, properties and types that do not fit.
  static let types: [Fault] = [
    .startup(
      .typeMismatch, "A bean is asked for by its id, and has not the qualifier of the parameter.",
      fix: "Give the tag to the bean's declaration, or leave the id out."
    ) { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      try shop.define(
        shop.bean(Order.self, factory: { (_: Qualified<Discount, Stock>) in Order() }).argument(0, ref: "stock"))
    },
    .call(
      .unknownClass, "A declaration by name names a class that is not in the program.",
      fix: "Spell the class as Swift does, with its module; link the module that has it."
    ) { _ = try $0.bean(className: "FaultTests.Ordr", id: "order") },
    .call(
      .unknownClass, "Several classes have that name.",
      fix: "Say the module and the types around it: `Module.Outer.Inner`."
    ) { _ = try $0.bean(className: "Paymaster") },
    .call(
      .unknownClass, "The name is that of a struct, an enum or a protocol.",
      fix: "Declare it in Swift, with a factory; only classes can be declared by name."
    ) { _ = try $0.bean(className: "FaultTests.Discount") },
    .call(
      .unknownClass, "The name is that of a generic class.",
      fix: "Name a subclass that is not generic, or declare it in Swift."
    ) { _ = try $0.bean(className: "FaultTests.Ledger") },
    .call(
      .unknownClass, "An XML document names a class that is not in the program.",
      fix: "Spell the class as Swift does, with its module; link the module that has it."
    ) { try $0.loadShop("<bean id='order' class='FaultTests.Ordr'/>") },

    .startup(
      .unknownProperty, "A property is set by a name that the class does not have.",
      fix: "Spell it as the class does; or use a key path, which the compiler checks."
    ) { try $0.define($0.bean(Order.self).property("numbr", value: 1)) },
    .startup(
      .unknownProperty, "A property that is computed is set by name.",
      fix: "Set the stored property behind it, or use a key path."
    ) { try $0.define($0.bean(Order.self).property("total", value: 1)) },
    .startup(
      .unknownProperty, "A property of a struct is set by name.",
      fix: "Give the value to its factory; only classes have properties with names."
    ) { try $0.define($0.bean(Discount()).property("percent", value: 1)) },
    .startup(
      .unknownProperty, "An XML document sets a property that the class does not have.",
      fix: "Spell it as the class does."
    ) { try $0.loadShop("<bean class='FaultTests.Order'><property name='numbr' value='1'/></bean>") },

    .startup(
      .typeMismatch, "A reference leads to a bean of another type.",
      fix: "Refer to a bean of the property's or parameter's type, or of a subclass or conforming type."
    ) { shop in
      try shop.define(shop.bean(CardPayment.self, id: "card"))
      try shop.define(shop.bean(Order.self).property("stock", ref: "card"))
    },
    .startup(
      .typeMismatch, "A template has a listener for another class than the bean's.",
      fix: "Give the listener to the declaration of the bean."
    ) { shop in
      try shop.define(shop.bean(Stock.self, id: "listening", abstract: true).listens { (_, _: Int) in })
      try shop.define(shop.bean(Order.self, parent: "listening"))
    },
    .startup(
      .typeMismatch, "nil is given to what is no optional.",
      fix: "Give a value, or make the property or parameter optional."
    ) { try $0.define($0.bean(Order.self).property("number", .null)) },
    .startup(
      .typeMismatch, "A list is given to what is no collection.",
      fix: "Give a single value, or make the property an array."
    ) { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      try shop.define(shop.bean(Order.self).property("number", .list([.reference("stock")])))
    },
    .startup(
      .typeMismatch, "A declaration states a protocol that its class does not conform to.",
      fix: "Conform to the protocol, or drop `.implements`: conformances are found without it."
    ) { try $0.define($0.bean(Stock.self).implements((any Payment).self)) },
    .startup(
      .typeMismatch, "A factory bean makes something else than its target.",
      fix: "State as `.target` what `create` returns, or a superclass or protocol of it."
    ) { try $0.define($0.bean(Printer.self).target(Order.self)) },
    .startup(
      .typeMismatch, "A template's factory makes another class than the bean's.",
      fix: "Give the bean a factory of its own, or inherit from another template."
    ) { shop in
      try shop.define(shop.bean(Database.self, id: "databases", abstract: true, factory: Database.init))
      try shop.define(shop.bean(Catalogue.self, parent: "databases"))
    },
    .startup(
      .typeMismatch, "A callback inherited from a template expects another class.",
      fix: "Declare the callback for a common superclass or protocol, or for each bean."
    ) { shop in
      try shop.define(shop.bean(Stock.self, id: "stocks", abstract: true).onDestroy { _ in })
      try shop.define(shop.bean(Order.self, parent: "stocks"))
    },
    .startup(
      .typeMismatch, "A post processor replaces a bean by something else.",
      fix: "Return an object of the bean's class, or of a subclass of it.", when: .building
    ) { shop in
      try shop.define(shop.bean(Confusion.self))
      try shop.define(shop.bean(Order.self))
    },
    .startup(
      .typeMismatch, "A scope of the user's answers with something else than the bean.",
      fix: "Return what the factory that the scope is handed made for that bean.", when: .building
    ) { shop in
      try shop.registerScope(WrongScope())
      try shop.define(shop.bean(Stock.self).scope("wrong"))
      try shop.define(shop.bean(Order.self, factory: { (_: Stock) in Order() }))
    },
    .startup(
      .typeMismatch, "An XML document gives a list to a property that is no collection.",
      fix: "Give a single value, or make the property an array."
    ) { shop in
      try shop.loadShop(
        "<bean class='FaultTests.Order'><property name='number'><list><value>1</value></list></property></bean>")
    },
    .startup(
      .typeMismatch, "A factory bean that may make several things has made something else than its target.",
      fix: "State as `.target` what `create` really returns.", when: .building
    ) { try $0.define($0.bean(Till.self).target(CashPayment.self)) },
    .startup(
      .typeMismatch, "A property inherited from a template is one of another class.",
      fix: "Set the property by name, or on each bean."
    ) { shop in
      try shop.define(shop.bean(Order.self, id: "orders", abstract: true).property(\.number, value: 1))
      try shop.define(shop.bean(Stock.self, parent: "orders"))
    },
    .call(
      .typeMismatch, "A lookup by id asks for another type than the bean's.",
      fix: "Ask for the bean's class, or a superclass or protocol of it."
    ) { shop in
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
