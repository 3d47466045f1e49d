import Beans
import Testing

@Suite("Constructor injection") struct ConstructorInjectionSpecification {
  @FreshEnvironment private var environment

  @Test("A factory without parameters is called")
  func noParameters() throws {
    try environment.define(environment.bean(Pool.self, factory: Pool.init))
    #expect(try environment.getBean(Pool.self).size == 1)
  }

  @Test("Each parameter of the factory is resolved by its type: class, structure, protocol")
  func parameterTypes() throws {
    try environment.define(environment.bean(Client.self, factory: Client.init))
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(Limits(open: 5)))
    try environment.define(environment.bean(EnglishGreeter.self))
    let client = try environment.getBean(Client.self)
    #expect(try client.pool === environment.getBean(Pool.self))
    #expect(client.limits.open == 5)
    #expect(client.greeter.greeting == "hello")
  }

  @Test("A closure with parameters is a factory, too")
  func closure() throws {
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(Limits.self, factory: { (pool: Pool) in Limits(open: pool.size + 1) }))
    #expect(try environment.getBean(Limits.self).open == 2)
  }

  @Test("A property by key path with two sources is a fault")
  func severalSources() throws {
    try environment.define(
      environment.bean(Tunable.self, factory: { Tunable() }).property(\.size, ref: "one", resolve: "${one}"))
    try requireFault(.invalidDeclaration, description: "a property needs exactly one of ref and resolve") {
      try environment.startup()
    }
  }

  @Test("A closure may have more parameters than eight, and so may an initializer")
  func manyParameters() throws {
    try environment.define(environment.bean(Pool.self)).define(environment.bean(7))
    try environment.define(
      environment.bean(
        Limits.self,
        factory: { (a: Int, b: Int, c: Int, d: Int, e: Int, f: Int, g: Int, h: Int, i: Int, pool: Pool) in
          Limits(open: a + b + c + d + e + f + g + h + i + pool.size)
        }))
    try environment.define(environment.bean(Nine.self, factory: Nine.init))
    #expect(try environment.getBean(Limits.self).open == 9 * 7 + 1)
    #expect(try environment.getBean(Nine.self).sum == 9 * 7)
  }

  @Test("Two parameters of one type get the same bean")
  func repeatedType() throws {
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(Pair.self, factory: Pair.init))
    let pair = try environment.getBean(Pair.self)
    #expect(pair.first === pair.second)
  }

  @Test("A parameter without a bean is an unknown bean: the fault names owner, type, file and line")
  func unknownParameter() throws {
    try environment.define(environment.bean(Limits(open: 5)))
    try environment.define(environment.bean(EnglishGreeter.self))
    let (client, line) = (environment.bean(Client.self, id: "main", factory: Client.init), #line)
    try environment.define(client)
    try requireFault(.unknownBean, description: "Pool", "main", through: "Client", line: line) {
      try environment.startup()
    }
  }

  @Test("A parameter with two candidates is ambiguous")
  func ambiguousParameter() throws {
    try environment.define(environment.bean(Pool.self, id: "small"))
    try environment.define(environment.bean(Pool.self, id: "large"))
    try environment.define(environment.bean(Pair.self, factory: Pair.init))
    let faults = try startupFaults(of: environment)
    #expect(!faults.isEmpty)
    for fault in faults {
      #expect(fault.code == .ambiguousBean)
      #expect(fault.description.contains("Pool"))
      #expect(fault.description.contains("small") && fault.description.contains("large"))
    }
  }

  // MARK: T?

  @Test("T? is nil if there is no bean, and the bean if there is one")
  func optional() throws {
    let without = try Environment(name: "without")
    try without.define(without.bean(Tolerant.self, factory: Tolerant.init))
    #expect(try without.getBean(Tolerant.self).pool === nil)

    let with = try Environment(name: "with")
    try with.define(with.bean(Tolerant.self, factory: Tolerant.init))
    try with.define(with.bean(Pool.self))
    let tolerant = try with.getBean(Tolerant.self)
    #expect(try tolerant.pool === with.getBean(Pool.self))
  }

  @Test("T? orders construction like T: the bean is built before its user")
  func optionalOrder() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(Tolerant.self, factory: { (pool: Pool?) in journal.noting("user", Tolerant(pool: pool)) }))
    try environment.define(environment.bean(Pool.self, factory: { journal.noting("pool", Pool()) }))
    try environment.startup()
    #expect(journal.entries == ["pool", "user"])
  }

  @Test("T? with several candidates is ambiguous, not nil")
  func ambiguousOptional() throws {
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(Tolerant.self, factory: Tolerant.init))
    try requireFault(.ambiguousBean) { try environment.startup() }
  }

  // MARK: [T]

  @Test("[T] contains all beans of the type in order of definition, and is empty if there are none")
  func array() throws {
    try environment.define(environment.bean(Choir.self, factory: Choir.init))
    try environment.define(environment.bean(EnglishGreeter.self))
    try environment.define(environment.bean(FrenchGreeter.self))
    #expect(try environment.getBean(Choir.self).voices.map(\.greeting) == ["hello", "salut"])

    let silent = try Environment(name: "silent")
    try silent.define(silent.bean(Choir.self, factory: Choir.init))
    #expect(try silent.getBean(Choir.self).voices.isEmpty)
  }

  @Test("[T] begins with the nearest environment")
  func arrayThroughHierarchy() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(EnglishGreeter.self))
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Choir.self, factory: Choir.init))
    try child.define(child.bean(FrenchGreeter.self))
    #expect(try child.getBean(Choir.self).voices.map(\.greeting) == ["salut", "hello"])
  }

  @Test("A fault in one element of [T] is a fault of startup")
  func faultyElement() throws {
    try environment.define(environment.bean(Choir.self, factory: Choir.init))
    try environment.define(environment.bean(PooledGreeter.self, lazy: true, factory: PooledGreeter.init))
    try requireFault(.unknownBean, description: "Pool") { try environment.startup() }
  }

  // MARK: Environment

  @Test("Environment is the one in which the bean is being built")
  func environmentParameter() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.define(parent.bean(Located.self, id: "singleton", lazy: true, factory: Located.init))
    try parent.define(parent.bean(Located.self, id: "prototype", factory: Located.init).scope("prototype"))
    let child = try Environment(name: "child", parent: parent)
    #expect(try child.getBean(Located.self, byId: "singleton").environment === parent)
    #expect(try child.getBean(Located.self, byId: "prototype").environment === child)
    #expect(try parent.getBean(Located.self, byId: "prototype").environment === parent)
  }

  // MARK: pinned arguments

  @Test("argument(_:value:) pins a parameter to a value")
  func pinnedValue() throws {
    try environment.define(environment.bean(Limits.self, factory: Limits.init(open:)).argument(0, value: 12))
    #expect(try environment.getBean(Limits.self).open == 12)
  }

  @Test("argument(_:ref:) pins a parameter to the bean of an id, even if the type alone is ambiguous")
  func pinnedReference() throws {
    try environment.define(environment.bean(Pair.self, factory: Pair.init).argument(0, ref: "b").argument(1, ref: "a"))
    try environment.define(environment.bean(Pool.self, id: "a"))
    try environment.define(environment.bean(Pool.self, id: "b"))
    let pair = try environment.getBean(Pair.self)
    #expect(try pair.first === environment.getBean(Pool.self, byId: "b"))
    #expect(try pair.second === environment.getBean(Pool.self, byId: "a"))
  }

  @Test("Pinning one parameter leaves the others to their types")
  func pinnedAndResolved() throws {
    try environment.define(environment.bean(Client.self, factory: Client.init).argument(1, value: Limits(open: 9)))
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(FrenchGreeter.self))
    let client = try environment.getBean(Client.self)
    #expect(client.limits.open == 9)
    #expect(client.greeter.greeting == "salut")
  }

  @Test("A pinned value may be a subclass, or conform to the parameter's protocol")
  func pinnedConformingValue() throws {
    try environment.define(environment.bean(Pool.self))
    try environment.define(
      environment.bean(Client.self, factory: Client.init)
        .argument(1, value: Limits(open: 1)).argument(2, value: FrenchGreeter()))
    #expect(try environment.getBean(Client.self).greeter.greeting == "salut")
  }

  @Test("A pinned reference is a dependency: it is built first, and an unknown one is a fault")
  func unknownPinnedReference() throws {
    let (pair, line) = (environment.bean(Pair.self, factory: Pair.init).argument(1, ref: "nowhere"), #line)
    try environment.define(pair)
    try environment.define(environment.bean(Pool.self))
    try requireFault(.unknownBean, description: "nowhere", through: "Pair", line: line) { try environment.startup() }
  }

  @Test("A pinned reference to a bean of another type is a type mismatch")
  func mismatchedPinnedReference() throws {
    try environment.define(environment.bean(Pair.self, factory: Pair.init).argument(0, ref: "greeter"))
    try environment.define(environment.bean(Pool.self))
    try environment.define(environment.bean(EnglishGreeter.self, id: "greeter"))
    try requireFault(.typeMismatch, description: "EnglishGreeter", "Pool") { try environment.startup() }
  }

  @Test("A pinned value of a type without a conversion is a fault at startup, never a trap")
  func mismatchedPinnedValue() throws {
    try environment.define(environment.bean(Limits.self, factory: Limits.init(open:)).argument(0, value: Pool()))
    try requireFault(.noConversion, .typeMismatch, through: "Limits") { try environment.startup() }
  }

  @Test("An argument for a parameter that the factory does not have is an invalid declaration", arguments: [-1, 1, 99])
  func pinnedOutOfRange(index: Int) throws {
    try environment.define(environment.bean(Limits.self, factory: Limits.init(open:)).argument(index, value: 1))
    // If index 0 is not pinned, `Int` is unknown as well.
    let faults = try startupFaults(of: environment)
    #expect(faults.contains { $0.code == .invalidDeclaration && $0.description.contains("\(index)") }, "\(faults)")
  }

  // MARK: the same types in getBean

  @Test("A bean of getBean can also be looked up as T?, [T], Provider<T> and Environment")
  func lookupsOfTheSameTypes() throws {
    try environment.define(environment.bean(Pool.self))
    let pool = try environment.getBean(Pool.self)
    #expect(try environment.getBean(Pool?.self) === pool)
    #expect(try environment.getBean(FrenchGreeter?.self) === nil)
    let pools = try environment.getBean([Pool].self)
    #expect(pools.count == 1 && pools.first === pool)
    #expect(try environment.getBean([FrenchGreeter].self).isEmpty)
    #expect(try environment.getBean(Provider<Pool>.self).get() === pool)
    #expect(try environment.getBean(Environment.self) === environment)
  }
}

