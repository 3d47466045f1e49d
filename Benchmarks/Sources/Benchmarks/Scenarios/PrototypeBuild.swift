import Beans

/// A prototype with three dependencies, beside its constructor called with the same three objects.
struct PrototypeBuild {
  let settings: Settings

  func measure() throws -> Table {
    let prototypes = try Prototypes()
    try Self.check(prototypes)
    var table = Table(
      scenario: "prototype", title: "3 dependencies", operation: "build one, use it, drop it")
    table.rows = try Contest(
      settings: settings, contestants: [Self.constructor(prototypes), Self.container(prototypes)],
      operations: settings.operations(300_000), held: settings.held
    ).rows()
    return table
  }

  private static func constructor(_ prototypes: Prototypes) -> Contestant {
    let fields = prototypes.fields
    return Contestant("hand-written: the constructor") { count in
      for _ in 0..<count { useHeld(P3(fields.s4, fields.s5, fields.s6)) }
    } hold: { count, held in
      RequestContestants.hold(count, held) { P3(fields.s4, fields.s5, fields.s6) }
    }
  }

  static func container(_ prototypes: Prototypes) -> Contestant {
    let environment = prototypes.environment
    return Contestant("getBean, scope prototype") { count in
      for _ in 0..<count { useHeld(try environment.getBean(P3.self)) }
    } hold: { count, held in
      var made: [P3] = []
      made.reserveCapacity(count)
      for _ in 0..<count { made.append(try environment.getBean(P3.self)) }
      held()
      withExtendedLifetime(made) {}
    }
  }

  private static func check(_ prototypes: Prototypes) throws {
    let fields = prototypes.fields
    let first = try prototypes.environment.getBean(P3.self)
    let second = try prototypes.environment.getBean(P3.self)
    try SelfCheck.expect(first !== second, "the container built one instance for two lookups")
    try SelfCheck.expect(
      first.s4 === fields.s4 && first.s5 === fields.s5 && first.s6 === fields.s6, "the prototype is wired wrongly")
  }
}

/// An application with a prototype, and its dependencies in fields.
struct Prototypes {
  let environment: Environment
  let fields: Fields

  init() throws {
    environment = try Environment(name: "application")
    try ContainerApplication<Void>.declareSingletons(in: environment)
    try environment.define(environment.bean(P3.self, factory: P3.init).scope("prototype"))
    fields = try Fields(environment)
  }
}

/// The prototype.
final class P3: Sendable {
  let s4: S4
  let s5: S5
  let s6: S6

  init(_ s4: S4, _ s5: S5, _ s6: S6) {
    self.s4 = s4
    self.s5 = s5
    self.s6 = s6
  }
}
