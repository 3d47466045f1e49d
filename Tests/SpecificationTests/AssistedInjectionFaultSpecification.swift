import Beans
import Testing

@Suite("Assisted injection: faults, scopes and the end") struct AssistedInjectionFaultSpecification {
  @FreshEnvironment private var environment

  // MARK: startup

  @Test("A tag has one binding: a second is a fault that names both origins, with any ids")
  func twoBindings() throws {
    let (first, firstLine) = (environment.bindFactory(Product.self).with(Tag.self).to(factory: Product.init), #line)
    let (second, secondLine) = (environment.bindFactory(Product.self).with(Tag.self).to(factory: Product.init), #line)
    try environment.define(first.id("first")).define(second.id("second"))
    let fault = try requireFault(.invalidDeclaration, line: secondLine) { try environment.startup() }
    #expect(fault.message.contains("\(#fileID):\(firstLine)"))
    #expect(fault.passes("Factory<Tag> 'second'"))
  }

  @Test("Two tags of one element are two factories")
  func twoTags() throws {
    try environment
      .define(environment.bindFactory(Product.self).with(Tag.self).to(factory: Product.init))
      .define(environment.bindFactory(Product.self).to { Product(Assisted("none")) })
    #expect(try environment.getBean(Factory<Tag>.self).build("a").name == "a")
    #expect(try environment.getBean(Factory<EmptySeed<Product>>.self).build().name == "none")
  }

  @Test("Assisted is valid in bindFactory only")
  func assistedElsewhere() throws {
    let (bean, line) = (environment.bean(Product.self, factory: Product.init), #line)
    try environment.define(bean)
    try requireFault(.invalidDeclaration, message: "Assisted<String>", line: line) { try environment.startup() }

    let wrapped = try Environment()
    try wrapped.define(wrapped.bean(Counter.self, factory: { (_: Assisted<Int>?) in Counter() }))
    try wrapped.define(wrapped.bean(Journal.self, factory: { (_: [Assisted<Int>]) in Journal() }))
    try wrapped.define(wrapped.bean(Product.self, factory: { (_: Provider<Assisted<Int>>) in Product(Assisted("")) }))
    try wrapped.define(wrapped.bean(Assisted("a bean")))
    let faults = try startupFaults(of: wrapped)
    #expect(faults.count == 4 && faults.allSatisfy { $0.code == .invalidDeclaration })

    let empty = try Environment()
    defer { try? empty.shutdown() }
    try requireFault(.invalidDeclaration) { try empty.getBean(Assisted<String>.self) }
  }

  @Test("A seed of another type, two seeds, or none although the tag has one are faults")
  func wrongSeeds() throws {
    let builder = environment.bindFactory(Product.self).with(Tag.self)
    let (wrong, line) = (builder.to { (seed: Assisted<Int>) in Product(seed.map { "\($0)" }) }, #line)
    try environment.define(wrong)
    let fault = try requireFault(.invalidDeclaration, message: "Assisted<Int>", "String") { try environment.startup() }
    #expect(fault.isFrom(file: #fileID, line: line - 1))

    let twice = try Environment()
    defer { try? twice.shutdown() }
    try twice.define(
      twice.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, _: Assisted<String>) in
        Product(seed)
      })
    try requireFault(.invalidDeclaration) { try twice.startup() }

    let none = try Environment()
    defer { try? none.shutdown() }
    try none.define(none.bindFactory(Product.self).with(Tag.self).to { Product(Assisted("")) })
    try requireFault(.invalidDeclaration) { try none.startup() }

    let unasked = try Environment()
    defer { try? unasked.shutdown() }
    try unasked.define(unasked.bindFactory(Product.self).to(factory: Product.init))
    try requireFault(.invalidDeclaration) { try unasked.startup() }
  }

  @Test("The seed cannot be pinned, and neither can a parameter that does not exist")
  func pinnedSeed() throws {
    try environment.define(
      environment.bindFactory(Product.self).with(Tag.self).to(factory: Product.init)
        .argument(0, value: "pinned").argument(1, value: 1))
    let faults = try startupFaults(of: environment)
    #expect(faults.count == 2 && faults.allSatisfy { $0.code == .invalidDeclaration })
  }

  @Test("A product of a type that no bean can have is a fault")
  func wrapperProduct() throws {
    try environment.define(environment.bindFactory([Int].self).to { [1] })
    try requireFault(.invalidDeclaration) { try environment.startup() }
  }

  @Test("Missing beans of products are found at startup, and no factory is called")
  func missing() throws {
    let (binding, line) = (
      environment.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, _: Counter) in Product(seed) },
      #line - 1
    )
    try environment.define(binding)
    try requireFault(.unknownBean, message: "second parameter", "Counter", through: "Factory<Tag>", line: line) {
      try environment.startup()
    }
  }

