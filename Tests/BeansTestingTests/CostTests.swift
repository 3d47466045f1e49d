import Beans
import BeansTesting
import Glibc
import Synchronization
import Testing

/// The cost of an environment for a test, beside the same objects made by hand. Prints it if `BEANS_TESTING_CASES`
/// gives the number of cases to measure: in a release build, some thousands.
@Suite("The cost of a case", .serialized) struct CostTests {
  final class Part<Kind, Step>: Sendable {
    let below: [any Sendable]
    init(_ below: any Sendable...) { self.below = below }
  }
  struct A {}
  struct B {}
  struct C {}
  struct D {}
  struct E {}

  private let cases = getenv("BEANS_TESTING_CASES").flatMap { Int(String(cString: $0)) } ?? 2

  /// Declares five beans for each of the kinds, of which each takes the one before.
  @Sendable private static func declare(_ environment: Environment) throws {
    func declare<Kind>(_ kind: Kind.Type) throws {
      try environment
        .define(environment.bean(Part<Kind, A>.self, factory: { Part<Kind, A>() }))
        .define(environment.bean(Part<Kind, B>.self, factory: { (below: Part<Kind, A>) in Part<Kind, B>(below) }))
        .define(environment.bean(Part<Kind, C>.self, factory: { (below: Part<Kind, B>) in Part<Kind, C>(below) }))
        .define(environment.bean(Part<Kind, D>.self, factory: { (below: Part<Kind, C>) in Part<Kind, D>(below) }))
        .define(environment.bean(Part<Kind, E>.self, factory: { (below: Part<Kind, D>) in Part<Kind, E>(below) }))
    }
    try declare(Int8.self)
    try declare(Int16.self)
    try declare(Int32.self)
    try declare(Int64.self)
    try declare(UInt8.self)
    try declare(UInt16.self)
    try declare(UInt32.self)
    try declare(UInt64.self)
    try declare(Float.self)
    try declare(Double.self)
  }

  private static func makeByHand() -> [any Sendable] {
    func make<Kind>(_ kind: Kind.Type) -> any Sendable {
      Part<Kind, E>(Part<Kind, D>(Part<Kind, C>(Part<Kind, B>(Part<Kind, A>()))))
    }
    return [
      make(Int8.self), make(Int16.self), make(Int32.self), make(Int64.self), make(UInt8.self), make(UInt16.self),
      make(UInt32.self), make(UInt64.self), make(Float.self), make(Double.self),
    ]
  }

  /// The median time of a case.
  private func measure(_ name: String, _ body: () async throws -> Void) async throws {
    var times: [Duration] = []
    for _ in 0..<cases { times.append(try await ContinuousClock().measure { try await body() }) }
    let median = times.sorted()[times.count / 2]
    if cases > 2 { print("\(name): \(median / .nanoseconds(1) / 1_000) µs a case") }
  }

  @Test("Fifty beans: by hand, in an environment, and in an environment for tests")
  func fifty() async throws {
    try await measure("by hand") { withExtendedLifetime(Self.makeByHand()) {} }
    try await measure("declared, started and shut down") {
      let environment = try Environment()
      try Self.declare(environment)
      try environment.startup()
      try environment.shutdown()
    }
    try await measure("withTestEnvironment") {
      try await withTestEnvironment(Self.declare) { environment in
        #expect(environment.statistics().first?.created == 50)
      }
    }
    try await measure("withTestEnvironment, five overrides") {
      try await withTestEnvironment(
        Self.declare,
        overriding: {
          $0.override(Part<Int8, A>.self) { Part<Int8, A>() }
          $0.override(Part<Int16, A>.self) { Part<Int16, A>() }
          $0.override(Part<Int32, A>.self) { Part<Int32, A>() }
          $0.override(Part<Int64, A>.self) { Part<Int64, A>() }
          $0.override(Part<Float, A>.self) { Part<Float, A>() }
        }
      ) { environment in
        #expect(environment.statistics().first?.created == 50)
      }
    }
  }

  @Test("A library of five beans and a factory")
  func library() async throws {
    try await measure("library by hand") {
      let shelf = Library.OakShelf(database: Library.Database())
      withExtendedLifetime(Library.Librarian(shelf: shelf, calendar: Library.Calendar())) {}
    }
    try await measure("library, withTestEnvironment") {
      try await withTestEnvironment(Library.declare) { library in
        try #expect(library.getBean(Library.Librarian.self).shelf.name == "oak")
      }
    }
  }
}
