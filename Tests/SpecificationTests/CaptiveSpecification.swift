import Beans
import BeansInject
import Testing

/// Lifetimes: singleton > outer factory's scope > inner factory's scope > prototype.
@Suite("Captive dependencies") struct CaptiveSpecification {
  @FreshEnvironment("application") private var application

  /// Declares requests in sessions.
  private func declareSessions(in application: Environment) throws {
    let sessions = try application.childFactory("session", seed: Int.self)
    _ = try sessions.childFactory("request", seed: String.self)
  }

  @Test("A singleton that holds a request's bean is rejected at startup, with the path")
  func singletonHoldsRequest() throws {
    try declareSessions(in: application)
    let (holder, line) = (application.bean(Holder.self, factory: Holder.init), #line)
    try application.define(holder)
    try application.define(application.bean(Part.self).scope("request"))
    let fault = try requireFault(.captiveDependency, description: "request", through: "Holder", "Part", line: line) {
      try application.startup()
    }
    #expect(fault.path.count == 2)
  }

  @Test("A session's bean that holds a request's bean is rejected")
  func sessionHoldsRequest() throws {
    try declareSessions(in: application)
    try application.define(application.bean(Holder.self, factory: Holder.init).scope("session"))
    try application.define(application.bean(Part.self).scope("request"))
    try requireFault(.captiveDependency) { try application.startup() }
  }

  @Test("Captivity is judged through prototypes")
  func throughPrototypes() throws {
    try declareSessions(in: application)
    try application.define(application.bean(Outer.self, factory: Outer.init(holder:)))
    try application.define(application.bean(Holder.self, factory: Holder.init).scope("prototype"))
    try application.define(application.bean(Part.self).scope("request"))
    let fault = try requireFault(.captiveDependency, through: "Outer", "Holder", "Part") { try application.startup() }
    #expect(fault.path.count == 3)
  }

  @Test("Captivity is judged below a shorter-lived owner as well: request → singleton → request")
  func scopedSingletonScoped() throws {
    try declareSessions(in: application)
    try application.define(application.bean(Outer.self, factory: Outer.init(holder:)).scope("request"))
    try application.define(application.bean(Holder.self, lazy: true, factory: Holder.init))
    try application.define(application.bean(Part.self).scope("request"))
    try requireFault(.captiveDependency, through: "Holder", "Part") { try application.startup() }
  }

  @Test("A captive in a circle is a fault of the bean that holds it, not of those that hold that bean")
  func inACircle() throws {
    try declareSessions(in: application)
    try application.define(application.bean(Outer.self, factory: { (_: Right) in Outer() }))
    try application.define(application.bean(Part.self).scope("request"))
    try application.define(application.bean(Left.self, factory: { (_: Right) in Left() }))
    try application.define(application.bean(Right.self, factory: { (_: Left, _: Part) in Right() }))
    let faults = try startupFaults(of: application)
    #expect(Set(faults.map(\.code)) == [.captiveDependency, .cyclicDependency])
    let captives = faults.filter { $0.code == .captiveDependency }
    #expect(captives.count == 1)
    #expect(captives.first?.path.first?.contains("Right") == true)
  }

  @Test("Captivity is judged through optionals and arrays")
  func throughOptionalsAndArrays() throws {
    let optional = application
    try declareSessions(in: optional)
    try optional.define(optional.bean(Outer.self, factory: { (part: Part?) in Outer() }))
    try optional.define(optional.bean(Part.self).scope("request"))
    try requireFault(.captiveDependency) { try optional.startup() }

    let array = try Environment(name: "application")
    defer { try? array.shutdown() }
    try declareSessions(in: array)
    try array.define(array.bean(Outer.self, factory: { (parts: [Part]) in Outer() }))
    try array.define(array.bean(Part.self))
    try array.define(array.bean(Part.self).scope("session"))
    try requireFault(.captiveDependency) { try array.startup() }
  }

  @Test("Captivity is judged in every form that returns several beans, and through prototypes in them")
  func throughEveryForm() throws {
    try declareSessions(in: application)
    try application.define(application.bean(Part.self, id: "part").scope("request"))
    try application.define(application.bean(Holder.self, id: "holder", factory: Holder.init).scope("prototype"))
    func take<T>(_ type: T.Type, line: UInt = #line) throws {
      try application.define(application.bean(Outer.self, line: line, factory: { (_: T) in Outer() }))
    }
    try take(Set<Part>.self)
    try take([String: Part].self)
    try take(Lazy<[Part]>.self)
    try take([Lazy<Part>].self)
    try take([String: Lazy<Part>].self)
    try take(Lazy<Part>?.self)
    try take([Holder].self)
    try take(Holder?.self)
    try take(Lazy<[Holder]>.self)
    try take([Lazy<Holder>].self)
    try take(Owned<Holder>.self)
    try take([Owned<Holder>].self)
    try take([String: Owned<Holder>].self)
    try application.define(application.bean(Outer.self).property(\.parts, inject: InjectBean()))
    try application.define(application.bean(Outer.self).requires(id: "part"))
    let faults = try startupFaults(of: application)
    #expect(faults.map(\.code) == Array(repeating: .captiveDependency, count: 15))
    #expect(faults.allSatisfy { $0.passes("Outer") && $0.passes("Part") })
    #expect(Set(faults.compactMap { $0.origin?.line }).count == 15)
  }

  @Test("Captivity is judged for properties and pinned arguments")
  func throughPropertiesAndArguments() throws {
    try declareSessions(in: application)
    try application.define(application.bean(Part.self, id: "part").scope("request"))
    try application.define(application.bean(Outer.self).property(\.part, ref: "part"))
    try application.define(application.bean(Outer.self).property(\.part, inject: InjectBean()))
    try application.define(application.bean(Holder.self, factory: Holder.init).argument(0, ref: "part"))
    let faults = try startupFaults(of: application)
    #expect(faults.map(\.code) == [.captiveDependency, .captiveDependency, .captiveDependency])
  }

  @Test("A provider may be held by a longer-lived bean")
  func throughProvider() throws {
    try declareSessions(in: application)
    try application.define(application.bean(Outer.self, factory: { (part: Provider<Part>) in Outer() }))
    try application.define(application.bean(Part.self).scope("request"))
    try application.startup()
  }

  @Test("A shorter-lived bean may hold a longer-lived one")
  func requestHoldsSession() throws {
    let sessions = try application.childFactory("session", seed: Int.self)
    let requests = try sessions.childFactory("request", seed: String.self)
    try application.define(application.bean(Holder.self, factory: Holder.init).scope("request"))
    try application.define(application.bean(Part.self).scope("session"))
    let session = try sessions.build(1)
    let request = try requests.build("/", in: session)
    #expect(try request.getBean(Holder.self).part === session.getBean(Part.self))
    try application.shutdown()
  }

  @Test("A prototype may hold a request's bean; outside a request it cannot be built")
  func prototypeHoldsRequest() throws {
    let requests = try application.childFactory("request", seed: Int.self)
    try application.define(application.bean(Holder.self, factory: Holder.init).scope("prototype"))
    try application.define(application.bean(Part.self).scope("request"))
    try application.startup()
    try requireFault(.scopeNotActive, through: "Holder") { try application.getBean(Holder.self) }
    let isOwn = try requests.withChild(1) { child in try child.getBean(Holder.self).part === child.getBean(Part.self) }
    #expect(isOwn)
  }

  @Test("A singleton cannot be built from a seed")
  func singletonFromSeed() throws {
    _ = try application.childFactory("request", seed: Seed.self)
    try application.define(application.bean(Outer.self, factory: { (seed: Seed) in Outer() }))
    try requireFault(.captiveDependency, .unknownBean, description: "Seed") { try application.startup() }
  }

  @Test("A factory's configure may not declare beans of a longer scope", arguments: ["session", "singleton"])
  func longerScopeInConfigure(scope: String) throws {
    let sessions = try application.childFactory("session", seed: Int.self)
    try requireFault(description: "Part", scope) {
      _ = try sessions.childFactory("request", seed: String.self) { child in
        try child.define(child.bean(Part.self).scope(scope))
      }
      try application.startup()
    }
  }
}

private struct Seed {}

private final class Part: Initializable, Hashable {
  init() {}
  static func == (left: Part, right: Part) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

private final class Holder {
  let part: Part
  init(part: Part) { self.part = part }
}

private final class Left {}

private final class Right {}

private final class Outer: Initializable {
  var part: Part?
  var parts: [Part] = []
  init() {}
  init(holder: Holder) {}
}
