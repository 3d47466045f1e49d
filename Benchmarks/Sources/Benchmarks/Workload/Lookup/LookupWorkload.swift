import Beans

/// Found by a protocol.
protocol Greeter: AnyObject, Sendable {}

final class Host: Greeter {}

/// Found by type and id: there are eight of them.
final class Named: Sendable {
  let id: String

  init(id: String) { self.id = id }
}

/// What a lookup is compared with: the same objects in fields. They can change, so that a read has to retain what it
/// returns; unchecked, so that it costs nothing else.
final class Fields {
  @exclusivity(unchecked) var s4: S4
  @exclusivity(unchecked) var s5: S5
  @exclusivity(unchecked) var s6: S6
  @exclusivity(unchecked) var s7: S7
  @exclusivity(unchecked) var s8: S8
  @exclusivity(unchecked) var s9: S9
  @exclusivity(unchecked) var s10: S10
  @exclusivity(unchecked) var s11: S11

  init(_ environment: Environment) throws {
    s4 = try environment.getBean(S4.self)
    s5 = try environment.getBean(S5.self)
    s6 = try environment.getBean(S6.self)
    s7 = try environment.getBean(S7.self)
    s8 = try environment.getBean(S8.self)
    s9 = try environment.getBean(S9.self)
    s10 = try environment.getBean(S10.self)
    s11 = try environment.getBean(S11.self)
  }
}

/// The 20 singletons with the beans above, and three levels of children below.
struct LookupApplication {
  let environment: Environment
  /// Three levels below the application.
  let request: Environment
  let fields: Fields

  static let ids = (0..<8).map { "named-\($0)" }

  init() throws {
    environment = try Environment(name: "application")
    try ContainerApplication<Void>.declareSingletons(in: environment)
    try environment.define(environment.bean(Host.self, factory: Host.init))
    for id in Self.ids { try environment.define(environment.bean(Named.self, id: id, factory: { Named(id: id) })) }
    let tenants = try environment.childFactory("tenant", seed: Int.self)
    let sessions = try tenants.childFactory("session", seed: Int.self)
    let requests = try sessions.childFactory("request", seed: Int.self)
    let session = try sessions.build(2, in: tenants.build(1))
    request = try requests.build(3, in: session)
    fields = try Fields(environment)
  }
}
