import Beans
import Dispatch

/// Single features, each with a request or a lookup of its own: children for the time of a closure, deep hierarchies,
/// wide requests, events, kept beans, wrappers, asynchronous creation.
struct Features {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(scenario: "features", title: "single features", operation: "see the name of the row")
    for group in try Self.groups() {
      table.rows += try Contest(
        settings: settings, contestants: group.contestants, operations: settings.operations(group.operations),
        clock: group.isAsynchronous ? { Double(DispatchTime.now().uptimeNanoseconds) } : { ThreadClock.nanoseconds },
        counted: group.isAsynchronous ? 0 : 1000
      ).rows()
    }
    return table
  }

  private struct Group {
    let contestants: [Contestant]
    var operations = 100_000
    var isAsynchronous = false
  }

  private static func groups() throws -> [Group] {
    [
      Group(contestants: [childByHand(), try child()]),
      Group(contestants: [asyncChildByHand(), try asyncChild()], isAsynchronous: true),
      Group(contestants: [try finish(), try shutdown()], isAsynchronous: true),
      Group(contestants: try [1, 4, 16, 64].map { try singleton(depth: $0) }),
      Group(contestants: try [1, 4, 16, 64].map { try outermost(depth: $0) }),
      Group(contestants: [try wide(63)], operations: 1_000),
      Group(contestants: [try wide(511)], operations: 200),
      Group(contestants: [try wide(4095)], operations: 20),
      Group(contestants: try [0, 1, 10, 100].map { try event(listeners: $0) }, operations: 10_000),
      Group(contestants: [try kept()]),
      Group(contestants: try Taking.allCases.map { try two($0) }),
    ]
  }

  // MARK: children for the time of a closure

  static func childByHand() -> Contestant {
    let seed = RequestSeed(number: 1)
    return Contestant("hand-written: a context for the time of a closure") { count in
      for _ in 0..<count {
        let context = VisitContext(seed)
        VisitContext.$current.withValue(context) { use(context.visit) }
      }
    }
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

  static func child() throws -> Contestant {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    return Contestant("withChild, one bean") { count in
      for _ in 0..<count { try visits.withChild(seed) { use(try $0.getBean(Visit.self)) } }
    }
  }

  static func asyncChildByHand() -> Contestant {
    let seed = RequestSeed(number: 1)
    return Contestant("hand-written: a context for the time of an async closure") { count in
      try blocking {
        for _ in 0..<count {
          let context = VisitContext(seed)
          await VisitContext.$current.withValue(context) {
            await Self.nothing()
            use(context.visit)
          }
        }
      }
    }
  }

  static func asyncChild() throws -> Contestant {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    return Contestant("withChild, async, one bean") { count in
      try blocking {
        for _ in 0..<count {
          try await visits.withChild(seed) { child in
            await Self.nothing()
            use(try child.getBean(Visit.self))
          }
        }
      }
    }
  }

  static func finish() throws -> Contestant {
    let (visits, seed) = (try visits(), RequestSeed(number: 1))
    return Contestant("finish(), one bean, in a task") { count in
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
    return Contestant("await shutdown(), one bean") { count in
      try blocking {
        for _ in 0..<count {
          let child = try visits.build(seed)
          use(try child.getBean(Visit.self))
          try await child.shutdown()
        }
      }
    }
  }

  private static func nothing() async {}

  /// Runs `body` in a task, and waits for it.
  private static func blocking(_ body: @escaping @Sendable () async throws -> Void) throws {
    let (done, result) = (DispatchSemaphore(value: 0), Outcome())
    Task.detached {
      do { try await body() } catch { result.error = error }
      done.signal()
    }
    done.wait()
    if let error = result.error { throw error }
  }

  private final class Outcome: @unchecked Sendable {  // written before the semaphore is signalled, read afterwards
    var error: (any Error)?
  }

  // MARK: deep hierarchies

  /// The innermost of `depth` children, the outermost one of which has a bean of its own.
  private static func innermost(_ depth: Int) throws -> Environment {
    let environment = try Environment(name: "application")
    try environment.define(environment.bean(S0.self, factory: S0.init))
    var factory = try environment.childFactory("level 1", seed: RequestSeed.self) { child in
      try child.define(child.bean(Visit.self, factory: Visit.init))
    }
    var factories = [factory]
    for level in 1..<depth {
      factory = try factory.childFactory("level \(level + 1)", seed: RequestSeed.self)
      factories.append(factory)
    }
    let seed = RequestSeed(number: 1)
    var innermost = try factories[0].build(seed)
    for factory in factories.dropFirst() { innermost = try factory.build(seed, in: innermost) }
    keep(innermost)
    return innermost
  }

  static func singleton(depth: Int) throws -> Contestant {
    let innermost = try innermost(depth)
    return Contestant("getBean of a singleton, \(depth) levels below") { count in
      for _ in 0..<count { useHeld(try innermost.getBean(S0.self)) }
    }
  }

  static func outermost(depth: Int) throws -> Contestant {
    let innermost = try innermost(depth)
    return Contestant("getBean of the outermost child's bean, from level \(depth)") { count in
      for _ in 0..<count { useHeld(try innermost.getBean(Visit.self)) }
    }
  }

  // MARK: wide requests

  static func wide(_ size: Int) throws -> Contestant {
    let environment = try Environment(name: "application")
    let requests = try environment.childFactory("request", seed: RequestSeed.self) { child in
      for number in 0..<size {
        let declaration =
          2 * number + 2 < size
          ? child.bean(Branch.self, id: "\(number)", factory: { (left: Branch, right: Branch) in Branch(left, right) })
            .argument(0, ref: "\(2 * number + 1)").argument(1, ref: "\(2 * number + 2)")
          : child.bean(Branch.self, id: "\(number)", factory: { Branch(nil, nil) })
        try child.define(declaration)
      }
    }
    try environment.startup()
    let seed = RequestSeed(number: 1)
    return Contestant("a request of \(size) beans") { count in
      for _ in 0..<count {
        let child = try requests.build(seed)
        use(try child.getBean(Branch.self, byId: "0"))
        child.finish()
      }
    }
  }

  // MARK: events

  static func event(listeners: Int) throws -> Contestant {
    let environment = try Environment(name: "application")
    for number in 0..<listeners {
      try environment.define(environment.bean(Counter.self, id: "\(number)", factory: { Counter() }))
    }
    try environment.startup()
    return Contestant("publish, \(listeners) listeners") { count in
      for number in 0..<count { try environment.publish(Placed(number: number)) }
    }
  }

  // MARK: kept beans

  static func kept() throws -> Contestant {
    let environment = try Environment(name: "application")
    try environment.registerScope(AbstractBeanScope(name: "kept"))
    try environment.define(environment.bean(Plain.self, factory: { Plain() }).scope("kept"))
    try environment.startup()
    return Contestant("getBean of a registered scope's bean") { count in
      for _ in 0..<count { useHeld(try environment.getBean(Plain.self)) }
    }
  }

  // MARK: two beans

  /// The ways in which the second of two beans takes the first.
  enum Taking: String, CaseIterable {
    case plain, qualifier, decorator, lazy, array
  }

  static func two(_ taking: Taking) throws -> Contestant {
    let environment = try Environment(name: "application")
    let requests = try environment.childFactory("request", seed: RequestSeed.self) { child in
      switch taking {
      case .plain:
        try child.define(child.bean(Plain.self, factory: { Plain() }))
        try child.define(child.bean(Taker.self, factory: { (ware: Plain) in Taker(ware) }))
      case .qualifier:
        try child.define(child.bean(Plain.self, factory: { Plain() }).qualifier(Best.self))
        try child.define(child.bean(Taker.self, factory: { (ware: Qualified<Best, Plain>) in Taker(ware.value) }))
      case .decorator:
        try child.define(child.bean(Plain.self, factory: { Plain() }))
        try child.define(child.decorate((any Ware).self, factory: { (inner: any Ware) in Wrapped(inner) }))
        try child.define(child.bean(Taker.self, factory: { (ware: any Ware) in Taker(ware) }))
      case .lazy:
        try child.define(child.bean(Plain.self, factory: { Plain() }))
        try child.define(child.bean(Taker.self, factory: { (ware: Lazy<Plain>) in Taker(try ware.get()) }))
      case .array:
        try child.define(child.bean(Plain.self, factory: { Plain() }))
        try child.define(child.bean(Taker.self, factory: { (wares: [Plain]) in Taker(wares[0]) }))
      }
    }
    try environment.startup()
    let seed = RequestSeed(number: 1)
    return Contestant("a request of two beans: \(taking.rawValue)") { count in
      for _ in 0..<count {
        let child = try requests.build(seed)
        use(try child.getBean(Taker.self))
        child.finish()
      }
    }
  }

  // MARK: asynchronous creation

  /// `ready()` of beans in a chain: each has to be awaited, and needs the one before it.
  static func chain(_ length: Int) -> Contestant {
    Contestant("ready(), a chain of \(length)") { count in
      for _ in 0..<count {
        try ready { environment in
          try environment.define(environment.bean(Awaited.self, id: "0", async: { () in Awaited([]) }))
          for number in 1..<length {
            try environment.define(
              environment.bean(Awaited.self, id: "\(number)", async: { (part: Awaited) in Awaited([part]) })
                .argument(0, ref: "\(number - 1)"))
          }
        }
      }
    }
  }

  /// `ready()` of beans in a tree: each has to be awaited, and needs two others.
  static func tree(_ size: Int) -> Contestant {
    Contestant("ready(), a tree of \(size)") { count in
      for _ in 0..<count {
        try ready { environment in
          for number in 0..<size {
            let (left, right) = (2 * number + 1, 2 * number + 2)
            if right < size {
              try environment.define(
                environment.bean(
                  Awaited.self, id: "\(number)",
                  async: { (left: Awaited, right: Awaited) in
                    Awaited([left, right])
                  }
                ).argument(0, ref: "\(left)").argument(1, ref: "\(right)"))
            } else {
              try environment.define(
                environment.bean(Awaited.self, id: "\(number)", async: { () in Awaited([]) }))
            }
          }
        }
      }
    }
  }

  private static func ready(_ declare: (Environment) throws -> Void) throws {
    let environment = try Environment(name: "application")
    try declare(environment)
    try blocking { try await environment.ready() }
    keep(environment)
  }
}
