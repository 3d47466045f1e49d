import Beans

/// A product of a seed and two beans, built by a factory that `bindFactory` declared, beside its constructor.
struct AssistedBuild {
  let settings: Settings

  func measure() throws -> Table {
    let application = try AssistedApplication()
    try Self.check(application)
    var table = Table(
      scenario: "assisted", title: "a seed and 2 beans", operation: "build one product, use it, drop it")
    table.rows = try Contest(
      settings: settings, contestants: [Self.constructor(application), Self.container(application)],
      operations: settings.operations(300_000), held: settings.held
    ).rows()
    return table
  }

  private static func constructor(_ application: AssistedApplication) -> Contestant {
    let fields = application.fields
    return Contestant("hand-written: the constructor") { count in
      for number in 0..<count { useHeld(Product(number, fields.s4, fields.s5)) }
    } hold: { count, held in
      RequestContestants.hold(count, held) { Product(1, fields.s4, fields.s5) }
    }
  }

  static func container(_ application: AssistedApplication) -> Contestant {
    let factory = application.factory
    return Contestant("Factory.build") { count in
      for number in 0..<count { useHeld(try factory.build(number)) }
    } hold: { count, held in
      var products: [Product] = []
      products.reserveCapacity(count)
      for number in 0..<count { products.append(try factory.build(number)) }
      held()
      withExtendedLifetime(products) {}
    }
  }

  private static func check(_ application: AssistedApplication) throws {
    let (one, other) = (try application.factory.build(1), try application.factory.build(2))
    try SelfCheck.expect(one !== other && one.number == 1 && other.number == 2, "products do not have their own seeds")
    try SelfCheck.expect(
      one.s4 === application.fields.s4 && one.s5 === application.fields.s5, "a product is wired wrongly")
  }
}

/// The product.
final class Product: Sendable {
  let number: Int
  let s4: S4
  let s5: S5

  init(_ number: Int, _ s4: S4, _ s5: S5) {
    self.number = number
    self.s4 = s4
    self.s5 = s5
  }
}

/// Names the factory and its seed.
struct ProductSeed: AssistedFactory {
  typealias Seed = Int
  typealias Element = Product
}

/// An application with such a factory, and the product's beans in fields.
struct AssistedApplication {
  let factory: Factory<ProductSeed>
  let fields: Fields

  init() throws {
    let environment = try Environment(name: "application")
    try ContainerApplication<Void>.declareSingletons(in: environment)
    try environment.define(
      environment.bindFactory(Product.self).with(ProductSeed.self).to { (seed: Assisted<Int>, s4: S4, s5: S5) in
        Product(seed.get(), s4, s5)
      })
    factory = try environment.getBean(Factory<ProductSeed>.self)
    fields = try Fields(environment)
  }
}
