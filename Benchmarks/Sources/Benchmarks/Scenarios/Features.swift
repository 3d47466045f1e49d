import Beans
import Synchronization

/// Single features: beans of a registered scope, and the ways in which a bean takes another one.
struct Features {
  let settings: Settings

  func measure() throws -> Table {
    var table = Table(scenario: "features", title: "single features", operation: "as the row says")
    for contestants in [
      [Self.keptByHand(), try Self.kept()], [Self.twoByHand()] + (try Taking.allCases.map(Self.two)),
    ] {
      table.rows += try Contest(
        settings: settings, contestants: contestants, operations: settings.operations(100_000)
      ).rows()
    }
    return table
  }

  // MARK: kept beans

  private static func keptByHand() -> Contestant {
    let kept = Mutex<Plain?>(nil)
    return Contestant("a kept object: hand-written, under a lock") { count in
      for _ in 0..<count {
        useHeld(
          kept.withLock { kept in
            if let kept { return kept }
            let made = Plain()
            kept = made
            return made
          })
      }
    }
  }

  static func kept() throws -> Contestant {
    let environment = try Environment(name: "application")
    try environment.registerScope(AbstractBeanScope(name: "kept"))
    try environment.define(environment.bean(Plain.self, factory: { Plain() }).scope("kept"))
    try environment.startup()
    return Contestant("a kept object: a registered scope's bean") { count in
      for _ in 0..<count { useHeld(try environment.getBean(Plain.self)) }
    }
  }

  // MARK: two beans

  /// The ways in which the second of two beans takes the first.
  enum Taking: String, CaseIterable {
    case plain, qualifier, decorator, lazy, array
  }

  private static func twoByHand() -> Contestant {
    Contestant("a request of two: hand-written") { count in
      for _ in 0..<count { use(Taker(Plain())) }
    }
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
    return Contestant("a request of two: \(taking.rawValue)") { count in
      for _ in 0..<count {
        let child = try requests.build(seed)
        use(try child.getBean(Taker.self))
        child.finish()
      }
    }
  }
}
