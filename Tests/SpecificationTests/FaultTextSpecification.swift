import Beans
import Testing

/// The texts that help on the first day.
@Suite("Texts of faults", .timeLimit(.minutes(20))) struct FaultTextSpecification {
  @FreshEnvironment("shop") private var shop

  private struct Exhausted: Error, Equatable { let seconds: Int }

  // MARK: parameters

  @Test("A fault counts parameters from the first", arguments: [(0, "first parameter"), (11, "12th parameter")])
  func ordinals(position: Int, text: String) throws {
    let known = shop.bean(Part.self, factory: Part.init)
    try shop.define(known)
    if position == 0 {
      try shop.define(Taker.self, factory: { (_: Missing) in Taker() })
    } else {
      try shop.define(
        Taker.self,
        factory: {
          (
            _: Part, _: Part, _: Part, _: Part, _: Part, _: Part, _: Part, _: Part, _: Part, _: Part, _: Part,
            _: Missing
          ) in Taker()
        })
    }
    let fault = try requireFault(.unknownBean) { try shop.startup() }
    #expect(fault.message.hasPrefix("\(text): no bean of type Missing"), "\(fault)")
  }

  @Test("A missing value of a type that default arguments have is explained")
  func defaultArguments() throws {
    try shop.define(Part.self, factory: Part.init).define(Sized.self, factory: Sized.init)
    let fault = try requireFault(.unknownBean, message: "second parameter: no bean of type Int") { try shop.startup() }
    #expect(fault.message.contains("a default argument is not used here: leave it out by a closure"))
    #expect(fault.message.contains("{ Sized("))
    let other = try Environment(name: "other")
    try other.define(Taker.self, factory: { (_: Missing) in Taker() })
    #expect(try !requireFault(.unknownBean) { try other.startup() }.message.contains("default"))
  }

  // MARK: lookups

  @Test("A lookup by an unknown id names the bean of that type that has no id")
  func beanWithoutId() throws {
    try shop.define(Part.self, file: "Shop.swift", line: 3, factory: Part.init)
    let fault = try requireFault(.unknownBean) { try shop.getBean(Part.self, byId: "part") }
    #expect(fault.message.contains("no bean has the id 'part'"))
    #expect(fault.message.contains("a Part without an id is declared at Shop.swift:3"), "\(fault)")
    let taker = try Environment(name: "taker")
    try taker.define(Part.self, file: "Shop.swift", line: 3, factory: Part.init)
      .define(taker.bean(Holder.self, factory: Holder.init).argument(0, ref: "part"))
    #expect(try requireFault(.unknownBean) { try taker.startup() }.message.contains("without an id is declared"))
    #expect(
      try !requireFault(.unknownBean) { try shop.getBean(Missing.self, byId: "part") }.message.contains("without"))
  }

  @Test("The text of a lookup with another type names the lookup, and then the declaration")
  func lookupOfAnotherType() throws {
    try shop.define(shop.bean(Part.self, id: "part", file: "Shop.swift", line: 3, factory: Part.init))
    let fault = try requireFault(.typeMismatch, message: "declared at Shop.swift:3") {
      try shop.getBean(Missing.self, byId: "part", file: "Handler.swift", line: 9)
    }
    #expect(fault.origin == .init(file: "Handler.swift", line: 9))
    #expect("\(fault)".contains("(Handler.swift:9)"))
  }

  @Test("A lookup of another seed names the seed that the child has")
  func wrongSeed() throws {
    let requests = try shop.childFactory("request", seed: Seed.self, file: "Shop.swift", line: 5) { _ in }
    let request = try requests.build(Seed())
    let fault = try requireFault(.unknownBean) { try request.getBean(Other.self) }
    #expect(fault.message.contains("its seed is Seed (childFactory at Shop.swift:5)"), "\(fault)")
    let wrong = try Environment(name: "wrong")
    _ = try wrong.childFactory("request", seed: Seed.self, file: "Shop.swift", line: 5) {
      try $0.define(Taker.self, factory: { (_: Other) in Taker() })
    }
    #expect(try requireFault(.unknownBean) { try wrong.startup() }.message.contains("its seed is Seed"))
    try shop.shutdown()
  }

  @Test("A singleton that takes a bean which only children have is a captive, and its text names Current")
  func captiveOfChildren() throws {
    try shop.define(Holder.self, factory: Holder.init)
    _ = try shop.childFactory("request", seed: Int.self) { try $0.define(Part.self, factory: Part.init) }
    let fault = try requireFault(.captiveDependency) { try shop.startup() }
    #expect(fault.message.contains("take a Current or a Provider of it"), "\(fault)")
    #expect(fault.help.contains("`Current`"))
    let lookup = try Environment(name: "lookup")
    _ = try lookup.childFactory("request", seed: Int.self) { try $0.define(Part.self, factory: Part.init) }
    try requireFault(.unknownBean) { try lookup.getBean(Part.self) }
  }

  // MARK: startup

  @Test("A lookup that starts its environment says so before the faults of other beans")
  func startedByALookup() throws {
    try shop.define(instance: 7).define(Taker.self, factory: { (_: Missing) in Taker() })
    let fault = try requireFault(.unknownBean, message: "no bean of type Missing") { try shop.getBean(Int.self) }
    #expect(fault.message.hasPrefix("this call started 'shop', since startup() had not been called; "), "\(fault)")
    let two = try Environment(name: "two")
    try two.define(Taker.self, factory: { (_: Missing) in Taker() }).define(Holder.self, factory: Holder.init)
    #expect(try requireFault(.startupFailed) { try two.getBean(Int.self) }.message.hasPrefix("this call started 'two'"))
    let third = try Environment(name: "third")
    try third.define(Taker.self, factory: { (_: Missing) in Taker() })
    let requests = try third.childFactory("request", seed: Int.self)
    #expect(try requireFault(.unknownBean) { try requests.build(1) }.message.hasPrefix("this call started 'third'"))
    let fourth = try Environment(name: "fourth")
    try fourth.define(Taker.self, factory: { (_: Missing) in Taker() })
    #expect(try !requireFault(.unknownBean) { try fourth.startup() }.message.contains("this call started"))
  }

  @Test("A decorator without a bean to decorate is reported together with its missing parameters")
  func decoratorWithTwoFaults() throws {
    try shop.define(shop.decorate(Part.self, factory: { (part: Part, _: Missing) in part }))
    let fault = try requireFault(.startupFailed) { try shop.startup() }
    let texts = fault.underlying.map { "\($0)" }
    #expect(texts.count == 2)
    #expect(texts.contains { $0.contains("no bean of type Part can be seen") })
    #expect(texts.contains { $0.contains("second parameter: no bean of type Missing") }, "\(texts)")
  }

  // MARK: the user's own error

  @Test("cause(as:) finds the error of a factory at any depth")
  func cause() throws {
    try shop.define(shop.bean(Part.self, lazy: true, factory: { throw Exhausted(seconds: 3) }))
      .define(shop.bean(Holder.self, lazy: true, factory: Holder.init))
    let fault = try requireFault(.creationFailed) { try shop.getBean(Holder.self) }
    #expect(fault.cause(as: Exhausted.self) == Exhausted(seconds: 3))
    #expect(fault.cause(as: CancellationError.self) == nil)
    try shop.shutdown()
  }

  @Test("cause(as:) finds an error among those of several failed releases")
  func causeOfSeveral() throws {
    try shop.define(Part.self, factory: Part.init) { $0.onDestroy { _ in throw Exhausted(seconds: 1) } }
      .define(Missing.self, factory: Missing.init) { $0.onDestroy { _ in throw CancellationError() } }
      .startup()
    let fault = try requireFault(.destructionFailed) { try shop.shutdown() }
    #expect(fault.cause(as: Exhausted.self) == Exhausted(seconds: 1))
    #expect(fault.cause(as: CancellationError.self) != nil)
  }

  // MARK: factories without a seed

  @Test("A factory without a seed opens children without an argument, in every form")
  func seedless() async throws {
    let sessions = try shop.childFactory("session", seed: Void.self) { try $0.define(Part.self, factory: Part.init) }
    let requests = try sessions.childFactory("request", seed: Void.self)
    let session = try sessions.build(())
    let request = try requests.build((), in: session)
    #expect(request.parent === session)
    let handle = try requests.open(in: session)
    try await handle.end()
    let isThere = try await sessions.withChild { child in try child.getBean(Part.self) !== session.getBean(Part.self) }
    #expect(isThere)
    try await requests.withChild(in: session) { #expect($0.parent === session) }
    #expect(try Self.openWithoutSeed(sessions))
    try await shop.shutdown()
  }

  private static func openWithoutSeed(_ sessions: EnvironmentFactory<Void>) throws -> Bool {
    try sessions.withChild { _ in true }
  }
}

private final class Part: Sendable {}
private final class Missing: Sendable {}
private final class Taker: Sendable {}
private final class Holder: Sendable { init(_ part: Part) {} }
private final class Sized: Sendable { init(_ part: Part, size: Int = 8) {} }
private struct Seed: Sendable {}
private struct Other: Sendable {}
