import Beans
import Testing

@Suite("Assisted injection") struct AssistedInjectionSpecification {
  @FreshEnvironment private var environment

  // MARK: the seed

  @Test("A factory builds products from a seed and from beans, a new one per call")
  func seedAndBean() throws {
    try environment
      .define(environment.bean(Service.self))
      .define(environment.bindFactory(Detail.self).with(DetailTag.self).to(factory: Detail.init(seed:service:)))
    let factory = try environment.getBean(Factory<DetailTag>.self)
    let (first, second) = (try factory.build("1"), try factory.build("2"))
    #expect(first.id == "1" && second.id == "2")
    #expect(first !== second)
    #expect(try first.service === environment.getBean(Service.self))
    #expect(first.service === second.service)
    try environment.shutdown()
  }

  @Test("The seed may be at any position", arguments: 0..<3)
  func position(_ position: Int) throws {
    try environment.define(environment.bean(Service.self)).define(environment.bean(Limits(open: 5)))
    let builder = environment.bindFactory(Order.self).with(OrderTag.self)
    let binding =
      switch position {
      case 0: builder.to { (s: Assisted<Int>, a: Service, b: Limits) in Order(number: s.get(), service: a, limits: b) }
      case 1: builder.to { (a: Service, s: Assisted<Int>, b: Limits) in Order(number: s.get(), service: a, limits: b) }
      default: builder.to { (a: Service, b: Limits, s: Assisted<Int>) in Order(number: s.get(), service: a, limits: b) }
      }
    try environment.define(binding)
    let order = try environment.getBean(Factory<OrderTag>.self).build(position)
    #expect(order.number == position)
    #expect(order.limits.open == 5)
    #expect(try order.service === environment.getBean(Service.self))
  }

