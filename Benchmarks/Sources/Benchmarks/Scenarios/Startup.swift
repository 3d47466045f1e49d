import Beans

/// Declaring an application, validating it and building every singleton, beside the same objects by hand. The end of
/// the application is not measured.
struct Startup {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(
      scenario: "startup", title: "1,000 to 100,000 declarations",
      operation: "declare all, validate, build every singleton")
    let first = try firstStartup()
    try check()
    for count in [1000, 10_000, 100_000] {
      let layers = Layers(count: count)
      let stopwatch = Stopwatch()
      table.rows += try contest(
        count,
        [
          Contestant("\(count) by id: hand-written") { times in
            for _ in 0..<times { drop(stopwatch.time { layers.build() }) }
          },
          Self.contestant("\(count) by id: Beans", stopwatch, layers.declare),
          Contestant("\(count) by id: Beans, startup() alone") { times in
            for _ in 0..<times { try start(stopwatch, declaredBefore: layers.declare) }
          },
        ], stopwatch
      ).rows()
    }
    let stopwatch = Stopwatch()
    table.rows += try contest(
      1000,
      [
        Contestant("1000 by type: hand-written") { times in
          for _ in 0..<times { drop(stopwatch.time { Parts.build() }) }
        },
        Self.contestant("1000 by type: Beans", stopwatch, Parts.declare),
      ], stopwatch
    ).rows()
    let small = table.row("1000 by id: Beans")?.nanoseconds.median ?? .nan
    let large = table.row("100000 by id: Beans")?.nanoseconds.median ?? .nan
    table.facts.append(
      Table.Fact(name: "per declaration, 100,000 against 1,000", value: large / 100 / small, unit: "times"))
    table.facts.append(Table.Fact(name: "first startup of 1,000 types in this process", value: first, unit: "ms"))
    return table
  }

  /// In milliseconds: once per process, before anything else has touched those types.
  private func firstStartup() throws -> Double {
    let stopwatch = Stopwatch()
    try Self.start(stopwatch, Parts.declare)
    return stopwatch.total / 1e6
  }

  private func contest(_ count: Int, _ contestants: [Contestant], _ stopwatch: Stopwatch) -> Contest {
    Contest(
      settings: settings, contestants: contestants, operations: max(1, settings.operations(20_000) / count),
      clock: { stopwatch.total }, counted: 1)
  }

  /// For a profiler: one operation is an application of so many declarations, without its end.
  static func container(_ count: Int) -> Contestant {
    let layers = Layers(count: count)
    return Contestant("startup") { times in
      for _ in 0..<times {
        let environment = try Environment(name: "application")
        try layers.declare(in: environment)
        try environment.startup()
        keep(environment)
      }
    }
  }

  private static func contestant(
    _ name: String, _ stopwatch: Stopwatch, _ declare: @escaping (Environment) throws -> Void
  ) -> Contestant {
    Contestant(name) { times in for _ in 0..<times { try start(stopwatch, declare) } }
  }

  private static func start(_ stopwatch: Stopwatch, _ declare: (Environment) throws -> Void) throws {
    let environment = try stopwatch.time {
      let environment = try Environment(name: "application")
      try declare(environment)
      try environment.startup()
      return environment
    }
    try environment.shutdown()
  }

  private func start(_ stopwatch: Stopwatch, declaredBefore declare: (Environment) throws -> Void) throws {
    let environment = try Environment(name: "application")
    try declare(environment)
    try stopwatch.time { _ = try environment.startup() }
    try environment.shutdown()
  }

  /// The objects are used, and their end is not measured.
  @inline(never)
  private func drop<Built>(_ built: Built) { withExtendedLifetime(built) {} }

  private func check() throws {
    let layers = Layers(count: 1000)
    let byHand = layers.build()
    let environment = try Environment(name: "application")
    try layers.declare(in: environment)
    try environment.startup()
    try SelfCheck.expect(environment.statistics().first?.created == 1000, "the container did not build 1000 beans")
    try SelfCheck.expect(byHand.layer3.count == 250 && byHand.layer0.count == 250, "not 1000 objects by hand")
    for number in 0..<layers.width {
      let bean = try environment.getBean(Layer3.self, byId: layers.ids[3][number])
      let below = try environment.getBean(Layer2.self, byId: layers.ids[2][layers.choice(number, 2)])
      try SelfCheck.expect(bean.below === below, "a bean depends on another one than asked for")
      try SelfCheck.expect(
        byHand.layer3[number].below === byHand.layer2[layers.choice(number, 2)],
        "hand-written objects are wired wrongly")
    }
    try environment.shutdown()
    let parts = try Environment(name: "application")
    try Parts.declare(in: parts)
    try parts.startup()
    try SelfCheck.expect(parts.statistics().first?.created == Parts.build().count, "not as many parts on both sides")
    let first = try parts.getBean(Part<Digit0, Digit3, Digit7>.self)
    try SelfCheck.expect(
      try parts.getBean(Part<Digit1, Digit3, Digit7>.self) === first.next, "a part depends on another one")
    try parts.shutdown()
  }
}
