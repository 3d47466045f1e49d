import Beans
import TestSupport
import Testing

@Suite("Factories of products, again and again", .timeLimit(.minutes(20)))
struct RepeatedProductSpecification {
  private static func environment(
    _ declare: (Environment) throws -> BeanDeclaration
  ) throws -> Environment {
    let environment = try Environment()
    try environment.define(environment.bean(Service.self)).define(declare(environment))
    return environment
  }

  @Test("A prototype that products take is new for each product")
  func prototypesAreNotKept() throws {
    let environment = try Self.environment {
      $0.bindFactory(Product.self).with(ProductTag.self).to { (seed: Assisted<Int>, all: [any Numbered]) in
        Product(number: seed.get() + all.count, service: Service())
      }
    }
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Numeral.self).scope("prototype"))
    let factory = try environment.getBean(Factory<ProductTag>.self)
    for number in 0..<3 { #expect(try factory.build(number).number == number + 1) }
  }

  @Test("A product behind a protocol, one with callbacks and one that is processed are completed each time")
  func productsThatHaveToBeInspectedTakeTheGeneralPath() throws {
    let existential = try Self.environment { $0.bindFactory((any Numbered).self).to { Numeral() as any Numbered } }
    defer { try? existential.shutdown() }
    let numbers = try existential.getBean(Factory<EmptySeed<any Numbered>>.self)
    for _ in 0..<2 { #expect(try numbers.build() is Numeral) }

    let aware = try Self.environment { $0.bindFactory(Settling.self).to { Settling() } }
    defer { try? aware.shutdown() }
    let settling = try aware.getBean(Factory<EmptySeed<Settling>>.self)
    for _ in 0..<2 { #expect(try settling.build().constructions == 1) }

    let processed = try Self.environment {
      $0.bindFactory(Product.self).with(ProductTag.self).to(factory: Product.init(service:seed:))
    }
    defer { try? processed.shutdown() }
    let seen = Counter()
    try processed.define(
      processed.bean(Inspector.self, factory: { Inspector { if $0 is Product { seen.increment() } } }))
    let products = try processed.getBean(Factory<ProductTag>.self)
    for number in 1...2 { #expect(try products.build(number).number == number) }
    #expect(seen.value == 2)
  }

  @Test("Every kind of parameter is passed to each product, and none leaks")
  func everyKindOfArgumentIsKeptAndReleased() throws {
    let counters = Tracked.Counters()
    do {
      let environment = try Environment()
      try environment.define(environment.bean(Tracked.self, lazy: true, factory: { Tracked(counters) }))
      try environment.define(environment.bean(7))
      try environment.define(
        environment.bindFactory(Product.self).with(ProductTag.self).to {
          (
            one: Tracked, perhaps: Tracked?, all: [Tracked], none: Service?, number: Int, perhapsNumber: Int?,
            later: Provider<Tracked>, home: Environment, seed: Assisted<Int>, fixed: String
          ) in
          let provided = try later.get()
          #expect(one === perhaps && one === all[0] && one === provided && none == nil)
          #expect(number == 7 && perhapsNumber == 7 && fixed == "fixed" && home.name == "environment")
          return Product(number: seed.get(), service: Service())
        }
        .argument(9, value: "fixed"))
      let factory = try environment.getBean(Factory<ProductTag>.self)
      for number in 0..<4 { #expect(try factory.build(number).number == number) }
      try environment.shutdown() as Void
      #expect(counters.destroyed.value == 1)
      withExtendedLifetime(factory) {}
    }
    #expect(counters.built.value == 1 && counters.died.value == 1)
  }

  @Test("A product of a subclass has its own callbacks each time")
  func aSubclassIsCompletedOnTheFastPath() throws {
    let environment = try Self.environment { $0.bindFactory(Numeral.self).to { Settling() as Numeral } }
    defer { try? environment.shutdown() }
    let factory = try environment.getBean(Factory<EmptySeed<Numeral>>.self)
    for _ in 0..<3 { #expect(try (factory.build() as? Settling)?.constructions == 1) }
  }

  @Test("First builds may race: each product is created from the one bean")
  func firstBuildsRace() throws {
    for _ in 0..<200 {
      let counters = Tracked.Counters()
      do {
        let environment = try Environment()
        try environment.define(environment.bean(Tracked.self, lazy: true, factory: { Tracked(counters) }))
        try environment.define(
          environment.bindFactory(Holder.self).with(HolderTag.self).to { (tracked: Tracked, seed: Assisted<Int>) in
            Holder(tracked: tracked, number: seed.get())
          })
        // A thread may keep the captures of its closure, here the environment, for a moment after its end.
        let sums = try onThreads(4) { number in
          let factory = try environment.getBean(Factory<HolderTag>.self)
          return try (0..<10).reduce(0) { sum, _ in sum + (try factory.build(number).number) }
        }
        #expect(sums == [0, 10, 20, 30])
        try environment.shutdown() as Void
      }
      #expect(counters.built.value == 1 && counters.died.value == 1)
    }
  }

  @Test("A build that races the end is refused, or creates a product of intact beans")
  func buildsRaceTheEnd() throws {
    for _ in 0..<200 {
      let counters = Tracked.Counters()
      do {
        let environment = try Environment()
        try environment.define(environment.bean(Tracked.self, factory: { Tracked(counters) }))
        try environment.define(
          environment.bindFactory(Holder.self).with(HolderTag.self).to { (tracked: Tracked, seed: Assisted<Int>) in
            Holder(tracked: tracked, number: seed.get())
          })
        let factory = try environment.getBean(Factory<HolderTag>.self)
        let wrong = try onThreads(3) { number -> Int in
          if number == 0 {
            _ = try factory.build(0)
            try environment.shutdown() as Void
            return 0
          }
          var (built, wrong) = (0, 0)
          while true {
            do {
              if try factory.build(built).number != built { wrong += 1 }
              built += 1
            } catch let error as EnvironmentError where error.code == .finished {
              return wrong
            }
          }
        }
        #expect(wrong == [0, 0, 0])
      }
      #expect(counters.built.value == 1 && counters.destroyed.value == 1)
    }
  }
}

private final class Service: Initializable { init() {} }

private final class Product {
  let number: Int
  let service: Service

  init(number: Int, service: Service) {
    self.number = number
    self.service = service
  }

  convenience init(service: Service, seed: Assisted<Int>) { self.init(number: seed.get(), service: service) }
}

private struct ProductTag: AssistedFactory {
  typealias Seed = Int
  typealias Element = Product
}

private struct Holder {
  let tracked: Tracked
  let number: Int
}

private struct HolderTag: AssistedFactory {
  typealias Seed = Int
  typealias Element = Holder
}

private protocol Numbered {}

private class Numeral: Initializable, Numbered { required init() {} }

private final class Settling: Numeral, Bean {
  var constructions = 0
  func postConstruct() { constructions += 1 }
}

/// Counts products.
