import Beans
import BeansInject
import BeansXML
import Foundation

extension Fault {
  /// Missing and ambiguous beans.
  static let beans: [Fault] = [
    .startup(
      .unknownBean, "A factory's parameter has a type that no bean has."
    ) { try $0.define($0.bean(Catalogue.self, factory: Catalogue.init)) },
    .call(.unknownBean, "A bean of that type exists only in the children of a factory.") { shop in
      _ = try shop.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(Database.self, factory: Database.init))
      }
      _ = try shop.getBean(Database.self)
    },
    .startup(.captiveDependency, "A bean that is kept takes one that exists only in the children of a factory.") {
      shop in
      try shop.define(shop.bean(Catalogue.self, factory: Catalogue.init))
      _ = try shop.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(Database.self, factory: Database.init))
      }
    },
    .startup(.unknownBean, "The only bean of that type depends on a condition that does not hold.") { shop in
      try shop.define(shop.bean(Stock.self).profile("production"))
      try shop.define(shop.bean(Catalogue.self, factory: { (_: Stock) in Catalogue(database: Database()) }))
    },
    .startup(.unknownBean, "The only bean of that type is private to a module.") { shop in
      try shop.include(Stocks()).define(shop.bean(Order.self, factory: { (_: Stock) in Order() }))
    },
    .startup(.unknownBean, "No bean of that type has the qualifier.") { shop in
      try shop.define(shop.bean(Stock.self))
      try shop.define(shop.bean(Order.self, factory: { (_: Qualified<Discount, Stock>) in Order() }))
    },
    .startup(.unknownBean, "No child has a bean that is asked for as the current one.") { shop in
      try shop.define(shop.bean(Stock.self))
      try shop.define(shop.bean(Order.self, factory: { (_: Current<Stock>) in Order() }))
    },
    .startup(
      .unknownBean, "A dictionary or a set of beans is asked for, and there is none."
    ) { try $0.define($0.bean(Order.self, factory: { (_: [String: Stock]) in Order() })) },
    .startup(
      .unknownBean, "A decorator finds nothing to decorate."
    ) { try $0.define($0.decorate((any Payment).self, factory: { (inner: any Payment) in inner })) },
    .startup(.unknownBean, "A reference names an id that no bean has.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      try shop.define(shop.bean(Order.self).property("stock", ref: "stok"))
    },
    .startup(.unknownBean, "A reference names a template.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock", abstract: true))
      try shop.define(shop.bean(Order.self).property("stock", ref: "stock"))
    },
    .startup(
      .unknownBean, "A declaration inherits from a template that does not exist."
    ) { try $0.define($0.bean(Order.self, parent: "orders")) },
    .startup(
      .unknownBean, "A declaration requires a bean that does not exist."
    ) { try $0.define($0.bean(Order.self).requires(Database.self)) },
    .startup(.unknownBean, "A property is set to a declaration that another environment has defined.") { shop in
      let depot = try Environment(name: "depot")
      let stock = depot.bean(Stock.self)
      try depot.define(stock)
      try shop.define(shop.bean(Order.self).property("stock", bean: stock))
    },
    .startup(.unknownBean, "An alias is given for an id that no bean has.") { try $0.alias("warehouse", of: "stock") },
    .startup(
      .unknownBean, "A property is set to a declaration that depends on a condition which does not hold."
    ) { shop in
      let stock = shop.bean(Stock.self).profile("production")
      try shop.define(stock).define(shop.bean(Order.self).property("stock", bean: stock))
    },
    .startup(
      .unknownBean, "A provider can never find a bean, in no environment below."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Provider<Database>) in Order() })) },
    .startup(.unknownBean, "A dependency of an assisted factory's products is missing.") { shop in
      try shop.define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>, _: Database) in Order() })
    },
    .startup(.unknownBean, "A property with `@InjectedById` has a type of which no bean has an id.") { shop in
      try shop.define(shop.bean(Stock.self))
      try shop.define(shop.bean(Depot.self))
    },
    .startup(.unknownBean, "A property with `@InjectedById` names an id that no bean has.", when: .building) { shop in
      try shop.define(shop.bean(Stock.self, id: "spare"))
      try shop.define(shop.bean(Depot.self))
    },
    .call(.unknownBean, "A lookup asks for a type that no bean has.") { _ = try $0.getBean(Database.self) },
    .call(.unknownBean, "A lookup asks for an id that no bean has.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      _ = try shop.getBean(Stock.self, byId: "stocks")
    },

    .startup(.ambiguousBean, "Several beans match the type of a parameter.") { shop in
      try shop.define(shop.bean(CardPayment.self))
      try shop.define(shop.bean(CashPayment.self))
      try shop.define(shop.bean(Checkout.self, factory: Checkout.init))
    },
    .startup(.ambiguousBean, "Several beans that match a type are primary.") { shop in
      try shop.define(shop.bean(Stock.self, id: "near").primary())
      try shop.define(shop.bean(Stock.self, id: "far").primary())
      try shop.define(shop.bean(Order.self, factory: { (_: Stock) in Order() }))
    },
    .call(.ambiguousBean, "A lookup asks for a type that several beans have.") { shop in
      try shop.define(shop.bean(Stock.self, id: "near"))
      try shop.define(shop.bean(Stock.self, id: "far"))
      _ = try shop.getBean(Stock.self)
    },

    .startup(.duplicateId, "Two beans of one environment have the same id.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      try shop.define(shop.bean(Stock.self, id: "stock"))
    },
    .startup(.duplicateId, "An alias is the id of another bean of the same environment.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock")).define(shop.bean(Order.self, id: "order"))
      try shop.alias("order", of: "stock")
    },
    .startup(.duplicateId, "An XML document and Swift, or two documents, declare the same id.") { shop in
      try shop.define(shop.bean(Stock.self, id: "stock"))
      try shop.loadShop("<bean id='stock' class='FaultTests.Stock'/>")
    },
  ]
}

private final class Depot: Initializable {
  @InjectedById("main") var stock: Stock
}

extension Environment {
  /// Loads a document "shop.xml" whose second line is `text`.
  func loadShop(_ text: String) throws {
    try loadXML(
      Data("<beans xmlns:c='http://www.springframework.org/schema/configuration'>\n\(text)\n</beans>".utf8),
      source: "shop.xml")
  }
}
