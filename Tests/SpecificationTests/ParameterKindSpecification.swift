import Beans
import Testing

@Suite("Kinds of parameters") struct ParameterKindSpecification {
  @FreshEnvironment private var environment

  @Test("Parameters of nested wrappers are faults at startup, and lookups of them throw the same")
  func invalidShapesAreFaultsAtStartup() throws {
    try environment.define(environment.bean(1))
    try environment.define(environment.bean(String.self, id: "a", factory: { (_: Int??) in "" }))
    try environment.define(environment.bean(String.self, id: "b", factory: { (_: [Provider<Int>]) in "" }))
    try environment.define(environment.bean(String.self, id: "c", factory: { (_: Provider<Int??>) in "" }))
    #expect(faults(of: environment).map(\.code) == [.invalidDeclaration, .invalidDeclaration, .invalidDeclaration])
    let other = try Environment()
    #expect(code { try other.getBean(Int??.self) } == .invalidDeclaration)
    #expect(code { try other.getBean([[Int]].self) } == .invalidDeclaration)
    #expect(try other.getBean(Environment.self) === other)
    #expect(code { try other.getBean(Provider<Int>.self) } == .unknownBean)
  }

  @Test("A provider inside of a collection or an optional is a fault that names the form with the provider outside")
  func providersAreOutermost() throws {
    func invalid<T>(_ type: T.Type) -> String? {
      let error = #expect(throws: EnvironmentError.self) { try environment.getBean(type) }
      return error?.code == .invalidDeclaration ? error?.message : nil
    }
    #expect(invalid([Provider<Int>].self) == "an array of Provider<Int> cannot be injected: write Provider<Array<Int>>")
    #expect(
      invalid(Provider<Int>?.self) == "an optional of Provider<Int> cannot be injected: write Provider<Optional<Int>>")
    #expect(
      invalid([String: Provider<Int>].self)
        == "a dictionary of Provider<Int> cannot be injected: write Provider<Dictionary<String, Int>>")
    #expect(invalid([Current<Int>].self) == "an array of Current<Int> cannot be injected: write Current<Array<Int>>")
    // The message suggests no form that would not be valid either.
    #expect(invalid([Provider<[Int]>].self) == "an array of Provider<Array<Int>> cannot be injected")
  }

  @Test("A provider outside of a collection or an optional returns the beans of the running request")
  func providersOfCollections() throws {
    final class Shelf: Sendable {
      let all: Provider<[String]>
      let byId: Provider<[String: String]>
      let maybe: Provider<String?>
      let current: Current<[String]>
      init(
        all: Provider<[String]>, byId: Provider<[String: String]>, maybe: Provider<String?>, current: Current<[String]>
      ) { (self.all, self.byId, self.maybe, self.current) = (all, byId, maybe, current) }
    }
    try environment.define(environment.bean("outer", id: "outer"))
      .define(environment.bean(Shelf.self, factory: Shelf.init))
    let requests = try environment.childFactory("request", seed: Int.self) { request in
      try request.define(request.bean(String.self, id: "inner", factory: { (seed: Int) in "inner \(seed)" }))
    }
    let shelf = try environment.getBean(Shelf.self)
    #expect(try shelf.all.get() == ["outer"] && shelf.byId.get() == ["outer": "outer"])
    #expect(try shelf.maybe.get() == "outer")
    try requests.withChild(7) { _ throws in
      #expect(try shelf.all.get() == ["inner 7", "outer"])
      #expect(try shelf.byId.get() == ["inner": "inner 7", "outer": "outer"])
      #expect(try shelf.maybe.get() == "inner 7")
      #expect(try shelf.current.get() == ["inner 7", "outer"])
    }
  }

  @Test("Every kind of lookup takes an id")
  func idsWithEveryShape() throws {
    for id in ["a", "b"] { try environment.define(environment.bean(id, id: id)) }
    #expect(try environment.getBean(String.self, byId: "b") == "b")
    #expect(try environment.getBean(String?.self, byId: "b") == "b")
    #expect(try environment.getBean([String].self, byId: "b") == ["b"])
    #expect(code { try environment.getBean(Int.self, byId: "b") } == .typeMismatch)
    #expect(try environment.getBean(Provider<String>.self, byId: "b").get() == "b")
  }

  @Test("A reference pinned to a provider takes effect, and is checked at startup")
  func aReferencePinnedToAProviderTakesEffect() throws {
    for id in ["a", "b"] { try environment.define(environment.bean(id, id: id)) }
    try environment.define(
      environment.bean(Int.self, factory: { (text: Provider<String>) in try text.get() == "b" ? 1 : 0 })
        .argument(0, ref: "b"))
    #expect(try environment.getBean(Int.self) == 1)
    let wrong = try Environment()
    try wrong.define(wrong.bean(Int.self, factory: { (_: Provider<String>) in 1 }).argument(0, ref: "nowhere"))
    #expect(code { try wrong.startup() } == .unknownBean)
  }

  @Test("Requirements on wrappers are faults")
  func requirementsOnWrappersAreFaults() throws {
    try environment.define(environment.bean(1))
    try environment.define(environment.bean("a").requires([Int].self).requires(Int?.self).requires(Provider<Int>.self))
    try environment.define(environment.bean("b", id: "b").requires(Environment.self).requires(Void.self))
    let found = faults(of: environment)
    #expect(found.count == 5)
    #expect(found.allSatisfy { [.unknownBean, .invalidDeclaration].contains($0.code) })
  }

  @Test("Arguments that a factory does not have are faults, and so is one that does not convert")
  func badArgumentIndexesAreFaults() throws {
    try environment.define(
      environment.bean(String.self, factory: { (number: Int) in "\(number)" })
        .argument(-1, value: 1).argument(1, value: 2).argument(Int.max, ref: "x").argument(0, value: "no number"))
    try environment.define(environment.bean(7).argument(0, value: 7))
    let found = faults(of: environment)
    #expect(found.filter { $0.code == .invalidDeclaration }.count == 4)
    #expect(found.filter { $0.code == .conversionFailed }.count == 1)
  }
}
