import Beans
import Synchronization

/// The contestants of `Curves`.
enum CurveContestants {
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

  /// A context that has a field for each object it needs costs the same at each depth.
  static func field(_ name: String) -> Contestant {
    let context = VisitContext(RequestSeed(number: 1))
    return Contestant("look up \(name): hand-written, a field") { count in
      for _ in 0..<count { useHeld(context.visit) }
    }
  }

  static func singleton(depth: Int) throws -> Contestant {
    let innermost = try innermost(depth)
    return Contestant("look up a singleton, from level \(depth)") { count in
      for _ in 0..<count { useHeld(try innermost.getBean(S0.self)) }
    }
  }

  static func outermost(depth: Int) throws -> Contestant {
    let innermost = try innermost(depth)
    return Contestant("look up a bean of level 1, from level \(depth)") { count in
      for _ in 0..<count { useHeld(try innermost.getBean(Visit.self)) }
    }
  }

  // MARK: wide requests

  static func wideByHand(_ size: Int) -> Contestant {
    Contestant("a request of \(size): hand-written") { count in
      for _ in 0..<count { use(Branch.tree(size)) }
    }
  }

  private static func requests(_ size: Int) throws -> EnvironmentFactory<RequestSeed> {
    let environment = try Environment(name: "application")
    let requests = try environment.childFactory("request", seed: RequestSeed.self) { child in
      for number in 0..<size {
        let (left, right) = (2 * number + 1, 2 * number + 2)
        let declaration =
          right < size
          ? child.bean(Branch.self, id: "\(number)", factory: { (left: Branch, right: Branch) in Branch(left, right) })
            .argument(0, ref: "\(left)").argument(1, ref: "\(right)")
          : left < size
            ? child.bean(Branch.self, id: "\(number)", factory: { (left: Branch) in Branch(left, nil) })
              .argument(0, ref: "\(left)")
            : child.bean(Branch.self, id: "\(number)", factory: { Branch(nil, nil) })
        try child.define(declaration)
      }
    }
    try environment.startup()
    keep(environment)
    return requests
  }

  static func wide(_ size: Int) throws -> Contestant {
    let (requests, seed) = (try requests(size), RequestSeed(number: 1))
    return Contestant("a request of \(size): Beans") { count in
      for _ in 0..<count {
        let child = try requests.build(seed)
        use(try child.getBean(Branch.self, byId: "0"))
        child.finish()
      }
    }
  }

  static func check(width: Int) throws {
    let child = try requests(width).build(RequestSeed(number: 1))
    let root = try child.getBean(Branch.self, byId: "0")
    try SelfCheck.expect(root.count == width, "the container built \(root.count) beans of \(width)")
    try SelfCheck.expect(Branch.tree(width).count == width, "not \(width) objects by hand")
    child.finish()
  }

  // MARK: events

  static func eventByHand(listeners: Int) -> Contestant {
    let hub = HandwrittenHub(listeners: listeners)
    return Contestant("an event to \(listeners): hand-written") { count in
      for number in 0..<count { hub.publish(Placed(number: number)) }
    }
  }

  private static func environment(listeners: Int) throws -> Environment {
    let environment = try Environment(name: "application")
    for number in 0..<listeners {
      try environment.define(environment.bean(Counter.self, id: "\(number)", factory: { Counter() }))
    }
    try environment.startup()
    return environment
  }

  static func event(listeners: Int) throws -> Contestant {
    let environment = try environment(listeners: listeners)
    return Contestant("an event to \(listeners): Beans") { count in
      for number in 0..<count { try environment.publish(Placed(number: number)) }
    }
  }

  static func check(listeners: Int) throws {
    let (environment, hub) = (try environment(listeners: listeners), HandwrittenHub(listeners: listeners))
    for publish in [{ try environment.publish(Placed(number: 1)) }, { hub.publish(Placed(number: 1)) }] {
      Counter.received.store(0, ordering: .relaxed)
      try publish()
      let received = Counter.received.load(ordering: .relaxed)
      try SelfCheck.expect(received == listeners, "\(received) of \(listeners) listeners have received the event")
    }
  }

  // MARK: nested child factories

  /// The declaration of `levels` child factories, each inside the one before it, and the startup. `end` is not measured.
  static func startup(
    levels: Int, _ stopwatch: Stopwatch = Stopwatch(), end: @escaping (Environment) throws -> Void = { keep($0) }
  ) -> Contestant {
    Contestant("declare and start child factories, \(levels) deep") { count in
      for _ in 0..<count {
        let environment = try stopwatch.time {
          let environment = try Environment(name: "application")
          var factory = try environment.childFactory("level 1", seed: RequestSeed.self) { child in
            try child.define(child.bean(Visit.self, factory: Visit.init))
          }
          for level in 1..<levels { factory = try factory.childFactory("level \(level + 1)", seed: RequestSeed.self) }
          try environment.startup()
          return environment
        }
        try end(environment)
      }
    }
  }
}
