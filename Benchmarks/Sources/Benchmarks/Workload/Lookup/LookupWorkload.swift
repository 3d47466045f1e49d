import Beans

/// Found by a protocol.
protocol Greeter: AnyObject, Sendable {}

final class Host: Greeter {}

/// Found by type and id: there are eight of them.
final class Named: Sendable {
  let id: String

  init(id: String) { self.id = id }
}

/// The contestant of a lookup: the same objects in fields. They can change, so that a read has to retain its result;
/// unchecked, so that it costs nothing else.
final class Fields {
  @exclusivity(unchecked) var s0: S0
  @exclusivity(unchecked) var s1: S1
  @exclusivity(unchecked) var s2: S2
  @exclusivity(unchecked) var s3: S3
  @exclusivity(unchecked) var s4: S4
  @exclusivity(unchecked) var s5: S5
  @exclusivity(unchecked) var s6: S6
  @exclusivity(unchecked) var s7: S7
  @exclusivity(unchecked) var s8: S8
  @exclusivity(unchecked) var s9: S9
  @exclusivity(unchecked) var s10: S10
  @exclusivity(unchecked) var s11: S11
  @exclusivity(unchecked) var s12: S12
  @exclusivity(unchecked) var s13: S13
  @exclusivity(unchecked) var s14: S14
  @exclusivity(unchecked) var s15: S15
  @exclusivity(unchecked) var s16: S16
  @exclusivity(unchecked) var s17: S17
  @exclusivity(unchecked) var s18: S18
  @exclusivity(unchecked) var s19: S19

  init(_ environment: Environment) throws {
    s0 = try environment.getBean(S0.self)
    s1 = try environment.getBean(S1.self)
    s2 = try environment.getBean(S2.self)
    s3 = try environment.getBean(S3.self)
    s4 = try environment.getBean(S4.self)
    s5 = try environment.getBean(S5.self)
    s6 = try environment.getBean(S6.self)
    s7 = try environment.getBean(S7.self)
    s8 = try environment.getBean(S8.self)
    s9 = try environment.getBean(S9.self)
    s10 = try environment.getBean(S10.self)
    s11 = try environment.getBean(S11.self)
    s12 = try environment.getBean(S12.self)
    s13 = try environment.getBean(S13.self)
    s14 = try environment.getBean(S14.self)
    s15 = try environment.getBean(S15.self)
    s16 = try environment.getBean(S16.self)
    s17 = try environment.getBean(S17.self)
    s18 = try environment.getBean(S18.self)
    s19 = try environment.getBean(S19.self)
  }

  /// Reads each of them, `count` times in all.
  @inline(__always)
  func read(_ count: Int, _ body: (AnyObject) -> Void) {
    for _ in 0..<(count + 19) / 20 {
      body(s0)
      body(s1)
      body(s2)
      body(s3)
      body(s4)
      body(s5)
      body(s6)
      body(s7)
      body(s8)
      body(s9)
      body(s10)
      body(s11)
      body(s12)
      body(s13)
      body(s14)
      body(s15)
      body(s16)
      body(s17)
      body(s18)
      body(s19)
    }
  }
}

extension Environment {
  /// Looks up each of the same beans, `count` times in all.
  @inline(__always)
  func lookUp(_ count: Int) throws {
    for _ in 0..<(count + 19) / 20 {
      useHeld(try getBean(S0.self))
      useHeld(try getBean(S1.self))
      useHeld(try getBean(S2.self))
      useHeld(try getBean(S3.self))
      useHeld(try getBean(S4.self))
      useHeld(try getBean(S5.self))
      useHeld(try getBean(S6.self))
      useHeld(try getBean(S7.self))
      useHeld(try getBean(S8.self))
      useHeld(try getBean(S9.self))
      useHeld(try getBean(S10.self))
      useHeld(try getBean(S11.self))
      useHeld(try getBean(S12.self))
      useHeld(try getBean(S13.self))
      useHeld(try getBean(S14.self))
      useHeld(try getBean(S15.self))
      useHeld(try getBean(S16.self))
      useHeld(try getBean(S17.self))
      useHeld(try getBean(S18.self))
      useHeld(try getBean(S19.self))
    }
  }

  /// A lookup by type, lent.
  @inline(__always)
  func borrow(_ count: Int) throws {
    for _ in 0..<(count + 19) / 20 {
      try withBean(S0.self) { use($0) }
      try withBean(S1.self) { use($0) }
      try withBean(S2.self) { use($0) }
      try withBean(S3.self) { use($0) }
      try withBean(S4.self) { use($0) }
      try withBean(S5.self) { use($0) }
      try withBean(S6.self) { use($0) }
      try withBean(S7.self) { use($0) }
      try withBean(S8.self) { use($0) }
      try withBean(S9.self) { use($0) }
      try withBean(S10.self) { use($0) }
      try withBean(S11.self) { use($0) }
      try withBean(S12.self) { use($0) }
      try withBean(S13.self) { use($0) }
      try withBean(S14.self) { use($0) }
      try withBean(S15.self) { use($0) }
      try withBean(S16.self) { use($0) }
      try withBean(S17.self) { use($0) }
      try withBean(S18.self) { use($0) }
      try withBean(S19.self) { use($0) }
    }
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
