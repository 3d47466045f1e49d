import Beans
import BeansInject
import Testing

/// Any instance handed to `bean(_:)` works, or startup reports the reason.
@Suite("Instances as beans", .timeLimit(.minutes(20)))
struct InstanceDeclarationSpecification {
  @FreshEnvironment private var environment

  private enum Colour: Equatable {
    case red
    case mixed(Int)
  }

  @Test("Tuples, enumerations, closures and Void are beans like any other value")
  func tuplesEnumsClosuresAndVoid() throws {
    try environment.define(environment.bean((1, "a")))
    try environment.define(environment.bean(Colour.mixed(3)))
    let double: (Int) -> Int = { 2 * $0 }
    try environment.define(environment.bean(double))
    try environment.define(environment.bean(()))
    try environment.define(environment.bean(["a": 1]))
    try environment.define(environment.bean("text" as Any))
    #expect(try environment.getBean((Int, String).self) == (1, "a"))
    #expect(try environment.getBean(Colour.self) == .mixed(3))
    #expect(try environment.getBean(((Int) -> Int).self)(4) == 8)
    _ = try environment.getBean(Void.self)
    #expect(try environment.getBean([String: Int].self) == ["a": 1])
    #expect(try environment.getBean(String.self) == "text")
    #expect(try environment.getBean(String?.self) == "text")
    try environment.shutdown()
  }

  @Test("A bean's own type may be neither an optional nor an array nor a wrapper of the container")
  func optionalsArraysAndWrappersAreRefused() throws {
    try environment.define(environment.bean(Optional(1)))
    try environment.define(environment.bean([1, 2]))
    try environment.define(environment.bean(nil as Tracked?))
    try environment.define(environment.bean(environment))
    try environment.define(environment.bean(Optional(Optional(1)) as Any))
    let found = faults(of: environment)
    #expect(found.count == 5, "\(found)")
    #expect(found.allSatisfy { $0.code == .invalidDeclaration })
  }

  @Test("A metatype handed in as an instance is refused")
  func metatypesAreRefused() throws {
    try environment.define(environment.bean(Tracked.self as Any))
    try environment.define(environment.bean((any DisposableBean).self as Any))
    try environment.define(environment.bean(Int.self as Any))
    #expect(faults(of: environment).map(\.code) == [.invalidDeclaration, .invalidDeclaration, .invalidDeclaration])
  }

  @Test("A factory of Never can only throw, and its error arrives")
  func aFactoryOfNeverThrows() throws {
    try environment.define(environment.bean(Never.self, lazy: true, factory: { throw Boom() }))
    #expect(code { try environment.getBean(Never.self) } == .creationFailed)
  }

  @Test("A value has its lifecycle callbacks")
  func valuesHaveLifecycleCallbacks() throws {
    let journal = Journal()
    try environment.define(
      environment.bean(7).postConstruct { journal.note("post \($0)") }.onDestroy { journal.note("destroy \($0)") })
    try environment.startup()
    try environment.shutdown()
    #expect(journal.entries == ["post 7", "destroy 7"])
  }

  @Test("The callbacks of a class's template do not fit a value: a fault of startup")
  func classCallbacksOfATemplateDoNotFitAValue() throws {
    try environment.define(environment.bean(Tracked.self, id: "t", abstract: true).onDestroy { _ in })
    try environment.define(environment.bean(Int.self, parent: "t", factory: { 7 }))
    #expect(faults(of: environment).map(\.code) == [.typeMismatch])
  }

  @Test("A key path may lead through structures, and start at a value")
  func keyPathsThroughStructsAndOnValues() throws {
    try environment.define(environment.bean(Outer.self, factory: Outer.init).property(\.inner.numbers, value: [1, 2]))
    // No other code uses it.
    nonisolated(unsafe) let shared = Outer()
    try environment.define(
      environment.bean(Handle.self, factory: { Handle(target: shared) }).property(\.target.name, value: "set"))
    #expect(try environment.getBean(Outer.self).inner.numbers == [1, 2])
    _ = try environment.getBean(Handle.self)
    #expect(shared.name == "set")
  }

  @Test("Optional, array and twice optional properties are set by key path")
  func propertiesOfWrapperShapes() throws {
    try environment.define(environment.bean(5))
    try environment.define(
      environment.bean(Shapes.self, factory: Shapes.init)
        .property(\.maybe, inject: InjectBean()).property(\.all, inject: InjectBean())
        .property(\.absent, inject: InjectBean()).property(\.nested, value: .some(nil)))
    let shapes = try environment.getBean(Shapes.self)
    #expect(shapes.maybe == 5)
    #expect(shapes.all == [5])
    #expect(shapes.absent == nil)
    #expect(shapes.nested == .some(nil))
    try environment.shutdown()
  }

  /// Each child of a factory gets the instance; the end of one of them does not take it from the others.
  @Test("An instance declared for a factory's children serves all of them, in sequence")
  func anInstanceDeclaredForAFactorysChildrenServesAllOfThem() throws {
    let factory = try environment.childFactory("request", seed: Int.self) { try $0.define($0.bean("constant")) }
    for number in 0..<3 {
      let child = try factory.build(number)
      #expect(try child.getBean(String.self) == "constant")
      try child.shutdown()
    }
    try environment.shutdown()
  }

  private struct Inner { var numbers: [Int] = [] }
  private final class Outer {
    var inner = Inner()
    var name = ""
  }
  private struct Handle { let target: Outer }
  private final class Shapes {
    var maybe: Int?
    var all: [Int] = []
    var absent: Tracked?
    var nested: Int??
  }
}