  @Test("A factory may have any number of parameters: more than eight, with the seed among them")
  func manyParameters() throws {
    try environment.define(environment.bean(Service.self)).define(environment.bean(Limits(open: 5)))
    try environment.define(
      environment.bindFactory(Order.self).with(OrderTag.self).to {
        (
          a: Service, b: Limits, c: Service?, d: [Service], e: Provider<Service>, f: Environment, s: Assisted<Int>,
          g: Greeter?, h: Limits, i: Service
        ) in
        #expect(a === i && a === c && d.count == 1 && f.name == "environment" && g == nil && b.open == h.open)
        return Order(number: s.get(), service: try e.get(), limits: b)
      })
    let factory = try environment.getBean(Factory<OrderTag>.self)
    for number in 0..<3 { #expect(try factory.build(number).number == number) }
  }

  @Test("A tuple is a seed of several values")
  func tuple() throws {
    struct Tag: AssistedFactory {
      typealias Seed = (name: String, count: Int, service: Service?)
      typealias Element = Values
    }
    try environment.define(
      environment.bindFactory(Values.self).with(Tag.self).to { (seed: Assisted<Tag.Seed>) in
        let (name, count, service) = seed.get()
        return Values(name: name, count: count, service: service)
      })
    let service = Service()
    let values = try environment.getBean(Factory<Tag>.self).build((name: "a", count: 3, service: service))
    #expect(values.name == "a" && values.count == 3 && values.service === service)
  }

  @Test("Seeds and products may be values, protocols and optionals of any size, and none leaks")
  func kinds() throws {
    struct Large: AssistedFactory {
      typealias Seed = [SIMD8<Int>]
      typealias Element = (any Greeter)
    }
    struct Optional: AssistedFactory {
      typealias Seed = Service?
      typealias Element = Values
    }
    try environment.define(
      environment.bindFactory((any Greeter).self).with(Large.self).to { (seed: Assisted<[SIMD8<Int>]>) in
        Polite(greeting: "\(seed.get()[0][7])")
      })
    try environment.define(
      environment.bindFactory(Values.self).with(Optional.self).to { (seed: Assisted<Service?>) in
        Values(name: "", count: 0, service: seed.get())
      })
    let greeters = try environment.getBean(Factory<Large>.self)
    #expect(try greeters.build([SIMD8(repeating: 7)]).greeting == "7")
    #expect(try greeters.build([SIMD8(repeating: 8)]).greeting == "8")
    let values = try environment.getBean(Factory<Optional>.self)
    weak var trace: Service?
    do {
      let service = Service()
      trace = service
      #expect(try values.build(service).service === service)
    }
    #expect(trace == nil)
    #expect(try values.build(nil).service == nil)
  }

  @Test("A factory without a tag has no seed and no parameter for one, except one of Void")
  func emptySeed() throws {
    try environment.define(environment.bean(Service.self))
    try environment.define(environment.bindFactory(Holder.self).to(factory: Holder.init))
    try environment.define(environment.bindFactory(Service.self).to { Service() })
    try environment.define(
      environment.bindFactory(Limits.self).to { (seed: Assisted<Void>) in
        seed.get()
        return Limits(open: 1)
      })
    let factory: Factory<EmptySeed<Holder>> = try environment.getBean(Factory<EmptySeed<Holder>>.self)
    #expect(try factory.build(()) !== factory.build())
    #expect(try factory.build().service === environment.getBean(Service.self))
    #expect(try environment.getBean(Factory<EmptySeed<Service>>.self).build() !== environment.getBean(Service.self))
    #expect(try environment.getBean(Factory<EmptySeed<Limits>>.self).build().open == 1)
  }

  @Test("Assisted can be mapped, and created by hand")
  func map() {
    let seed = Assisted("12")
    #expect(seed.get() == "12")
    #expect(seed.map { $0.count }.get() == 2)
    #expect(seed.map(Int.init).map { $0 ?? 0 }.get() == 12)
  }

  // MARK: the factory is a bean

  @Test("A factory is injected by its type: as a parameter, an optional, through a provider")
  func injected() throws {
    try environment
      .define(environment.bean(List.self, factory: List.init))
      .define(environment.bean(Service.self))
      .define(environment.bindFactory(Detail.self).with(DetailTag.self).to(factory: Detail.init(seed:service:)))
    let list = try environment.getBean(List.self)
    #expect(try list.details.build("a").id == "a")
    #expect(try list.perhaps?.build("b").id == "b")
    #expect(try list.later.get().build("c").id == "c")
    #expect(list.none == nil)
  }

  @Test("A factory has an id, can be lazy, and is found nearest first")
  func likeAnyBean() throws {
    let parent = try Environment(name: "parent")
    try parent.define(parent.bean(Service.self))
    try parent.define(
      parent.bindFactory(Detail.self).with(DetailTag.self).to(factory: Detail.init(seed:service:)).id("details").lazy())
    let child = try Environment(name: "child", parent: parent)
    try child.define(
      child.bindFactory(Detail.self).with(DetailTag.self).to { (seed: Assisted<String>, service: Service) in
        Detail(id: "child's \(seed.get())", service: service)
      })
    #expect(try parent.getBean(Factory<DetailTag>.self, byId: "details").build("1").id == "1")
    #expect(try child.getBean(Factory<DetailTag>.self).build("1").id == "child's 1")
    #expect(try child.getBean(Factory<DetailTag>.self, byId: "details").build("1").id == "1")
    try parent.shutdown()
  }

  @Test("A plain binding of the same type is independent, and the product is no bean by itself")
  func plainBinding() throws {
    let without = try Environment(name: "without")
    defer { try? without.shutdown() }
    try without.define(without.bean(Service.self))
    let binding = without.bindFactory(Detail.self).with(DetailTag.self).to(factory: Detail.init(seed:service:))
    try without.define(binding)
    try requireFault(.unknownBean) { try without.getBean(Detail.self) }
    #expect(try without.getBeansByType(Detail.self).isEmpty)

    let environment = try Environment(name: "beside")
    defer { try? environment.shutdown() }
    try environment
      .define(environment.bean(Service.self))
      .define(environment.bean(Detail.self, factory: { (service: Service) in Detail(id: "plain", service: service) }))
      .define(environment.bindFactory(Detail.self).with(DetailTag.self).to(factory: Detail.init(seed:service:)))
    #expect(try environment.getBean(Detail.self).id == "plain")
    #expect(try environment.getBean(Factory<DetailTag>.self).build("assisted").id == "assisted")
  }

  @Test("A parameter is pinned by its index, which includes the seed")
  func pinned() throws {
    try environment
      .define(environment.bean(Service.self, id: "first"))
      .define(environment.bean(Service.self, id: "second"))
      .define(
        environment.bindFactory(Detail.self).with(DetailTag.self).to(factory: Detail.init(seed:service:))
          .argument(1, ref: "second")
      )
      .define(
        environment.bindFactory(Order.self).with(OrderTag.self).to {
          (service: Service, seed: Assisted<Int>, limits: Limits) in
          Order(number: seed.get(), service: service, limits: limits)
        }
        .argument(0, ref: "first").argument(2, value: Limits(open: 9)))
    let detail = try environment.getBean(Factory<DetailTag>.self).build("1")
    #expect(try detail.service === environment.getBean(Service.self, byId: "second"))
    let order = try environment.getBean(Factory<OrderTag>.self).build(1)
    #expect(order.limits.open == 9)
    #expect(try order.service === environment.getBean(Service.self, byId: "first"))
  }

  // MARK: products

  @Test("A prototype that products need is new for each; a lazy bean is built by the first product")
  func dependencies() throws {
    let built = Counter()
    try environment
      .define(environment.bean(Service.self, factory: { built.counting(Service()) }).lazy())
      .define(environment.bean(Holder.self, factory: Holder.init).scope("prototype"))
      .define(
        environment.bindFactory(Pair.self).to { (holder: Holder, service: Service) in
          Pair(holder: holder, service: service)
        })
    try environment.startup()
    #expect(built.value == 0)
    let factory = try environment.getBean(Factory<EmptySeed<Pair>>.self)
    #expect(built.value == 0)
    let (first, second) = (try factory.build(), try factory.build())
    #expect(first.holder !== second.holder)
    #expect(first.service === second.service)
    #expect(built.value == 1)
  }

  @Test("A product is completed like any bean: its environment, post processors, then postConstruct")
  func completed() throws {
    let environment = try Environment(name: "home")
    defer { try? environment.shutdown() }
    try environment
      .define(environment.bean(Inspector.self, factory: { Inspector { ($0 as? Traced)?.journal.note("process") } }))
      .define(
        environment.bindFactory(Traced.self).with(TracedTag.self).to { (seed: Assisted<Journal>) in
          Traced(seed.get())
        })
    let journal = Journal()
    let product = try environment.getBean(Factory<TracedTag>.self).build(journal)
    #expect(journal.entries == ["init", "environment home", "process", "postConstruct"])
    #expect(product.environment === environment)
  }

  @Test("A post processor may replace a product, and the type of the replacement is checked")
  func replaced() throws {
    try environment
      .define(environment.bean(Service.self))
      .define(environment.bean(Replacer.self))
      .define(environment.bindFactory(Detail.self).with(DetailTag.self).to(factory: Detail.init(seed:service:)))
    let factory = try environment.getBean(Factory<DetailTag>.self)
    #expect(try factory.build("1") is SpecialDetail)
    try requireFault(.typeMismatch) { try factory.build("wrong") }
  }

  @Test("A factory may return a subclass, whose own protocols take effect")
  func subclass() throws {
    try environment.define(environment.bean(Service.self))
    try environment.define(
      environment.bindFactory(Detail.self).with(DetailTag.self).to { (seed: Assisted<String>, service: Service) in
        seed.get() == "plain" ? Detail(id: "plain", service: service) : SpecialDetail(id: seed.get(), service: service)
      })
    let factory = try environment.getBean(Factory<DetailTag>.self)
    for _ in 0..<3 {
      #expect(try factory.build("plain").constructions == 0)
      #expect(try factory.build("special").constructions == 1)
    }
  }

  @Test("Products are not tracked: the end of the environment does not release them")
  func untracked() throws {
    let journal = Journal()
    try environment.define(
      environment.bindFactory(Traced.self).with(TracedTag.self).to { (seed: Assisted<Journal>) in Traced(seed.get()) })
    weak var dropped: Traced?
    let factory = try environment.getBean(Factory<TracedTag>.self)
    do { dropped = try factory.build(Journal()) }
    #expect(dropped == nil)
    let kept = try factory.build(journal)
    try environment.shutdown()
    #expect(!journal.entries.contains("preDestroy"))
    withExtendedLifetime(kept) {}
  }

  @Test("A product may build products of its own kind in a tree, without a circle")
  func recursive() throws {
    struct Tag: AssistedFactory {
      typealias Seed = Int
      typealias Element = Node
    }
    try environment.define(
      environment.bindFactory(Node.self).with(Tag.self).to {
        (depth: Assisted<Int>, nodes: Provider<Factory<Tag>>) -> Node in
        let depth = depth.get()
        return Node(children: depth == 0 ? [] : [try nodes.get().build(depth - 1), try nodes.get().build(depth - 1)])
      })
    #expect(try environment.getBean(Factory<Tag>.self).build(6).count == 127)
  }
}

// MARK: the beans of these tests

private final class Service: Initializable { init() {} }

private struct Limits { let open: Int }

private protocol Greeter { var greeting: String { get } }

private struct Polite: Greeter { let greeting: String }

private class Detail {
  let id: String
  let service: Service
  var constructions = 0

