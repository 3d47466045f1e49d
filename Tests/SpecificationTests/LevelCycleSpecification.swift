import Beans
import Testing

/// Prototypes of the application are built for the environment that asks, so a declaration further in may close a
/// cycle of them.
@Suite("Cycles over several environments", .timeLimit(.minutes(20))) struct LevelCycleSpecification {
  @FreshEnvironment("application") private var application

  /// A way from the application's prototype `Hen` to an `Egg`, which a child declares.
  enum Path: CaseIterable {
    case parameter, optional, array, dictionary, proto, owned, requiredType, requiredId, reference, property, template
    case factoryBean, decorator, alias

    func declare(in application: Environment) throws {
      func hen<each P>(_ factory: @escaping @Sendable (repeat each P) -> Hen) -> BeanDeclaration {
        application.bean(Hen.self, factory: factory)
      }
      let declaration: BeanDeclaration =
        switch self {
        case .parameter: hen { (_: Egg) in Hen() }
        case .optional: hen { (_: Egg?) in Hen() }
        case .array: hen { (_: [Egg]) in Hen() }
        case .dictionary: hen { (_: [String: Egg]) in Hen() }
        case .proto, .factoryBean, .decorator: hen { (_: any Laid) in Hen() }
        case .owned: hen { (_: Owned<Egg>) in Hen() }
        case .requiredType: hen { Hen() }.requires(Egg.self)
        case .requiredId: hen { Hen() }.requires(id: "egg")
        case .reference: hen { (_: any Laid) in Hen() }.argument(0, ref: "egg")
        case .alias: hen { (_: any Laid) in Hen() }.argument(0, ref: "brown")
        case .property: hen { Hen() }.property("laid", ref: "egg")
        case .template: hen { Hen() }.parent("layer")
        }
      if self == .template { try application.define(application.template("layer").requires(id: "egg")) }
      // The bean that the child hides or decorates.
      switch self {
      case .requiredId, .reference, .property, .template:
        try application.define(application.bean(Egg.self, id: "egg", factory: { Egg() }))
      case .alias: try application.define(application.bean(Egg.self, id: "brown", factory: { Egg() }))
      case .decorator: try application.define(application.bean(Stone.self, factory: { Stone() }))
      default: break
      }
      try application.define(declaration.scope("prototype"))
    }

    /// Declares the bean that closes the cycle.
    func close(in child: Environment) throws {
      switch self {
      case .factoryBean:
        try child.define(
          child.bean(Nest.self, factory: { (_: Hen) in Nest() }).target((any Laid).self).scope("prototype"))
      case .decorator:
        try child.define(child.decorate((any Laid).self) { (_: any Laid, _: Hen) -> any Laid in Stone() })
      case .alias:
        try child.define(child.bean(Egg.self, id: "white", factory: { (_: Hen) in Egg() }).scope("prototype"))
        try child.alias("brown", of: "white")
      default:
        try child.define(child.bean(Egg.self, id: "egg", factory: { (_: Hen) in Egg() }).scope("prototype"))
      }
    }
  }

  @Test("A declaration of a factory's children that closes a cycle is a fault of startup", arguments: Path.allCases)
  func children(_ path: Path) throws {
    try path.declare(in: application)
    _ = try application.childFactory("request", seed: Int.self, configure: path.close)
    let faults = try startupFaults(of: application)
    #expect(faults.map(\.code) == [.cyclicDependency], "\(faults)")
    #expect(faults.allSatisfy { $0.path.first == $0.path.last && $0.passes("Hen") }, "\(faults)")
  }

  @Test("Each factory's children are judged, at any depth, and the cycle is reported once", arguments: Path.allCases)
  func nested(_ path: Path) throws {
    try path.declare(in: application)
    _ = try application.childFactory("job", seed: Int.self) { try $0.define($0.bean(Egg.self, factory: { Egg() })) }
    let sessions = try application.childFactory("session", seed: Int8.self, configure: path.close)
    let requests = try sessions.childFactory("request", seed: Int16.self)
    _ = try requests.childFactory("step", seed: Int32.self)
    let faults = try startupFaults(of: application)
    #expect(faults.map(\.code) == [.cyclicDependency], "\(faults)")
  }

  @Test("A declaration of a plain child environment that closes a cycle is a fault of its startup")
  func plainChild() throws {
    try Path.array.declare(in: application)
    try application.startup()
    let child = try Environment(name: "child", parent: application)
    try Path.array.close(in: child)
    let faults = try startupFaults(of: child)
    #expect(faults.map(\.code) == [.cyclicDependency])
    #expect(try application.getBean(Hen.self) !== application.getBean(Hen.self))
  }

  @Test("A cycle may lead through the declarations of three levels")
  func threeLevels() throws {
    try application.define(application.bean(Hen.self, factory: { (_: [Stone]) in Hen() }).scope("prototype"))
    let sessions = try application.childFactory("session", seed: Int8.self) {
      try $0.define($0.bean(Stone.self, factory: { (_: Egg?) in Stone() }).scope("prototype"))
    }
    _ = try sessions.childFactory("request", seed: Int16.self) {
      try $0.define($0.bean(Egg.self, factory: { (_: Hen) in Egg() }).scope("prototype"))
    }
    let faults = try startupFaults(of: application)
    #expect(faults.allSatisfy { $0.code == .cyclicDependency }, "\(faults)")
    #expect(faults.contains { $0.passes("Hen") && $0.passes("Stone") && $0.passes("Egg") }, "\(faults)")
  }

  @Test("A child that hides an id closes a cycle of the application's prototypes")
  func hidden() throws {
    try application.define(application.bean(Stone.self, id: "stone", factory: { Stone() }).primary())
    try application.define(application.bean(Egg.self, factory: { (_: Hen) in Egg() }).scope("prototype"))
    try application.define(application.bean(Hen.self, factory: { (_: any Laid) in Hen() }).scope("prototype"))
    _ = try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Straw.self, id: "stone", factory: { Straw() }))
    }
    #expect(try startupFaults(of: application).map(\.code) == [.cyclicDependency])
  }

  @Test("A Provider and a Lazy break a cycle over levels")
  func broken() throws {
    try application.define(application.bean(Hen.self, factory: { (_: [any Laid]) in Hen() }).scope("prototype"))
    let factories = [
      try application.childFactory("a", seed: Int.self) {
        try $0.define($0.bean(Egg.self, factory: { (_: Provider<Hen>) in Egg() }).scope("prototype"))
      },
      try application.childFactory("b", seed: Int.self) {
        try $0.define($0.bean(Egg.self, factory: { (_: Lazy<Hen>) in Egg() }).scope("prototype"))
      },
    ]
    try application.startup()
    for factory in factories { try factory.withChild(1) { _ = try $0.getBean(Hen.self) } }
    try application.shutdown()
  }

  @Test("A cycle of a request's beans that the application declares is reported once for all factories")
  func severalFactories() throws {
    try application.define(application.bean(Hen.self, factory: { (_: Egg) in Hen() }).scope("request"))
    try application.define(application.bean(Egg.self, factory: { (_: Hen) in Egg() }).scope("request"))
    _ = try application.childFactory("request", seed: Int.self)
    _ = try application.childFactory("request", seed: Int8.self)
    #expect(try startupFaults(of: application).map(\.code) == [.cyclicDependency])
  }
}

private protocol Laid: Sendable {}

private final class Hen: Sendable {
  // Set by the container, before another thread sees the bean.
  nonisolated(unsafe) var laid: (any Laid)?
}
private final class Egg: Laid {}
private final class Stone: Laid {}
private final class Straw: Sendable {}
private final class Nest: FactoryBean, Sendable { func create() -> Egg { Egg() } }
