import Beans
import Testing

private final class Clock: Initializable, Sendable {}

private final class Bureau: Sendable {
  let clock: Clock
  init(clock: Clock) { self.clock = clock }
}

private final class Clockmaker: Initializable, FactoryBean, Sendable {
  func create() throws -> Clock { Clock() }
}

@Suite("Aliases of a module") struct ModuleAliasSpecification {
  /// Returns an environment with the active profile 'test' and no other declarations.
  private func makeEnvironment() throws -> Environment {
    let environment = try Environment(name: "shop")
    return try environment.define(environment.settings().setValue(key: "beans.profiles", value: "test"))
  }

  /// A module with a clock that has two ids.
  private let clocks = Adhoc { environment in
    try environment.define(environment.bean(Clock.self, id: "clock")).alias("watch", of: "clock")
  }

  /// Returns a module with a private clock that has a second id.
  private func privateClock(_ more: @escaping (Environment) throws -> Void = { _ in }) -> Adhoc {
    Adhoc { environment in
      try environment.define(environment.bean(Clock.self, id: "clock").private()).alias("watch", of: "clock")
      try more(environment)
    }
  }

  @Test("An alias is active if its module is")
  func inactive() throws {
    let environment = try makeEnvironment().include(clocks.profile("production"))
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Clock.self, id: "watch"))
    #expect(try environment.getBean(Clock.self) === environment.getBean(Clock.self, byId: "watch"))
  }

  @Test("An alias of a fallback module is active if that module is")
  func standIn() throws {
    for isMissing in [true, false] {
      let environment = try makeEnvironment().include(clocks.whenMissing(Clock.self))
      defer { try? environment.shutdown() }
      if !isMissing { try environment.define(environment.bean(Clock.self, id: "hour")) }
      let clock = try environment.getBean(Clock.self)
      #expect(try environment.getBean(Clock.self, byId: isMissing ? "clock" : "hour") === clock)
      #expect(code { try environment.getBean(Clock.self, byId: "watch") } == (isMissing ? nil : .unknownBean))
    }
  }

  @Test("A fault that an inactive alias would have prevented names it")
  func hint() throws {
    let environment = try makeEnvironment().include(clocks.profile("production"))
    try environment.define(environment.bean(Bureau.self, factory: Bureau.init).argument(0, ref: "watch"))
    let fault = try requireFault(.unknownBean, message: "an alias 'watch' is declared at") { try environment.startup() }
    #expect(fault.message.contains("but inactive: module Adhoc is: profile 'production' is not active"), "\(fault)")
  }

  @Test("An alias names a private bean of its module")
  func privateTarget() throws {
    let environment = try makeEnvironment().include(
      privateClock { environment in
        try environment
          .alias("hour", of: "watch")
          .define(environment.bean(Bureau.self, id: "one", factory: Bureau.init).argument(0, ref: "watch"))
          .define(environment.bean(Bureau.self, id: "two", factory: Bureau.init).argument(0, ref: "hour"))
      })
    defer { try? environment.shutdown() }
    let clock = try environment.getBean(Bureau.self, byId: "one").clock
    #expect(try environment.getBean(Bureau.self, byId: "two").clock === clock)
  }

  @Test("An alias of a private bean is private, too: it is not found outside, and the id is free")
  func privateAlias() throws {
    let environment = try makeEnvironment().include(privateClock())
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Clock.self, id: "day")).alias("watch", of: "day")
    #expect(try environment.getBean(Clock.self, byId: "watch") === environment.getBean(Clock.self, byId: "day"))
    let other = try makeEnvironment().include(privateClock())
    try requireFault(.unknownBean) { try other.getBean(Clock.self, byId: "watch") }
    let third = try makeEnvironment().include(privateClock())
    try third.alias("hour", of: "watch")
    let fault = try requireFault(.unknownBean) { try third.startup() }
    #expect(fault.message.contains("'watch'") && !fault.message.contains("\u{0}"), "\(fault)")
  }

  @Test("A factory behind a private product has an alias, too")
  func factory() throws {
    let makers = Guarded<[Clockmaker]>([])
    let environment = try makeEnvironment().include(
      Adhoc { environment in
        try environment
          .define(environment.bean(Clockmaker.self, id: "clock").target(Clock.self).private())
          .alias("watch", of: "clock")
          .alias("maker", of: "&clock")
          .define(
            environment.bean(Bureau.self) { (clock: Clock, one: Clockmaker, two: Clockmaker) in
              makers.withLock { $0 = [one, two] }
              return Bureau(clock: clock)
            }.argument(0, ref: "watch").argument(1, ref: "&watch").argument(2, ref: "maker"))
      })
    defer { try? environment.shutdown() }
    _ = try environment.getBean(Bureau.self)
    #expect(makers.withLock { $0.count == 2 && $0[0] === $0[1] })
  }

  @Test("The children of a module's factories may give another id to the module's private beans")
  func children() throws {
    let environment = try makeEnvironment()
    defer { try? environment.shutdown() }
    let requests = Guarded<EnvironmentFactory<Int>?>(nil)
    try environment.include(
      privateClock { environment in
        let factory = try environment.childFactory("request", seed: Int.self) { request in
          try request
            .alias("hour", of: "clock")
            .alias("minute", of: "watch")
            .define(request.bean(Bureau.self, id: "one", factory: Bureau.init).argument(0, ref: "hour"))
            .define(request.bean(Bureau.self, id: "two", factory: Bureau.init).argument(0, ref: "minute"))
        }
        requests.withLock { $0 = factory }
      })
    let request = try #require(requests.withLock { $0 }).build(1)
    let clock = try request.getBean(Bureau.self, byId: "one").clock
    #expect(try request.getBean(Bureau.self, byId: "two").clock === clock)
    try requireFault(.unknownBean) { try request.getBean(Clock.self, byId: "hour") }
  }

  @Test("A private template may have an alias")
  func template() throws {
    let environment = try makeEnvironment().include(
      Adhoc { environment in
        try environment
          .define(environment.template("base").lazy().private())
          .alias("basis", of: "base")
          .define(environment.bean(Clock.self, id: "clock", parent: "basis"))
      })
    defer { try? environment.shutdown() }
    #expect(try environment.startup().report().contains("Clock \"clock\" lazy: true\n"))
  }

  @Test("Immediate registrations and settings do not depend on the conditions of a module")
  func immediate() throws {
    final class Shift: AbstractBeanScope, @unchecked Sendable {}  // adds nothing to it
    let environment = try makeEnvironment().include(
      Adhoc { environment in
        try environment
          .registerScope(Shift(name: "shift"))
          .define(environment.settings().setValue(key: "rate", value: 3))
      }.profile("production"))
    defer { try? environment.shutdown() }
    try environment.define(environment.bean(Clock.self).scope("shift"))
    #expect(try environment.getBean(Clock.self) === environment.getBean(Clock.self))
    #expect(try environment.getConfigurationValue(Int.self, key: "rate") == 3)
  }
}