  init(id: String, service: Service) {
    self.id = id
    self.service = service
  }

  convenience init(seed: Assisted<String>, service: Service) { self.init(id: seed.get(), service: service) }
}

private final class SpecialDetail: Detail, Bean {
  func postConstruct() { constructions += 1 }
}

private struct DetailTag: AssistedFactory {
  typealias Seed = String
  typealias Element = Detail
}

private struct Order {
  let number: Int
  let service: Service
  let limits: Limits
}

private struct OrderTag: AssistedFactory {
  typealias Seed = Int
  typealias Element = Order
}

private struct Values {
  let name: String
  let count: Int
  let service: Service?
}

private final class Holder {
  let service: Service
  init(service: Service) { self.service = service }
}

private final class Pair {
  let holder: Holder
  let service: Service

  init(holder: Holder, service: Service) {
    self.holder = holder
    self.service = service
  }
}

private final class List {
  let details: Factory<DetailTag>
  let perhaps: Factory<DetailTag>?
  let later: Provider<Factory<DetailTag>>
  let none: Factory<OrderTag>?

  init(
    details: Factory<DetailTag>, perhaps: Factory<DetailTag>?, later: Provider<Factory<DetailTag>>,
    none: Factory<OrderTag>?
  ) {
    self.details = details
    self.perhaps = perhaps
    self.later = later
    self.none = none
  }
}

private final class Node {
  let children: [Node]
  init(children: [Node]) { self.children = children }
  var count: Int { children.reduce(1) { $0 + $1.count } }
}

private final class Traced: Bean, DisposableBean, EnvironmentAware {
  let journal: Journal
  var environment: Environment? { didSet { journal.note("environment \(environment?.name ?? "")") } }

  init(_ journal: Journal) {
    self.journal = journal
    journal.note("init")
  }

  func postConstruct() { journal.note("postConstruct") }
  func preDestroy() { journal.note("preDestroy") }
}

private struct TracedTag: AssistedFactory {
  typealias Seed = Journal
  typealias Element = Traced
}

private final class Replacer: BeanPostProcessor, Initializable {
  init() {}
  func process(_ bean: AnyObject) -> AnyObject {
    guard let detail = bean as? Detail else { return bean }
    return detail.id == "wrong" ? detail.service : SpecialDetail(id: detail.id, service: detail.service)
  }
}
