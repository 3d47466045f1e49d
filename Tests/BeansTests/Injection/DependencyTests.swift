import TestSupport
import Testing

@testable import Beans

@Suite struct DependencyTests {
  private func shape(_ dependency: Dependency) -> String {
    switch dependency.shape {
    case .one: "one"
    case .optional: "optional"
    case .all: "all"
    case .provider: "provider"
    case .environment: "environment"
    case .configuration: "configuration"
    case .assisted: "assisted"
    case .invalid: "invalid"
    }
  }

  @Test func shapes() {
    func check<Wanted>(_ type: Wanted.Type, _ expected: String, element: Any.Type, isReference: Bool = false) {
      let dependency = Dependency.of(type)
      #expect(shape(dependency) == expected)
      #expect(ObjectIdentifier(dependency.wanted) == ObjectIdentifier(type))
      #expect(ObjectIdentifier(dependency.element) == ObjectIdentifier(element))
      #expect(dependency.isReference == isReference)
      #expect(Dependency.isWrapper(type) == (expected != "one"))
    }
    check(Int.self, "one", element: Int.self)
    check(Tracked.self, "one", element: Tracked.self, isReference: true)
    check((any DisposableBean).self, "one", element: (any DisposableBean).self)
    check(Any.self, "one", element: Any.self)
    check([String: Int].self, "one", element: [String: Int].self)
    check(Int?.self, "optional", element: Int.self)
    check(Tracked?.self, "optional", element: Tracked.self, isReference: true)
    check([Tracked].self, "all", element: Tracked.self)
    check(Provider<Tracked>.self, "provider", element: Tracked.self)
    check(Provider<[Tracked]>.self, "provider", element: Tracked.self)
    check(Provider<Tracked?>.self, "provider", element: Tracked.self)
    check(Environment.self, "environment", element: Environment.self, isReference: true)
    check(Assisted<Tracked>.self, "assisted", element: Tracked.self)
    check(Int??.self, "invalid", element: Int?.self)
    check([Int]?.self, "invalid", element: [Int].self)
    check([[Int]].self, "invalid", element: [Int].self)
    check([Int?].self, "invalid", element: Int?.self)
    check([Provider<Int>].self, "invalid", element: Provider<Int>.self)
    check(Provider<Int>?.self, "invalid", element: Provider<Int>.self)
    check(Assisted<Int>?.self, "invalid", element: Assisted<Int>.self)
    check(Environment?.self, "invalid", element: Environment.self, isReference: true)
  }

  @Test func boxes() throws {
    #expect((Dependency.of(Int.self).box([7]) as? ValueBox<Int>)?.value == 7)
    #expect(Dependency.of(Int.self).box(["text"]) == nil)
    #expect((Dependency.of(Int?.self).box([]) as? ValueBox<Int?>)?.value == .some(nil))
    #expect((Dependency.of(Int?.self).box([7]) as? ValueBox<Int?>)?.value == 7)
    #expect((Dependency.of([Int].self).box([1, 2]) as? ValueBox<[Int]>)?.value == [1, 2])
    #expect(Dependency.of([Int].self).box([1, "2"]) == nil)
  }

  @Test func fixedValues() {
    func read<Wanted>(_ value: Any, _ type: Wanted.Type) -> Wanted? {
      Dependency.of(type).argument(fixed: value)?.consume(as: type)
    }
    #expect(read(7, Int.self) == 7)
    #expect(read("7", Int.self) == nil)
    #expect(read(Optional(7) as Any, Int.self) == 7)
    #expect(read(Int?.none as Any, Int.self) == nil)
    #expect(read(Int?.none as Any, Int?.self) == .some(nil))
    #expect(read(7, Int?.self) == 7)
    #expect(read([1, 2], [Int].self) == [1, 2])
    #expect(read(["a"], [Int].self) == nil)
    #expect(read(Tracked(.init()), (any DisposableBean).self) is Tracked)
    #expect(read(7, (any DisposableBean).self) == nil)
    #expect(read(Int.self, Int.self) == nil)
    #expect(read((), Int.self) == nil)
  }

  @Test func invalidShapesAreFaultsAtStartup() throws {
    let environment = try Environment()
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

  @Test func idsWithEveryShape() throws {
    let environment = try Environment()
    for id in ["a", "b"] { try environment.define(environment.bean(id, id: id)) }
    #expect(try environment.getBean(String.self, byId: "b") == "b")
    #expect(try environment.getBean(String?.self, byId: "b") == "b")
    #expect(try environment.getBean([String].self, byId: "b") == ["b"])
    #expect(code { try environment.getBean(Int.self, byId: "b") } == .typeMismatch)
    #expect(try environment.getBean(Provider<String>.self, byId: "b").get() == "b")
  }

  @Test func aReferencePinnedToAProviderIsHeeded() throws {
    let environment = try Environment()
    for id in ["a", "b"] { try environment.define(environment.bean(id, id: id)) }
    try environment.define(
      environment.bean(Int.self, factory: { (text: Provider<String>) in try text.get() == "b" ? 1 : 0 })
        .argument(0, ref: "b"))
    #expect(try environment.getBean(Int.self) == 1)
    let wrong = try Environment()
    try wrong.define(
      wrong.bean(Int.self, factory: { (_: Provider<String>) in 1 }).argument(0, ref: "nowhere"))
    #expect(code { try wrong.startup() } == .unknownBean)
  }

  @Test func requirementsOnWrappersAreFaults() throws {
    let environment = try Environment()
    try environment.define(environment.bean(1))
    try environment.define(environment.bean("a").requires([Int].self).requires(Int?.self).requires(Provider<Int>.self))
    try environment.define(environment.bean("b", id: "b").requires(Environment.self).requires(Void.self))
    let found = faults(of: environment)
    #expect(found.count == 5)
    #expect(found.allSatisfy { [.unknownBean, .invalidDeclaration].contains($0.code) })
  }

  @Test func badArgumentIndexesAreFaults() throws {
    let environment = try Environment()
    try environment.define(
      environment.bean(String.self, factory: { (number: Int) in "\(number)" })
        .argument(-1, value: 1).argument(1, value: 2).argument(Int.max, ref: "x").argument(0, value: "no number"))
    try environment.define(environment.bean(7).argument(0, value: 7))
    let found = faults(of: environment)
    #expect(found.filter { $0.code == .invalidDeclaration }.count == 4)
    #expect(found.filter { $0.code == .conversionFailed }.count == 1)
  }
}
