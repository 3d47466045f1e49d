import Beans
import BeansGraph
import BeansLogging
import Testing

/// Declarations that are correct, and may be mistakes.
@Suite("Remarks on declarations", .timeLimit(.minutes(20))) struct DeclarationRemarksSpecification {
  @FreshEnvironment("shop") private var shop

  // MARK: optional parameters

  @Test("The report and the graph name an optional parameter that nothing satisfies")
  func absent() throws {
    try shop.define(Handler.self, file: "Shop.swift", line: 3, factory: Handler.init)
    try shop.define(Clock.self, factory: Clock.init)
    try shop.childFactory("request", seed: Int.self) { request in
      try request.define(Page.self, file: "Shop.swift", line: 7, factory: Page.init)
    }
    try shop.startup()
    let report = shop.report()
    #expect(
      report.contains(
        "taken where there is one, and not declared:\n- Handler takes Metrics?: none origin: Shop.swift:3"))
    #expect(report.contains("\n- Page takes Metrics?: none origin: Shop.swift:7"))
    #expect(!report.contains("Clock?"))
    let graph = try shop.graph()
    #expect(
      graph.nodes.filter { $0.absent != nil }.map { "\($0.label) \($0.absent ?? [])" } == [
        #"Handler ["Metrics"]"#, #"Page ["Metrics"]"#,
      ])
    #expect(graph.mermaid().contains("Handler (Metrics?: none)"))
    #expect(graph.dot().contains("Handler (Metrics?: none)"))
    try shop.shutdown()
  }

  @Test("An optional parameter that some environment satisfies, and a report before startup, have no line")
  func present() throws {
    try shop.define(Metrics.self, factory: Metrics.init)
    try shop.define(Clock.self, factory: Clock.init)
    try shop.define(Handler.self, factory: Handler.init)
    #expect(!shop.report().contains("not declared"))
    try shop.startup()
    #expect(!shop.report().contains("not declared"))
    try shop.shutdown()
    #expect(!shop.report().contains("not declared"))
  }

  // MARK: two beans of one type

  @Test("The report names two beans of one type that no lookup by type finds alone, and that no bean takes")
  func ambiguous() throws {
    try shop.define(Clock.self, file: "Shop.swift", line: 3, factory: Clock.init)
    try shop.define(Clock.self, file: "Shop.swift", line: 4, factory: Clock.init)
    try shop.startup()
    #expect(
      shop.report().contains(
        "ambiguous in a lookup by type, and taken by no bean:\n- Clock: 2 beans origin: Shop.swift:3 origin: Shop.swift:4"
      ))
    try requireFault(.ambiguousBean) { try shop.getBean(Clock.self) }
    try shop.shutdown()
  }

  @Test(
    "Beans with ids, qualifiers or a primary one among them, in a list, and in different environments have no line",
    arguments: [
      Declared(testDescription: "ids") {
        try $0.define(Clock.self, factory: Clock.init) { $0.id("a") }.define(Clock.self, factory: Clock.init) {
          $0.id("b")
        }
      },
      Declared(testDescription: "a primary one") {
        try $0.define(Clock.self, factory: Clock.init) { $0.primary() }.define(Clock.self, factory: Clock.init)
      },
      Declared(testDescription: "a list") {
        try $0.define(Clock.self, factory: Clock.init).define(Clock.self, factory: Clock.init)
          .define(Tower.self, factory: Tower.init)
      },
      Declared(testDescription: "levels") {
        try $0.define(Clock.self, factory: Clock.init)
        try $0.childFactory("request", seed: Int.self) { try $0.define(Clock.self, factory: Clock.init) }
      },
      Declared(testDescription: "two factories of children") {
        try $0.childFactory("request", seed: Int.self)
        try $0.childFactory("preview", seed: Int.self)
      },
      Declared(testDescription: "a decorator") {
        try $0.define(Clock.self, factory: Clock.init)
        try $0.define($0.decorate(Clock.self) { (inner: Clock) in inner })
      },
    ])
  fileprivate func decided(_ declared: Declared) throws {
    try declared.declare(shop)
    try shop.startup()
    #expect(!shop.report().contains("ambiguous"), "\(shop.report())")
    try shop.shutdown()
  }

  // MARK: scopes that nothing opens

  @Test("A scope without a factory is a fault of startup with near names", arguments: ["request", "session", "reqest"])
  func unknownScope(name: String) throws {
    try shop.define(Clock.self, file: "Shop.swift", line: 3, factory: Clock.init) { $0.scope(name) }
    try shop.childFactory(name == "session" ? "sessions" : "requests", seed: Int.self)
    let fault = try requireFault(.unknownScope) { try shop.startup() }
    #expect(fault.message.hasPrefix("no scope is called '\(name)'"), "\(fault)")
    if name != "reqest" { #expect(fault.message.hasSuffix("did you mean '\(name)s'?"), "\(fault)") }
    #expect(fault.origin == .init(file: "Shop.swift", line: 3))
  }

  @Test("The report names beans of a scope that a factory of an environment further in may open")
  func unopened() throws {
    try shop.define(Clock.self, file: "Shop.swift", line: 3, factory: Clock.init) { $0.scope("request") }
    try shop.startup()
    #expect(shop.report().contains("of a scope that no factory here opens:\n- Clock: request origin: Shop.swift:3"))
    let inner = try Environment(name: "inner", parent: shop)
    let requests = try inner.childFactory("request", seed: Int.self)
    try requests.withChild(1) { _ = try $0.getBean(Clock.self) }
    #expect(!inner.report().contains("of a scope that no factory"))
    try shop.shutdown()
  }

  // MARK: beans that are not Sendable

  @Test("The log names shared beans that are not Sendable, once at startup, and says what refuses them")
  func shared() async {
    await #expect(processExitsWith: .success) {
      let lines = Lines(name: "lines", formatter: .level() + " " + .message())
      LogManager().registerLogger("", level: .warn, logs: [lines])
      let shop = try Environment(name: "shop")
      try shop.define(shop.bean(Tally.self, file: "Shop.swift", line: 3, factory: { Tally() }))
      try shop.define(shop.bean(Clock.self, factory: Clock.init))
      let requests = try shop.childFactory("request", seed: Int.self)
      try shop.startup()
      try requests.withChild(1) { _ in }
      #expect(
        lines.all == [
          "WARN 'shop': threads share beans that are not known to be Sendable: Tally (Shop.swift:3); report() lists them, "
            + "and startup(options: [.requireSendable]) refuses them"
        ])
      try shop.shutdown()
    }
  }
}

private struct Declared: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let declare: @Sendable (Environment) throws -> Void
}

private final class Metrics: Sendable {}
private final class Clock: Sendable {}
private final class Handler: Sendable { init(_ metrics: Metrics?, _ clock: Clock?) {} }
private final class Page: Sendable { init(_ metrics: Metrics?) {} }
private final class Tower: Sendable { init(_ clocks: [Clock]) {} }
private final class Tally { var value = 0 }
