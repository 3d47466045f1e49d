import Beans
import BeansInject
import BeansRunning

extension Fault {
  /// Declarations that contradict themselves or the rules.
  static let declarations: [Fault] = [
    .startup(
      .invalidDeclaration, "A class is declared that the container does not know how to build."
    ) { try $0.define($0.bean(Catalogue.self)) },
    .startup(
      .invalidDeclaration, "An optional, an array or one of the container's own types is declared."
    ) { try $0.define($0.bean([Stock].self, factory: { [] })) },
    .startup(
      .invalidDeclaration, "A type is handed over where an instance is expected."
    ) { try $0.define($0.bean(Discount.self as Any)) },
    .startup(.invalidDeclaration, "A declaration names no class, and no template that has one.") { shop in
      try shop.define(shop.template("stocks"))
      try shop.define(shop.template("stock").parent("stocks").abstract(false))
    },
    .startup(
      .invalidDeclaration, "An argument is pinned that the factory does not have."
    ) { try $0.define($0.bean(Order.self).argument(1, value: 3)) },
    .startup(
      .invalidDeclaration, "A property is given nothing, or several things."
    ) { try $0.define($0.bean(Order.self).property("number", value: 1, ref: "one")) },
    .startup(
      .invalidDeclaration, "A constant is set by name."
    ) { try $0.define($0.bean(Order.self).property("currency", value: "USD")) },
    .startup(
      .invalidDeclaration, "A condition of a declaration throws."
    ) { try $0.define($0.bean(Order.self).when { _ in throw CancellationError() }) },
    .startup(
      .invalidDeclaration, "A condition on profiles is malformed."
    ) { try $0.define($0.bean(Order.self).profile("production & (eu")) },
    .startup(.invalidDeclaration, "A bean that is declared in place has a condition of its own.") { shop in
      let stock = shop.bean(Stock.self).profile("production")
      try shop.define(shop.bean(Order.self).property(\.stock, bean: stock))
    },
    .startup(.invalidDeclaration, "A decorator is given an id, a parent or a scope of its own.") { shop in
      try shop.define(shop.bean(CardPayment.self))
      try shop.define(shop.decorate((any Payment).self, factory: { (inner: any Payment) in inner }).scope("prototype"))
    },
    .startup(
      .invalidDeclaration, "The decorated bean of a decorator is pinned."
    ) { shop in
      try shop.define(shop.bean(CardPayment.self, id: "card"))
      try shop.define(
        shop.decorate((any Payment).self, factory: { (inner: any Payment) in inner }).argument(0, ref: "card"))
    },
    .startup(
      .invalidDeclaration, "An optional, an array or one of the container's own types is to be decorated."
    ) { try $0.define($0.decorate([Stock].self, factory: { (inner: [Stock]) in inner })) },
    .startup(
      .invalidDeclaration, "Something else than a bean is to have a qualifier."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Qualified<Discount, [Stock]>) in Order() })) },
    .startup(
      .invalidDeclaration, "An array of something that cannot be several is asked for."
    ) { try $0.define($0.bean(Order.self, factory: { (_: [Provider<Stock>]) in Order() })) },
    .startup(
      .invalidDeclaration, "A dictionary of something that cannot be several is asked for."
    ) { try $0.define($0.bean(Order.self, factory: { (_: [String: Provider<Stock>]) in Order() })) },
    .startup(
      .invalidDeclaration, "An optional of something that is always there is asked for."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Provider<Stock>?) in Order() })) },
    .startup(
      .invalidDeclaration, "A set of something that cannot be several is asked for."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Set<[Int]>) in Order() })) },
    .startup(
      .invalidDeclaration, "A release is given no time."
    ) { try $0.define($0.bean(Stock.self).releaseLimit(.zero)) },
    .startup(
      .invalidDeclaration, "A schedule has no interval."
    ) { try $0.define($0.bean(Stock.self).scheduled(every: .zero) { _ in }) },
    .startup(
      .invalidDeclaration, "A cron expression names no day of the week."
    ) { try $0.define($0.bean(Stock.self).scheduled(at: "*/5 8-18 * * mon-fry") { _ in }) },
    .startup(
      .invalidDeclaration, "A cron expression is never due."
    ) { try $0.define($0.bean(Stock.self).scheduled(at: "0 0 30 feb *") { _ in }) },
    .startup(
      .invalidDeclaration, "A restart has no delay."
    ) { try $0.define($0.bean(Stock.self).restarts(after: .zero, upTo: .seconds(1), limit: 3)) },
    .startup(
      .invalidDeclaration, "A prototype has a schedule."
    ) { try $0.define($0.bean(Stock.self).scope("prototype").scheduled(every: .seconds(1)) { _ in }) },
    .startup(
      .invalidDeclaration, "A bean of a request is to run."
    ) { try $0.define($0.bean(Failing.self, factory: Failing.init).scope("request")) },
    .startup(
      .invalidDeclaration, "A declaration is private that no module makes."
    ) { try $0.define($0.bean(Stock.self).private()) },
    .startup(
      .invalidDeclaration, "A module is included twice whose content cannot be compared."
    ) { try $0.include(Courier(days: 1)).include(Courier(days: 2)) },
    .startup(
      .invalidDeclaration, "A listener is to receive a protocol, which no event is by itself."
    ) { try $0.define($0.bean(Stock.self).listens(to: (any Announcement).self) { _, _ in }) },
    .startup(
      .invalidDeclaration, "A declaration is made by another environment than the one that defines it."
    ) { shop in
      _ = try shop.childFactory("request", seed: Int.self) { try $0.define(shop.bean(Stock.self)) }
    },
    .startup(.invalidDeclaration, "One declaration is defined twice.") { shop in
      let order = shop.bean(Order.self)
      try shop.define(order).define(order)
    },
    .startup(
      .invalidDeclaration, "Text has a placeholder that is not closed."
    ) { try $0.define($0.bean(Order.self).property("number", resolve: "${number")) },
    .startup(.invalidDeclaration, "A map is given with two equal keys.") { shop in
      let prices = BeanValue.map([(.value("tea"), .value(3)), (.value("tea"), .value(4))])
      try shop.define(shop.bean(PriceList.self).property("prices", prices))
    },
    .startup(
      .invalidDeclaration, "Two keys of a dictionary become one when they are converted."
    ) { try $0.define($0.bean(PriceList.self).property("byNumber", value: ["1": 3, "01": 4])) },
    .startup(
      .invalidDeclaration, "A seed is taken by a factory that is no assisted one."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Assisted<Int>) in Order() })) },
    .startup(.invalidDeclaration, "The factory of an assisted bean takes another seed than its tag says.") { shop in
      try shop.define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<String>) in Order() })
    },
    .startup(.invalidDeclaration, "Two assisted factories are bound to one tag.") { shop in
      let orders = shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>) in Order() }
      let more = shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>) in Order() }
      try shop.define(orders).define(more)
    },
    .startup(.invalidDeclaration, "A bean descriptor states a protocol that is none.") {
      try $0.define($0.bean(Leaflet.self))
    },
    .startup(.invalidDeclaration, "A factory bean does not name the type that it makes.") {
      try $0.define($0.bean(Press.self))
    },
    .startup(
      .invalidDeclaration, "A target is given to a bean that makes nothing."
    ) { try $0.define($0.bean(Stock.self).target(Order.self)) },
    .startup(.invalidDeclaration, "The children of a factory declare a bean that outlives them.") { shop in
      _ = try shop.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(Order.self).scope("singleton"))
      }
    },
    .startup(.invalidDeclaration, "The children of a factory declare a configuration source.") { shop in
      _ = try shop.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(ProcessInfoConfigurationSource.self))
      }
    },
    .startup(
      .invalidDeclaration, "A class asks for an injection that no `Injection` serves."
    ) { try $0.define($0.bean(Clock.self)) },
    .call(
      .invalidDeclaration, "A scope is registered under a name that is taken."
    ) { try $0.registerScope(NamedScope("singleton")) },
    .call(
      .invalidDeclaration, "A second scope is registered under the same name."
    ) { try $0.registerScope(NamedScope("shift")).registerScope(NamedScope("shift")) },
    .startup(.invalidDeclaration, "A bean of children is declared by the environment around them.") { shop in
      _ = try shop.childFactory("request", seed: Int.self) { _ in try shop.define(shop.bean(Stock.self)) }
    },
    .call(.invalidDeclaration, "A factory makes a scope object of another name.") { shop in
      let requests = try shop.childFactory("request", seed: Int.self, scope: { NamedScope("shift") })
      _ = try requests.build(1)
    },
    .call(
      .invalidDeclaration, "A scope object is registered in `configure`, where it would serve all children."
    ) { shop in
      _ = try shop.childFactory("request", seed: Int.self) { try $0.registerScope(NamedScope("shift")) }
    },
    .call(
      .invalidDeclaration, "A factory's scope has the name of one that is built in."
    ) { _ = try $0.childFactory("prototype", seed: Int.self) },
    .call(
      .invalidDeclaration, "A factory's scope has the name of one around it."
    ) { _ = try $0.childFactory("request", seed: Int.self).childFactory("request", seed: Int.self) },
    .call(.invalidDeclaration, "A configuration value is given twice, by sources that cannot overrule.") { shop in
      try shop.define(shop.settings().setValue(key: "port", value: 80))
      try shop.define(shop.settings().setValue(key: "port", value: 81))
    },
    .call(
      .invalidDeclaration, "An option of the command line has no name."
    ) { try $0.addConfigurationSource(CommandLineConfigurationSource(arguments: ["shop", "--=80"])) },
    .startup(.invalidDeclaration, "A section has a value that belongs to no property.") { shop in
      try shop.addConfigurationSource(CommandLineConfigurationSource(arguments: ["shop", "--desk.prot", "1"]))
      try shop.define(shop.bean(Desk.self, configuration: "desk", rejectsUnknownKeys: true))
    },
    .call(.invalidDeclaration, "A configuration value holds a placeholder that is not closed.") { shop in
      try shop.define(shop.settings().setValue(key: "url", value: "http://${host/"))
      _ = try shop.getConfigurationValue(String.self, key: "url")
    },
  ]
}

private struct Desk: Decodable, Sendable { let port: Int? }

private protocol Announcement: Sendable {}

private final class PriceList: Initializable {
  var prices: [String: Int] = [:]
  var byNumber: [Int: Int] = [:]
}

private final class Press: FactoryBean, Initializable {
  func create() -> Order { Order() }
}

private final class Now: Inject, @unchecked Sendable {}  // has no state

private final class Clock: Initializable, BeanDescriptorInitializer {
  var started = 0

  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor["started"].inject(Now())
  }
}

private final class Leaflet: Initializable, BeanDescriptorInitializer {
  static func initializeBeanDescriptor(_ beanDescriptor: BeanDescriptor) throws {
    try beanDescriptor.implements(Stock.self)
  }
}

private final class NamedScope: BeanScope, ChildScope {
  let name: String
  init(_ name: String) { self.name = name }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { try factory.create(bean) }
  func finish() {}
}
