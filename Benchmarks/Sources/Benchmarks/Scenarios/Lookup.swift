import Beans

/// A bean that exists, looked up, beside an object read from a field. 20 of them in turn.
struct Lookup {
  let settings: Settings

  func measure() throws -> Table {
    let application = try LookupApplication()
    try Self.check(application)
    let operations = settings.operations(1_000_000)
    var table = Table(
      scenario: "lookup", title: "beans that exist", operation: "look up one bean, use it, release it")
    table.rows = try Contest(
      settings: settings,
      contestants: [
        Self.fieldRead(application), Self.byType(application), Self.fromBelow(application),
        Self.byProtocol(application),
        Self.byTypeAndId(application),
      ], operations: operations
    ).rows()
    table.rows += try Contest(
      settings: settings, contestants: [Self.unretainedRead(application), Self.lent(application)],
      operations: operations
    ).rows()
    return table
  }

  static func fieldRead(_ application: LookupApplication) -> Contestant {
    let fields = application.fields
    return Contestant("hand-written: a strong field read") { count in
      fields.read(count) { useHeld($0) }
    }
  }

  static func byType(_ application: LookupApplication) -> Contestant {
    lookups("getBean, by type", in: application.environment)
  }

  static func fromBelow(_ application: LookupApplication) -> Contestant {
    lookups("getBean, by type, from three levels below", in: application.request)
  }

  private static func lookups(_ name: String, in environment: Environment) -> Contestant {
    Contestant(name) { count in try environment.lookUp(count) }
  }

  static func byProtocol(_ application: LookupApplication) -> Contestant {
    let environment = application.environment
    return Contestant("getBean, by protocol") { count in
      for _ in 0..<count { useHeld(try environment.getBean((any Greeter).self)) }
    }
  }

  static func byTypeAndId(_ application: LookupApplication) -> Contestant {
    let environment = application.environment
    return Contestant("getBean, by type and id") { count in
      for _ in 0..<(count + 7) / 8 {
        for id in LookupApplication.ids { useHeld(try environment.getBean(Named.self, byId: id)) }
      }
    }
  }

  static func unretainedRead(_ application: LookupApplication) -> Contestant {
    let fields = application.fields
    return Contestant("hand-written: an unretained field read") { count in
      fields.read(count) { use($0) }
    }
  }

  static func lent(_ application: LookupApplication) -> Contestant {
    let environment = application.environment
    return Contestant("withBean, by type") { count in try environment.borrow(count) }
  }

  /// All ways lead to the same objects.
  private static func check(_ application: LookupApplication) throws {
    let (environment, request, fields) = (application.environment, application.request, application.fields)
    try SelfCheck.expect(try environment.getBean(S4.self) === fields.s4, "a lookup and the field differ")
    try SelfCheck.expect(try request.getBean(S11.self) === fields.s11, "a lookup from below and the field differ")
    try SelfCheck.expect(try environment.withBean(S9.self) { $0 === fields.s9 }, "withBean and the field differ")
    let greeter = try environment.getBean((any Greeter).self)
    try SelfCheck.expect(try environment.getBean(Host.self) === greeter, "the protocol leads to another bean")
    for id in LookupApplication.ids {
      try SelfCheck.expect(try environment.getBean(Named.self, byId: id).id == id, "the id leads to another bean")
    }
    try SelfCheck.expect(
      request.parent?.parent?.parent === environment, "the request is not three levels below the application")
  }
}
