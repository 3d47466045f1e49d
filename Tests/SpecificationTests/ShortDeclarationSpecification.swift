import Beans
import Testing

@Suite("Short declarations and lookups") struct ShortDeclarationSpecification {
  @FreshEnvironment("shop") private var environment

  private func started(_ declare: (Beans.Environment) throws -> Void) throws -> Beans.Environment {
    let environment = try Beans.Environment(name: "shop")
    try declare(environment)
    return try environment.startup(options: [.requireSendable])
  }

  @Test("define with a type and a factory equals the long form, for any number of parameters")
  func factories() throws {
    let environment = try started {
      try $0
        .define(Plain.self)
        .define((any Store).self, factory: Disk.init)
        .define(One.self, factory: One.init)
        .define(Two.self, factory: Two.init)
        .define(Sum.self) { (a: Plain, b: any Store, c: One) in Sum(count: 3) }
        .define(Four.self) { (a: Plain, b: any Store, c: One, d: Two) in Four() }
        .define(Five.self) { (a: Plain, b: any Store, c: One, d: Two, e: Sum) in Five() }
        .define(Six.self) { (a: Plain, b: any Store, c: One, d: Two, e: Sum, f: Four) in Six() }
        .define(Seven.self) { (a: Plain, b: any Store, c: One, d: Two, e: Sum, f: Four, g: Five) in Seven() }
    }
    defer { try? environment.shutdown() }
    let seven: Seven = try environment.getBean()
    #expect(try environment.getBean(Seven.self) === seven)
    #expect(try environment.getBean(Two.self).plain === environment.getBean(Plain.self))
    #expect(try environment.getBean(Sum.self).count == 3)
    #expect(try environment.getBean((any Store).self) is Disk)
  }

  @Test("The trailing closure sets the options of the declaration")
  func options() throws {
    let journal = Journal()
    let environment = try started {
      try $0
        .define(Plain.self) { $0.id("first").onDestroy { _ in journal.note("first") } }
        .define(Plain.self, factory: { Plain() }) {
          $0.id("second")
          $0.primary().lazy()
        }
        .define(One.self) {
          One($0)
        } options: {
          $0.argument(0, ref: "first")
        }
    }
    #expect(try environment.getBean(Plain.self) === environment.getBean(Plain.self, byId: "second"))
    #expect(try environment.getBean(One.self).plain === environment.getBean(byId: "first"))
    try environment.shutdown()
    #expect(journal.entries == ["first"])
  }

  @Test("An instance and a section of the configuration have short forms")
  func otherKinds() throws {
    let environment = try started {
      try $0
        .define($0.settings().setValue(namespace: "", key: "mail.port", value: 25))
        .define(instance: Disk()) { $0.id("disk") }
        .define(instance: "text")
        .define(Mail.self, configuration: "mail")
        .define(ConfigurationValue<Mail>.self, configuration: "mail")
    }
    defer { try? environment.shutdown() }
    #expect(try environment.getBean(Mail.self).port == 25)
    #expect(try environment.getBean(ConfigurationValue<Mail>.self).value.port == 25)
    #expect(try environment.getBean(String.self) == "text")
    _ = try environment.getBean(Disk.self, byId: "disk")
  }

  @Test("An asynchronous factory has a short form")
  func asynchronousFactory() async throws {
    try environment
      .define(Plain.self)
      .define(
        One.self,
        async: { (plain: Plain) in
          await Task.yield()
          return One(plain)
        }
      ) { $0.id("one") }
    try await environment.ready(options: [.requireSendable])
    let one = try await environment.getBean(awaiting: One.self)
    #expect(try environment.getBean(One.self, byId: "one") === one)
    try await environment.shutdown()
  }

  @Test("The short form records whether a type is Sendable")
  func sendability() throws {
    try environment.define(Plain.self).define(Till.self).define(Drawer.self, factory: Drawer.init).define(
      instance: Purse())
    let fault = try requireFault { try environment.startup(options: [.requireSendable]) }
    let rejected = fault.underlying.compactMap { ($0 as? EnvironmentError)?.path.first }
    #expect(rejected.count == 3, "\(fault)")
    for type in ["Till", "Drawer", "Purse"] { #expect(rejected.contains { $0.contains(type) }, "\(type)") }
    try environment.shutdown()
  }

  @Test("A fault of a short declaration names the place of the call")
  func origin() throws {
    try environment.define(One.self, factory: One.init)
    let fault = try requireFault(.unknownBean, message: "Plain") { try environment.startup() }
    #expect(fault.isFrom(file: #fileID, line: #line - 2))
    try environment.shutdown()
  }

  @Test("define of a started environment throws frozen in the short form, too")
  func frozen() throws {
    let environment = try started { _ in }
    try requireFault(.frozen) { try environment.define(Plain.self) }
    try environment.shutdown()
  }

  @Test("getBean takes its type from the context")
  func contextualType() throws {
    let environment = try started {
      try $0
        .define(Plain.self)
        .define(Disk.self, factory: Disk.init) { $0.id("disk") }
        .define(Memory.self, factory: Memory.init) { $0.id("memory").qualifier(Quick.self) }
    }
    defer { try? environment.shutdown() }
    let plain: Plain = try environment.getBean()
    #expect(try environment.getBean(Plain.self) === plain)
    let stores: [any Store] = try environment.getBean()
    #expect(stores.count == 2)
    let absent: One? = try environment.getBean()
    #expect(absent == nil)
    let named: any Store = try environment.getBean(byId: "disk")
    #expect(named is Disk)
    let quick: any Store = try environment.getBean(Qualified<Quick, any Store>.self).value
    #expect(quick is Memory)
    let provider: Provider<Plain> = try environment.getBean()
    #expect(try provider.get() === plain)
    func take(_ plain: Plain) -> Plain { plain }
    #expect(try take(environment.getBean()) === plain)
    let fault = try requireFault(.unknownBean) { let _: One = try environment.getBean() }
    #expect(fault.isFrom(file: #fileID, line: #line - 1))
  }
}

private final class Plain: Initializable, Sendable { init() {} }
private protocol Store: Sendable {}
private struct Disk: Store {}
private struct Memory: Store {}
private enum Quick {}
private final class One: Sendable {
  let plain: Plain
  init(_ plain: Plain) { self.plain = plain }
}
private final class Two: Sendable {
  let plain: Plain
  init(plain: Plain, store: any Store) { self.plain = plain }
}
private struct Sum { let count: Int }
private final class Four: Sendable {}
private final class Five: Sendable {}
private final class Six: Sendable {}
private final class Seven: Sendable {}
private final class Till: Initializable {
  var coins = 0
  init() {}
}
private final class Drawer {
  var coins = 0
  init(till: Till) {}
}
private final class Purse { var coins = 0 }
private struct Mail: Decodable, Sendable { let port: Int }
