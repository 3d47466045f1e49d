import Beans

/// A child environment with one bean, for the time of a closure or until it is ended, beside a context object.
struct Children {
  let settings: Settings

  func measure() throws -> Table {
    try Self.check()
    var table = Table(
      scenario: "children", title: "a child for the time of a closure",
      operation: "open a child, build its one bean, end the child", clock: "processor (in a task: wall)")
    let operations = settings.operations(100_000)
    table.rows = try Contest(
      settings: settings, contestants: [Self.byHand(), try Self.child()], operations: operations
    ).rows()
    for contestants in [
      [Self.asyncByHand(), try Self.asyncChild()],
      [Self.closedByHand(), try Self.finish(), try Self.shutdown()],
    ] {
      table.rows += try Contest(
        settings: settings, contestants: contestants, operations: operations, clock: { WallClock.nanoseconds }
      ).rows()
    }
    return table
  }

  private static func visits() throws -> EnvironmentFactory<RequestSeed> {
    let environment = try Environment(name: "application")
    let visits = try environment.childFactory("visit", seed: RequestSeed.self) { child in
      try child.define(child.bean(Visit.self, factory: Visit.init))
    }
    try environment.startup()
    keep(environment)
    return visits
  }

  static func byHand() -> Contestant {
    let seed = RequestSeed(number: 1)
    return Contestant("hand-written: a task-local context") { count in
      for _ in 0..<count {
        let context = VisitContext(seed)
        VisitContext.$current.withValue(context) { use(context.visit) }
      }
    }
  }

  static func child() throws -> Contestant {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    return Contestant("withChild") { count in
      for _ in 0..<count { try visits.withChild(seed) { use(try $0.getBean(Visit.self)) } }
    }
  }

  static func asyncByHand() -> Contestant {
    let seed = RequestSeed(number: 1)
    return Contestant("in a task, hand-written: a task-local context") { count in
      try blocking {
        for _ in 0..<count {
          let context = VisitContext(seed)
          await VisitContext.$current.withValue(context) {
            await nothing()
            use(context.visit)
          }
        }
      }
    }
  }

  static func asyncChild() throws -> Contestant {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    return Contestant("in a task, withChild") { count in
      try blocking {
        for _ in 0..<count {
          try await visits.withChild(seed) { child in
            await nothing()
            use(try child.getBean(Visit.self))
          }
        }
      }
    }
  }

  private static func closedByHand() -> Contestant {
    let seed = RequestSeed(number: 1)
    return Contestant("in a task, hand-written: await close()") { count in
      try blocking {
        for _ in 0..<count {
          let context = VisitContext(seed)
          use(context.visit)
          await context.close()
        }
      }
    }
  }

  static func finish() throws -> Contestant {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    return Contestant("in a task, finish()") { count in
      try blocking {
        for _ in 0..<count {
          let child = try visits.build(seed)
          use(try child.getBean(Visit.self))
          child.finish()
        }
      }
    }
  }

  static func shutdown() throws -> Contestant {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    return Contestant("in a task, await shutdown()") { count in
      try blocking {
        for _ in 0..<count {
          let child = try visits.build(seed)
          use(try child.getBean(Visit.self))
          try await child.shutdown()
        }
      }
    }
  }

  /// An asynchronous call that does not suspend.
  private static func nothing() async {}

  private static func check() throws {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    try visits.withChild(seed) { child in
      try SelfCheck.expect(try child.getBean(Visit.self).seed === seed, "the bean of a child has another seed")
    }
    try SelfCheck.expect(VisitContext(seed).visit.seed === seed, "the object of a context has another seed")
  }
}
