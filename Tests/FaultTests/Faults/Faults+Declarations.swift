import Beans

extension Fault {
  /// Declarations that contradict themselves or the rules.
  static let declarations: [Fault] = [
    .startup(
      .invalidDeclaration, "A class is declared that the container does not know how to build.",
      fix: "Give a factory: `bean(Catalogue.self, factory: Catalogue.init)`, or conform to `Initializable`."
    ) { try $0.define($0.bean(Catalogue.self)) },
    .startup(
      .invalidDeclaration, "An optional, an array or one of the container's own types is declared.",
      fix: "Declare the elements; whoever takes `[T]` or `T?` gets them."
    ) { try $0.define($0.bean([Stock].self, factory: { [] })) },
    .startup(
      .invalidDeclaration, "A type is handed over where an instance is expected.",
      fix: "Hand over an instance, or give a factory."
    ) { try $0.define($0.bean(Discount.self as Any)) },
    .startup(
      .invalidDeclaration, "A declaration names no class, and no template that has one.",
      fix: "Declare it with a class, or make it abstract."
    ) { shop in
      try shop.define(shop.template("stocks"))
      try shop.define(shop.template("stock").parent("stocks").abstract(false))
    },
    .startup(
      .invalidDeclaration, "An argument is pinned that the factory does not have.",
      fix: "Count the parameters from 0."
    ) { try $0.define($0.bean(Order.self).argument(1, value: 3)) },
    .startup(
      .invalidDeclaration, "A property is given nothing, or several things.",
      fix: "Give exactly one of `value`, `ref`, `resolve`, `bean` and `inject`."
    ) { try $0.define($0.bean(Order.self).property("number", value: 1, ref: "one")) },
    .startup(
      .invalidDeclaration, "A constant is set by name.",
      fix: "Make it a `var`, or give the value to the factory."
    ) { try $0.define($0.bean(Order.self).property("currency", value: "USD")) },
    .startup(
      .invalidDeclaration, "A condition of a declaration throws.",
      fix: "Answer false where the configuration says nothing, for example by a default value."
    ) { try $0.define($0.bean(Order.self).when { _ in throw CancellationError() }) },
    .startup(
      .invalidDeclaration, "A bean that is declared in place has a condition of its own.",
      fix: "Give the condition to the declaration that it stands in, or define the bean by itself."
    ) { shop in
      let stock = shop.bean(Stock.self).profile("production")
      try shop.define(shop.bean(Order.self).property(\.stock, bean: stock))
    },
    .startup(
      .invalidDeclaration, "A decorator is given an id, a parent or a scope of its own.",
      fix: "Leave it out: a decorator is found by what it decorates, and lives as long as that."
    ) { shop in
      try shop.define(shop.bean(CardPayment.self))
      try shop.define(shop.decorate((any Payment).self, factory: { (inner: any Payment) in inner }).scope("prototype"))
    },
    .startup(
      .invalidDeclaration, "What a decorator decorates is pinned.",
      fix: "Count its other parameters from 1: argument 0 is what it decorates."
    ) { shop in
      try shop.define(shop.bean(CardPayment.self, id: "card"))
      try shop.define(
        shop.decorate((any Payment).self, factory: { (inner: any Payment) in inner }).argument(0, ref: "card"))
    },
    .startup(
      .invalidDeclaration, "An optional, an array or one of the container's own types is to be decorated.",
      fix: "Decorate the elements; whoever takes `[T]` or `T?` gets what the decorator makes."
    ) { try $0.define($0.decorate([Stock].self, factory: { (inner: [Stock]) in inner })) },
    .startup(
      .invalidDeclaration, "Something else than a bean is to have a qualifier.",
      fix: "Put the other one around it: `[Qualified<Tag, T>]`, `Qualified<Tag, T>?`, `Provider<Qualified<Tag, T>>`."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Qualified<Discount, [Stock]>) in Order() })) },
    .startup(
      .invalidDeclaration, "An array of something that cannot be several is asked for.",
      fix: "Write `Provider<[T]>`; or take `[Lazy<T>]`, whose beans are found at startup and built when they are used."
    ) { try $0.define($0.bean(Order.self, factory: { (_: [Provider<Stock>]) in Order() })) },
    .startup(
      .invalidDeclaration, "A dictionary of something that cannot be several is asked for.",
      fix: "Write `Provider<[String: T]>`, or take `[String: Lazy<T>]`."
    ) { try $0.define($0.bean(Order.self, factory: { (_: [String: Provider<Stock>]) in Order() })) },
    .startup(
      .invalidDeclaration, "An optional of something that is always there is asked for.",
      fix: "Write `Provider<T?>`, or take `Lazy<T>?`."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Provider<Stock>?) in Order() })) },
    .startup(
      .invalidDeclaration, "A set of something that cannot be several is asked for.",
      fix: "Take the set of the elements, and make what is needed of it."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Set<[Int]>) in Order() })) },
    .startup(
      .invalidDeclaration, "A release is given no time.",
      fix: "Give a `releaseLimit` above zero, or leave it out: then nothing limits the release."
    ) { try $0.define($0.bean(Stock.self).releaseLimit(.zero)) },
    .startup(
      .invalidDeclaration, "A declaration is private that no module makes.",
      fix: "Make it in the `configure` of a `BeanModule`, or leave `private()` out."
    ) { try $0.define($0.bean(Stock.self).private()) },
    .startup(
      .invalidDeclaration, "A listener is to receive a protocol, which no event is by itself.",
      fix: "Listen to each of the types that conform to it."
    ) { try $0.define($0.bean(Stock.self).listens(to: (any Announcement).self) { _, _ in }) },
    .startup(
      .invalidDeclaration, "One declaration is defined twice.",
      fix: "Make a declaration for each bean."
    ) { shop in
      let order = shop.bean(Order.self)
      try shop.define(order).define(order)
    },
    .startup(
      .invalidDeclaration, "Text has a placeholder that is not closed.",
      fix: "Close it with `}`, or write `$${` where no placeholder is meant."
    ) { try $0.define($0.bean(Order.self).property("number", resolve: "${number")) },
    .startup(
      .invalidDeclaration, "A map is given with two equal keys.",
      fix: "Drop one of the entries."
    ) { shop in
      let prices = BeanValue.map([(.value("tea"), .value(3)), (.value("tea"), .value(4))])
      try shop.define(shop.bean(PriceList.self).property("prices", prices))
    },
    .startup(
      .invalidDeclaration, "Two keys of a dictionary become one when they are converted.",
      fix: "Drop one of the entries."
    ) { try $0.define($0.bean(PriceList.self).property("byNumber", value: ["1": 3, "01": 4])) },
    .startup(
      .invalidDeclaration, "A seed is taken by a factory that is no assisted one.",
      fix: "Declare it with `bindFactory(…).with(…).to(factory:)`."
    ) { try $0.define($0.bean(Order.self, factory: { (_: Assisted<Int>) in Order() })) },
    .startup(
      .invalidDeclaration, "The factory of an assisted bean takes another seed than its tag says.",
      fix: "Take `Assisted<Seed>` once, of the tag's own `Seed`."
    ) { shop in
      try shop.define(
        shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<String>) in Order() })
    },
    .startup(
      .invalidDeclaration, "Two assisted factories are bound to one tag.",
      fix: "Give each a tag of its own."
    ) { shop in
      let orders = shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>) in Order() }
      let more = shop.bindFactory(Order.self).with(OrderFactory.self).to { (_: Assisted<Int>) in Order() }
      try shop.define(orders).define(more)
    },
    .startup(
      .invalidDeclaration, "A factory bean does not say what it makes.",
      fix: "Add `.target(Product.self)`."
    ) { try $0.define($0.bean(Press.self)) },
    .startup(
      .invalidDeclaration, "A target is given to a bean that makes nothing.",
      fix: "Conform to `FactoryBean`, or drop `.target`."
    ) { try $0.define($0.bean(Stock.self).target(Order.self)) },
    .startup(
      .invalidDeclaration, "The children of a factory declare a bean that outlives them.",
      fix: "Declare it in the environment whose scope it has."
    ) { shop in
      _ = try shop.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(Order.self).scope("singleton"))
      }
    },
    .startup(
      .invalidDeclaration, "The children of a factory declare a configuration source.",
      fix: "Declare it in the environment around them."
    ) { shop in
      _ = try shop.childFactory("request", seed: Int.self) { request in
        try request.define(request.bean(ProcessInfoConfigurationSource.self))
      }
    },
    .startup(
      .invalidDeclaration, "A class asks for an injection that nobody serves.",
      fix: "Define a bean that is an `Injection` for that kind of `Inject`."
    ) { try $0.define($0.bean(Clock.self)) },
    .call(
      .invalidDeclaration, "A scope is registered under a name that is taken.",
      fix: "Give it another name; \"singleton\" and \"prototype\" are built in."
    ) { try $0.registerScope(NamedScope("singleton")) },
    .call(
      .invalidDeclaration, "A second scope is registered under the same name.",
      fix: "Give it another name."
    ) { try $0.registerScope(NamedScope("shift")).registerScope(NamedScope("shift")) },
    .call(
      .invalidDeclaration, "A scope object is registered in `configure`, where it would serve all children.",
      fix: "Register it further out, or give the factory a scope of its own (`scope:`)."
    ) { shop in
      _ = try shop.childFactory("request", seed: Int.self) { try $0.registerScope(NamedScope("shift")) }
    },
    .call(
      .invalidDeclaration, "A factory's scope has the name of one that is built in.",
      fix: "Give it another name."
    ) { _ = try $0.childFactory("prototype", seed: Int.self) },
    .call(
      .invalidDeclaration, "A factory's scope has the name of one around it.",
      fix: "Give it another name: each stands once in a chain of ancestors."
    ) { _ = try $0.childFactory("request", seed: Int.self).childFactory("request", seed: Int.self) },
    .call(
      .invalidDeclaration, "A configuration value is given twice, by sources that cannot overrule.",
      fix: "Remove one of them, or let the later source overrule."
    ) { shop in
      try shop.define(shop.settings().setValue(key: "port", value: 80))
      try shop.define(shop.settings().setValue(key: "port", value: 81))
    },
    .call(
      .invalidDeclaration, "An option of the command line has no name.",
      fix: "Write `--key=value`."
    ) { try $0.addConfigurationSource(CommandLineConfigurationSource(arguments: ["shop", "--=80"])) },
  ]
}

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

private final class NamedScope: BeanScope {
  let name: String
  init(_ name: String) { self.name = name }
  func prepare(bean: BeanDeclaration, factory: any BeanFactory) {}
  func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject { try factory.create(bean) }
  func finish() {}
}
