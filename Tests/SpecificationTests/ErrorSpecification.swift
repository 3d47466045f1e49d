import Beans
import Testing

@Suite("Errors") struct ErrorSpecification {
  @FreshEnvironment private var environment

  @Test("Every code has a name of its own and equals only itself")
  func codes() {
    let codes: [(EnvironmentError.Code, String)] = [
      (.unknownBean, "unknownBean"), (.ambiguousBean, "ambiguousBean"), (.duplicateId, "duplicateId"),
      (.unknownClass, "unknownClass"), (.unknownProperty, "unknownProperty"), (.typeMismatch, "typeMismatch"),
      (.noConversion, "noConversion"), (.conversionFailed, "conversionFailed"),
      (.unresolvedPlaceholder, "unresolvedPlaceholder"), (.missingConfiguration, "missingConfiguration"),
      (.cyclicDependency, "cyclicDependency"), (.captiveDependency, "captiveDependency"),
      (.unknownScope, "unknownScope"), (.scopeNotActive, "scopeNotActive"), (.frozen, "frozen"),
      (.finished, "finished"), (.creationFailed, "creationFailed"), (.destructionFailed, "destructionFailed"),
      (.listenerFailed, "listenerFailed"),
      (.invalidDeclaration, "invalidDeclaration"), (.invalidXML, "invalidXML"), (.startupFailed, "startupFailed"),
      (.notReady, "notReady"),
    ]
    #expect(Set(codes.map(\.0)).count == codes.count)
    for (code, name) in codes {
      #expect(code.description == name)
      #expect(code == code)
    }
    #expect(EnvironmentError.Code.finished != .frozen)
  }

  @Test("A description holds the message, the path and the origin")
  func description() throws {
    let (frame, line) = (environment.bean(Frame.self, factory: Frame.init), #line)
    try environment.define(frame)
    let fault = try requireFault(.unknownBean) { try environment.startup() }
    #expect(!fault.message.isEmpty)
    #expect(fault.description.contains(fault.message))
    #expect(fault.description.contains("ErrorSpecification.swift:\(line)"))
    #expect(fault.underlying.isEmpty)
    for step in fault.path { #expect(fault.description.contains(step)) }
  }

  @Test("A description holds the underlying error")
  func underlying() throws {
    try environment.define(environment.bean(Part.self, factory: { throw Boom(name: "flat tyre") }))
    try requireFault(.creationFailed, description: "flat tyre") { try environment.startup() }
  }

  @Test("A path leads from the requested bean inwards to the faulty one")
  func path() throws {
    try environment.define(environment.bean(House.self, lazy: true, factory: House.init))
    try environment.define(environment.bean(Frame.self, lazy: true, factory: Frame.init))
    try environment.define(environment.bean(Part.self, lazy: true, factory: { throw Boom() }))
    try environment.startup()
    let fault = try requireFault(.creationFailed) { try environment.getBean(House.self) }
    try #require(fault.path.count == 3)
    for (step, name) in zip(fault.path, ["House", "Frame", "Part"]) { #expect(step.contains(name)) }
  }

  @Test("A lookup of a type that no bean can have is refused, never a trap")
  func oddTypes() throws {
    try environment.define(environment.bean(Part.self))
    try environment.startup()
    try requireFault { try environment.getBean(Void.self) }
    try requireFault { try environment.getBean((Int, String).self) }
    try requireFault { try environment.getBean((() -> Void).self) }
    try requireFault { try environment.getBean(Part.Type.self) }
    try requireFault { try environment.getBean(Never.self) }
    try requireFault { try environment.getBean(Int.self, byId: "") }
    try requireFault { try environment.getBean([String: Part].self) }
    #expect(try environment.getBean([Int].self).isEmpty)
  }

  @Test("Ids may be any text")
  func oddIds() throws {
    let ids = [" ", "&", "${x}", "a b\n", "ünïcödé 🫘", "→", String(repeating: "x", count: 10_000)]
    for id in ids { try environment.define(environment.bean(Named(name: id), id: id)) }
    for id in ids { #expect(try environment.getBean(Named.self, byId: id).name == id) }
    try requireFault(.unknownBean) { try environment.getBean(Named.self, byId: "  ") }
  }

  @Test("Contradictions in one declaration are faults or harmless, never a trap")
  func contradictions() throws {
    try environment.define(environment.bean(Part.self, id: "p").id("q").scope("prototype").lazy().lazy(false).primary())
    try environment.define(environment.template("t").primary().lazy().requires(id: "q"))
    _ = try environment.getBean(Part.self, byId: "q")
    try requireFault(.unknownBean) { try environment.getBean(Part.self, byId: "p") }
  }

  @Test("An array element or a wrapped bean that is missing is named in the fault, not its wrapper alone")
  func wrappedTypes() throws {
    try requireFault(.unknownBean, description: "Part") { try environment.getBean(Provider<Part>.self).get() }
  }

  @Test("A deep chain of dependencies is no stack overflow", .timeLimit(.minutes(20)))
  func deepChain() throws {
    let depth = 200
    for number in 0..<depth {
      let declaration = environment.bean(
        Knot.self, id: "\(number)", lazy: true, factory: { (next: Knot?) in Knot(next) })
      if number + 1 < depth {
        declaration.argument(0, ref: "\(number + 1)")
      } else {
        declaration.argument(0, value: Knot(nil))
      }
      try environment.define(declaration)
    }
    let first = try environment.getBean(Knot.self, byId: "0")
    #expect(Array(sequence(first: first, next: \.next)).count == depth + 1)
    try requireFault(.unknownBean) { try environment.getBean(Knot.self, byId: "\(depth)") }
  }
}

private final class Part: Initializable { init() {} }

private final class Frame {
  init(part: Part) {}
}

private final class House {
  init(frame: Frame) {}
}

private struct Named { let name: String }

private final class Knot {
  let next: Knot?
  init(_ next: Knot?) { self.next = next }
}