private protocol Greeter { var greeting: String { get } }

private final class EnglishGreeter: Greeter, Initializable {
  let greeting = "hello"
  init() {}
}

private final class FrenchGreeter: Greeter, Initializable {
  let greeting = "salut"
  init() {}
}

private final class PooledGreeter: Greeter {
  let greeting = "pooled"
  let pool: Pool
  init(pool: Pool) { self.pool = pool }
}

private final class Pool: Initializable {
  let size = 1
  init() {}
}

private struct Limits { let open: Int }

private final class Client {
  let pool: Pool
  let limits: Limits
  let greeter: any Greeter
  init(pool: Pool, limits: Limits, greeter: any Greeter) {
    self.pool = pool
    self.limits = limits
    self.greeter = greeter
  }
}

private final class Pair {
  let first: Pool
  let second: Pool
  init(first: Pool, second: Pool) {
    self.first = first
    self.second = second
  }
}

private final class Tolerant {
  let pool: Pool?
  init(pool: Pool?) { self.pool = pool }
}

private final class Choir {
  let voices: [any Greeter]
  init(voices: [any Greeter]) { self.voices = voices }
}

private final class Located {
  let environment: Environment
  init(environment: Environment) { self.environment = environment }
}

private final class Tunable: Sendable {
  nonisolated(unsafe) var size = 0  // never set: its declaration is a fault
}

private struct Nine {
  let a, b, c, d, e, f, g, h, i: Int
  var sum: Int { a + b + c + d + e + f + g + h + i }
}