  @Test("A circle through a factory is found at startup and drawn")
  func cycle() throws {
    try environment
      .define(environment.bean(Shop.self, factory: Shop.init))
      .define(
        environment.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, _: Shop) in Product(seed) })
    try requireFault(.cyclicDependency, path: ["Shop", "Factory<Tag>", "Shop"]) { try environment.startup() }
  }

  @Test("A factory is a longer-lived bean: a request's bean that its products hold is captive, a provider is not")
  func captive() throws {
    try environment.define(environment.bean(Ticket.self, factory: Ticket.init).scope("request"))
    try environment.define(
      environment.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, _: Ticket) in Product(seed) })
    _ = try environment.childFactory("request", seed: Int.self)
    try requireFault(.captiveDependency, through: "Ticket") { try environment.startup() }

    let open = try Environment()
    defer { try? open.shutdown() }
    try open.define(open.bean(Ticket.self, factory: Ticket.init).scope("request"))
    try open.define(
      open.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, ticket: Provider<Ticket>) in
        Product(Assisted("\(seed.get()) \(try ticket.get().number)"))
      })
    let requests = try open.childFactory("request", seed: Int.self)
    let factory = try open.getBean(Factory<Tag>.self)
    #expect(try requests.withChild(7) { _ in try factory.build("ticket").name } == "ticket 7")
    try requireFault(.scopeNotActive) { try factory.build("none") }
  }

  // MARK: the home of a factory

  @Test("A factory of a request builds with that request's beans, seed and environment")
  func requestScoped() throws {
    try environment
      .define(environment.bean(Ticket.self, factory: Ticket.init).scope("request"))
      .define(
        environment.bindFactory(Product.self).with(Tag.self).to {
          (number: Int, seed: Assisted<String>, ticket: Ticket, home: Environment) in
          Product(Assisted("\(seed.get()) \(number) \(ticket.number) \(home.name)"))
        }
        .scope("request"))
    let requests = try environment.childFactory("request", seed: Int.self)
    let (one, two) = (try requests.build(1), try requests.build(2))
    let (first, second) = (try one.getBean(Factory<Tag>.self), try two.getBean(Factory<Tag>.self))
    for _ in 0..<3 {
      #expect(try first.build("a").name == "a 1 1 request")
      #expect(try second.build("b").name == "b 2 2 request")
    }
    try requireFault(.scopeNotActive) { try environment.getBean(Factory<Tag>.self) }
    one.finish()
    try requireFault(.finished) { try first.build("a") }
    #expect(try second.build("b").name == "b 2 2 request")
    try environment.shutdown()
  }

  @Test("The first product builds the beans of a request that products need, not the factory")
  func lazyInARequest() throws {
    let built = Counter()
    try environment
      .define(
        environment.bean(Ticket.self, factory: { (number: Int) in built.counting(Ticket(number: number)) })
          .scope("request")
      )
      .define(
        environment.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, _: Ticket) in Product(seed) }
          .scope("request"))
    let requests = try environment.childFactory("request", seed: Int.self)
    try requests.withChild(1) { request in
      let factory = try request.getBean(Factory<Tag>.self)
      #expect(built.value == 0)
      for _ in 0..<3 { _ = try factory.build("a") }
      #expect(built.value == 1)
    }
  }

  @Test("A singleton's products come from its own environment, even if a child looks the factory up")
  func home() throws {
    let parent = try Environment(name: "parent")
    try parent.define(
      parent.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, home: Environment) in
        Product(Assisted("\(seed.get()) of \(home.name)"))
      })
    let child = try Environment(name: "child", parent: parent)
    #expect(try child.getBean(Factory<Tag>.self).build("a").name == "a of parent")
    try parent.shutdown()
  }

  @Test("A prototype factory belongs to the environment that looks it up")
  func prototype() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(
      parent.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, counter: Counter) in
        Product(Assisted("\(seed.get()) \(counter.increment())"))
      }
      .scope("prototype"))
    // The parent has no counter; every request has one.
    let requests = try parent.childFactory(
      "request", seed: Void.self, configure: { try $0.define($0.bean(Counter.self, factory: Counter.init)) })
    try requests.withChild(()) { request in
      let factory = try request.getBean(Factory<Tag>.self)
      #expect(try factory.build("a").name == "a 1")
      #expect(try factory.build("a").name == "a 2")
    }
    try requireFault(.unknownBean) { try parent.getBean(Factory<Tag>.self) }
  }

  // MARK: failing builds

  @Test("An error of a product's factory arrives as creationFailed with the original in it; the next build tries again")
  func throwing() throws {
    let (binding, line) = (
      environment.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>) in
        if seed.get() == "boom" { throw Boom(name: "boom") }
        return Product(seed)
      }, #line - 3
    )
    try environment.define(binding)
    let factory = try environment.getBean(Factory<Tag>.self)
    for _ in 0..<2 {
      try requireFault(.creationFailed, path: ["Product"], causes: [Boom(name: "boom")], line: line) {
        try factory.build("boom")
      }
      #expect(try factory.build("fine").name == "fine")
    }
  }

  @Test("An error of the container from inside passes through with an extended path")
  func passesThrough() throws {
    try environment.define(
      environment.bindFactory(Product.self).with(Tag.self).to { (_: Assisted<String>, home: Environment) in
        try home.getBean(Product.self, byId: "missing")
      })
    let factory = try environment.getBean(Factory<Tag>.self)
    for _ in 0..<2 {
      try requireFault(.unknownBean, path: ["Product", "'missing'"]) { try factory.build("a") }
    }
  }

  @Test("A bean that products need and that cannot be built fails the build, and the next build tries again")
  func failingDependency() throws {
    let calls = Counter()
    try environment
      .define(
        environment.bean(Journal.self) {
          if calls.increment() == 1 { throw Boom() }
          return Journal()
        }.lazy()
      )
      .define(
        environment.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>, _: Journal) in Product(seed)
        }
      )
    let factory = try environment.getBean(Factory<Tag>.self)
    try requireFault(.creationFailed, path: ["Product", "Journal"]) { try factory.build("a") }
    #expect(try factory.build("a").name == "a")
    #expect(calls.value == 2)
  }

  // MARK: the end

  @Test("A factory throws finished after finish, even if it has built before")
  func finished() throws {
    let calls = Counter()
    try environment
      .define(
        environment.bindFactory(Product.self).with(Tag.self).to { (seed: Assisted<String>) in
          calls.counting(Product(seed))
        }
      )
      .define(environment.bindFactory(Product.self).to { Product(Assisted("")) })
    let (used, unused) = (
      try environment.getBean(Factory<Tag>.self), try environment.getBean(Factory<EmptySeed<Product>>.self)
    )
    _ = try used.build("a")
    try environment.shutdown()
    try requireFault(.finished) { try used.build("b") }
    try requireFault(.finished) { try unused.build() }
    #expect(calls.value == 1)
  }

  @Test("A build in a release throws finished, like any lookup")
  func inRelease() throws {
    let caught = Captured<EnvironmentError.Code>()
    try environment
      .define(environment.bindFactory(Product.self).with(Tag.self).to(factory: Product.init))
      .define(
        environment.bean(Shop.self, factory: Shop.init).onDestroy { shop in
          do { _ = try shop.products.build("a") } catch { caught.value = (error as? EnvironmentError)?.code }
        })
    _ = try environment.getBean(Shop.self).products.build("a")
    try environment.shutdown()
    #expect(caught.value == .finished)
  }

  @Test("The environment, the factory, dependencies of products and closures are not retained after shutdown")
  func retention() throws {
    struct Traces {
      weak var environment: Environment?
      weak var journal: Journal?
      weak var token: Counter?
      weak var declaration: BeanDeclaration?
    }
    func run() throws -> Traces {
      let environment = try Environment()
      let token = Counter()
      let binding = environment.bindFactory(Product.self).with(Tag.self).to {
        (seed: Assisted<String>, _: Journal, _: Environment) in
        token.increment()
        return Product(seed)
      }
      try environment.define(environment.bean(Journal.self, factory: Journal.init)).define(binding)
      let factory = try environment.getBean(Factory<Tag>.self)
      for _ in 0..<3 { _ = try factory.build("a") }
      let journal = try environment.getBean(Journal.self)
      try environment.shutdown()
      return Traces(environment: environment, journal: journal, token: token, declaration: binding)
    }
    let traces = try run()
    #expect(traces.environment == nil)
    #expect(traces.journal == nil)
    #expect(traces.token == nil)
    #expect(traces.declaration == nil)
  }
}

// MARK: the beans of these tests

private struct Tag: AssistedFactory {
  typealias Seed = String
  typealias Element = Product
}

private final class Product {
  let name: String
  init(_ seed: Assisted<String>) { name = seed.get() }
}

private final class Shop {
  let products: Factory<Tag>
  init(products: Factory<Tag>) { self.products = products }
}

private final class Ticket {
  let number: Int
  init(number: Int) { self.number = number }
}
