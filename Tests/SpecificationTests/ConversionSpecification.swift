import Beans
import Testing

@Suite("Conversion of declared values") struct ConversionSpecification {
  @FreshEnvironment private var environment

  @Test("A pinned value of another type is converted to the parameter's type")
  func argument() throws {
    try environment.define(
      environment.bean(Server.self, factory: Server.init)
        .argument(0, value: "8080").argument(1, value: "1.5s").argument(2, value: "fast, safe").argument(3, value: 7.0))
    let server = try environment.getBean(Server.self)
    #expect(server.port == 8080)
    #expect(server.timeout == .milliseconds(1500))
    #expect(server.modes == [.fast, .safe])
    #expect(server.limit == 7)
  }

  @Test("A user's conversion wins over the standard conversions, here and below")
  func registered() throws {
    let parent = try Environment(name: "parent")
    defer { try? parent.shutdown() }
    try parent.registerConversion(from: String.self, to: UInt16.self) { UInt16($0.utf8.count) }
    try parent.registerConversion(from: String.self, to: Money.self) { text in
      guard let amount = Int(text.dropLast()) else { throw Boom(name: "no money") }
      return Money(cents: amount * 100)
    }
    let child = try Environment(name: "child", parent: parent)
    try child.define(child.bean(Purse.self, factory: Purse.init).argument(0, value: "12€").argument(1, value: "four"))
    let purse = try child.getBean(Purse.self)
    #expect(purse.money.cents == 1200)
    #expect(purse.number == 4)
  }

  @Test("A conversion of a child is not the parent's")
  func registeredInChild() throws {
    let parent = try Environment(name: "parent")
    try parent.define(parent.bean(Purse.self, factory: Purse.init).argument(0, value: "1€").argument(1, value: 1))
    let child = try Environment(name: "child", parent: parent)
    try child.registerConversion(from: String.self, to: Money.self) { _ in Money(cents: 0) }
    try requireFault(.noConversion) { try parent.startup() }
  }

  @Test(
    "A missing conversion and a refusing one are faults of startup with the declaration's origin, all at once")
  func faults() throws {
    let built = Counter()
    try environment.define(environment.bean(Counted.self, factory: { Counted(built) }))
    let (server, line) = (environment.bean(Server.self, id: "web", factory: Server.init), #line)
    let first = server.argument(0, value: "eighty").argument(1, value: 30).argument(2, value: "slow")
      .argument(3, value: nil as Int? as Any)
    try environment.define(first)
    try environment.define(
      environment.bean(Purse.self, factory: Purse.init).argument(0, value: "x").argument(1, value: 70_000))
    let faults = try startupFaults(of: environment)
    #expect(
      faults.map(\.code) == [.conversionFailed, .noConversion, .conversionFailed, .noConversion, .conversionFailed])
    #expect(faults.prefix(3).allSatisfy { $0.passes("web") && $0.isFrom(file: #fileID, line: line) }, "\(faults)")
    #expect(faults[0].description.contains("first parameter") && faults[0].description.contains("eighty"))
    #expect(faults[1].description.contains("Duration") && faults[1].description.contains("Int"))
    #expect(faults[2].description.contains("fast"))
    #expect(built.value == 0)
  }

  @Test("An error of a conversion is kept in underlying")
  func thrown() throws {
    try environment.registerConversion(from: String.self, to: Money.self) { _ in throw Boom(name: "no money") }
    try environment.define(
      environment.bean(Purse.self, factory: Purse.init).argument(0, value: "x").argument(1, value: 1))
    try requireFault(.conversionFailed, causes: [Boom(name: "no money")]) { try environment.startup() }
  }

  @Test("A conversion that looks up beans of the starting environment is refused, not deadlocked")
  func lookupInConversion() throws {
    try environment.define(environment.bean(Money(cents: 1)))
    try environment.registerConversion(from: String.self, to: UInt16.self) { [unowned environment] _ in
      UInt16(try environment.getBean(Money.self).cents)
    }
    try environment.define(environment.bean(Purse.self, factory: Purse.init).argument(1, value: "x"))
    try requireFault(.conversionFailed) { try environment.startup() }
  }

  @Test("A conversion is registered before startup")
  func frozen() throws {
    try environment.startup()
    try requireFault(.frozen) { try environment.registerConversion(from: Int.self, to: String.self) { "\($0)" } }
  }

  @Test("The conversion factory can be looked up, and contains the registered conversions")
  func factory() throws {
    try environment.registerConversion(from: Int.self, to: Money.self) { Money(cents: $0) }
    let factory: any ConversionFactory = environment.conversionFactory
    #expect(factory.hasConversion(Int.self, targetType: Money.self))
    #expect(try factory.getConversion(Int.self, targetType: Money.self)(5) as? Money == Money(cents: 5))
    #expect(factory.findConversion(Money.self, targetType: Int.self) == nil)
    try requireFault(.noConversion) { try factory.getConversion(Money.self, targetType: Int.self) }
  }
}

private enum Mode: String, CaseIterable { case fast, safe }

private final class Server {
  let port: UInt16
  let timeout: Duration
  let modes: [Mode]
  let limit: Int?
  init(port: UInt16, timeout: Duration, modes: [Mode], limit: Int?) {
    self.port = port
    self.timeout = timeout
    self.modes = modes
    self.limit = limit
  }
}

private struct Money: Equatable { let cents: Int }
private final class Purse {
  let money: Money
  let number: UInt16
  init(money: Money, number: UInt16) {
    self.money = money
    self.number = number
  }
}
private final class Counted {
  init(_ counter: Counter) { counter.increment() }
}
