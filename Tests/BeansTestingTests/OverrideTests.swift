import Beans
@_spi(BeansPackage) import BeansErrors
import BeansTesting
import Testing

@Suite("Overrides") struct OverrideTests {
  /// Returns the error of the startup of the library's declarations with these overrides.
  private func fault(
    declaring declare: (Environment) throws -> Void = Library.declare,
    _ overriding: (inout TestOverrides) throws -> Void
  ) async throws -> String {
    let error = await #expect(throws: EnvironmentError.self) {
      try await withTestEnvironment(declare, overriding: overriding) { _ in }
    }
    return try #require(error).description
  }

  // MARK: reach of overrides

  @Test("A bean replaces the one that lookups of a protocol find, and is found by its own type")
  func protocols() async throws {
    try await withTestEnvironment(
      Library.declare, overriding: { $0.override((any Library.Shelf).self) { Library.Paper() } }
    ) { library in
      try #expect(library.getBean(Library.Librarian.self).shelf.name == "paper")
      try #expect(library.getBean(Library.Paper.self).name == "paper")
      try #expect(library.getBean((any Library.Shelf).self, byId: "shelf").name == "paper")
    }
  }

  @Test("The replacement of a bean that is known to be Sendable counts as such")
  func sendability() async throws {
    struct Settings: Sendable { let limit: Int }
    final class Tally {}
    func remarks(_ overriding: (inout TestOverrides) -> Void) async throws -> String {
      func declare(_ shop: Environment) throws {
        try shop.define(Settings.self, factory: { Settings(limit: 1) }).define(shop.bean(Tally.self) { Tally() })
      }
      return try await withTestEnvironment(declare, overriding: overriding) { shop in
        shop.report().split(separator: "\n").drop { !$0.contains("shared by threads") }.joined(separator: "\n")
      }
    }
    let declared = try await remarks { _ in }
    #expect(declared.contains("Tally") && !declared.contains("Settings"), "\(declared)")
    let replaced = try await remarks { $0.override(Settings.self) { Settings(limit: 2) } }
    #expect(replaced.contains("Tally") && !replaced.contains("Settings"), "\(replaced)")
  }

  @Test("The replacement of a bean is built of other beans")
  func parameters() async throws {
    final class Copy: Library.Shelf {
      let name: String
      init(_ calendar: Library.Calendar) { name = "copy of \(calendar.today)" }
    }
    try await withTestEnvironment(
      Library.declare,
      overriding: { overrides in
        overrides.override((any Library.Shelf).self) { (calendar: Library.Calendar) in Copy(calendar) }
        overrides.override(Library.Calendar.self) { Library.FixedCalendar() }
      }
    ) { library in
      try #expect(library.getBean(Library.Librarian.self).shelf.name == "copy of 7")
    }
  }

  @Test(
    "Beans of children use overrides of outer environments, and are overridden themselves if factories declare them")
  func children() async throws {
    try await withTestEnvironment(
      Library.declare,
      overriding: { overrides in
        overrides.override(Library.Calendar.self) { Library.FixedCalendar() }
      }
    ) { library in
      let visits = try library.getBean(Library.Visits.self).factory
      try #expect(
        visits.withChild(Library.Reader(name: "Ada")) { try $0.getBean(Library.Loan.self).calendar.today } == 7)
    }
    try await withTestEnvironment(
      Library.declare,
      overriding: { overrides in
        overrides.override(Library.Loan.self) { (calendar: Library.Calendar) in
          Library.Loan(reader: Library.Reader(name: "nobody"), calendar: calendar)
        }
      }
    ) { library in
      let visits = try library.getBean(Library.Visits.self).factory
      try #expect(
        visits.withChild(Library.Reader(name: "Ada")) { try $0.getBean(Library.Loan.self).reader.name } == "nobody")
    }
  }

  @Test("One override reaches each environment that declares the type, or those of one scope")
  func levels() async throws {
    func declare(_ outer: Environment) throws {
      try outer.define(outer.bean(1).id("number"))
      let inner = try outer.childFactory("inner", seed: Void.self) { try $0.define($0.bean(2).id("own")) }
      try outer.define(outer.bean(inner))
    }
    func numbers(_ overriding: (inout TestOverrides) throws -> Void) async throws -> [Int] {
      try await withTestEnvironment(declare, overriding: overriding) { outer in
        let inner = try outer.getBean(EnvironmentFactory<Void>.self)
        return try [outer.getBean(Int.self), inner.withChild(()) { try $0.getBean(Int.self) }]
      }
    }
    #expect(try await numbers { _ in } == [1, 2])
    #expect(try await numbers { $0.override(Int.self) { 7 } } == [7, 7])
    #expect(try await numbers { $0.override(Int.self, in: "inner") { 7 } } == [1, 7])
    #expect(try await numbers { $0.override(Int.self, in: "singleton") { 7 } } == [7, 2])
    #expect(try await numbers { $0.override(Int.self, id: "own") { 7 } } == [1, 7])
  }

  @Test("An id or qualifier selects one of several declarations; its scope, id and preference stay")
  func several() async throws {
    enum Spare {}
    func declare(_ environment: Environment) throws {
      try environment
        .define(environment.bean(1).id("first").primary())
        .define(environment.bean(2).id("second"))
        .define(environment.bean(3).id("third").qualifier(Spare.self))
    }
    func numbers(_ overriding: (inout TestOverrides) throws -> Void) async throws -> [Int] {
      try await withTestEnvironment(declare, overriding: overriding) { environment in
        try #expect(environment.getBean(Int.self) == environment.getBean(Int.self, byId: "first"))
        return try [
          environment.getBean(Int.self), environment.getBean(Int.self, byId: "second"),
          environment.getBean(Qualified<Spare, Int>.self).value,
        ]
      }
    }
    #expect(try await numbers { $0.override(Int.self) { 7 } } == [7, 2, 3])
    #expect(try await numbers { $0.override(Int.self, id: "second") { 7 } } == [1, 7, 3])
    #expect(try await numbers { $0.override(Int.self, qualifier: Spare.self) { 7 } } == [1, 2, 7])
  }

  @Test("A declaration with a template is overridden as a whole, without the template's properties")
  func templates() async throws {
    final class Press { var speed = 1 }
    try await withTestEnvironment(
      { environment in
        try environment
          .define(
            environment.bean(Press.self, id: "any", abstract: true, factory: { Press() }).property(\.speed, value: 5)
          )
          .define(environment.bean(parent: "any", id: "press"))
      }, overriding: { $0.override(Press.self) { Press() } }
    ) { environment in
      try #expect(environment.getBean(Press.self, byId: "press").speed == 1)
    }
  }

  @Test("A decorator wraps the replacement of a bean")
  func decorators() async throws {
    struct Named: Library.Shelf { let name: String }
    try await withTestEnvironment(
      { library in
        try Library.declare(library)
        try library.define(
          library.decorate((any Library.Shelf).self) { (inner: any Library.Shelf) in Named(name: "old \(inner.name)") })
      }, overriding: { $0.override((any Library.Shelf).self) { Library.Paper() } }
    ) { library in
      try #expect(library.getBean(Library.Librarian.self).shelf.name == "old paper")
    }
  }

  @Test("The product of a factory bean is overridden without the factory being built")
  func products() async throws {
    struct Mill: FactoryBean { func create() throws -> Int { throw Broken() } }
    struct Broken: Error {}
    try await withTestEnvironment(
      { try $0.define($0.bean(Mill.self, id: "flour", factory: { Mill() }).target(Int.self)) },
      overriding: { $0.override(Int.self) { 7 } }
    ) { environment in
      try #expect(environment.getBean(Int.self, byId: "flour") == 7)
    }
  }

  @Test("A bean that is private to a module is overridden, too, if it is the only match")
  func modules() async throws {
    struct Cellar: BeanModule {
      func configure(_ environment: Environment) throws {
        try environment.define(environment.bean(Library.Paper.self, factory: { Library.Paper() }).private())
        try environment.define(
          environment.bean(Library.Reader.self, factory: { (paper: Library.Paper) in Library.Reader(name: paper.name) })
        )
      }
    }
    let made = Locked(0)
    try await withTestEnvironment(
      { try $0.include(Cellar()) },
      overriding: {
        $0.override(Library.Paper.self) {
          made.withLock { $0 += 1 }
          return Library.Paper()
        }
      }
    ) { environment in
      try #expect(environment.getBean(Library.Reader.self).name == "paper")
      #expect(made.withLock { $0 } == 1)
      #expect(throws: EnvironmentError.self) { try environment.getBean(Library.Paper.self) }
    }
  }

  @Test("Environments that the code under test creates below have the same overrides")
  func environmentsBelow() async throws {
    try await withTestEnvironment(
      Library.declare, overriding: { $0.override(Library.Calendar.self) { Library.FixedCalendar() } }
    ) { library in
      let branch = try Environment(name: "branch", parent: library)
      try branch.define(branch.bean(Library.Calendar.self, factory: { Library.Calendar() }))
      try #expect(branch.getBean(Library.Calendar.self).today == 7)
      try branch.shutdown()
    }
  }

  @Test("A bean of an asynchronous factory is overridden by a plain one")
  func asynchronous() async throws {
    try await withTestEnvironment(
      { try $0.define($0.bean(Int.self, async: { () async throws -> Int in throw CancellationError() })) },
      overriding: { $0.override(Int.self) { 7 } }
    ) { environment in
      try #expect(environment.getBean(Int.self) == 7)
    }
  }

  // MARK: strict

  @Test("An override that matches no declaration is a fault, which names the near miss and its place")
  func unmet() async throws {
    let line = #line + 1
    let unknown = try await fault { $0.override(Library.FixedCalendar.self) { Library.FixedCalendar() } }
    #expect(unknown.contains("unknownBean: no declaration matches"))
    #expect(unknown.contains("did you mean Calendar (BeansTestingTests/Library.swift:"))
    #expect(unknown.contains("[override FixedCalendar]"))
    #expect(unknown.contains("(BeansTestingTests/OverrideTests.swift:\(line))"))
    let misspelled = try await fault { $0.override((any Library.Shelf).self, id: "shelv") { Library.Paper() } }
    #expect(misspelled.contains("OakShelf 'shelf'"))
    #expect(misspelled.contains("has the id 'shelf'"))
  }

  @Test("An override in the wrong scope is a fault, which names the scope of the bean")
  func wrongScope() async throws {
    let fault = try await fault {
      $0.override(Library.Loan.self, in: "singleton") { () throws -> Library.Loan in throw CancellationError() }
    }
    #expect(fault.contains("Loan (BeansTestingTests/Library.swift:"))
    #expect(fault.contains("lives in scope 'visit'"))
  }

  @Test("An override of a seed, of a template or of an inactive declaration is a fault with that reason")
  func noBeans() async throws {
    let seed = try await fault { $0.override(Library.Reader.self) { Library.Reader(name: "") } }
    #expect(seed.contains("the seed of 'visit' is a Reader"))
    let template = try await fault(
      declaring: {
        try $0.define($0.bean(Library.Paper.self, id: "any", abstract: true, factory: { Library.Paper() }))
      },
      { $0.override(Library.Paper.self) { Library.Paper() } })
    #expect(template.contains("Paper 'any'"))
    #expect(template.contains("is abstract"))
    let inactive = try await fault(
      declaring: { try $0.define($0.bean(Library.Paper.self, factory: { Library.Paper() }).profile("old")) },
      { $0.override(Library.Paper.self) { Library.Paper() } })
    #expect(inactive.contains("inactive: profile 'old' is not active"))
  }

  @Test("An override that could mean several declarations is a fault that lists them")
  func ambiguous() async throws {
    func declare(_ environment: Environment) throws {
      try environment.define(environment.bean(1).id("first")).define(environment.bean(2).id("second"))
    }
    let fault = try await fault(declaring: declare) { $0.override(Int.self) { 7 } }
    #expect(fault.contains("2 declarations match: Int 'first'"))
    #expect(fault.contains("Int 'second'"))
  }

  @Test("An override that loses to another bean is a fault that names it")
  func losing() async throws {
    final class Lunar: Library.Calendar, @unchecked Sendable {}  // adds nothing
    func declare(_ environment: Environment) throws {
      try environment.define(environment.bean(Library.Calendar.self, factory: { Library.Calendar() }))
      try environment.define(environment.bean(Lunar.self, factory: { Lunar() }))
    }
    let losing = try await fault(declaring: declare) { $0.override(Library.Calendar.self) { Library.FixedCalendar() } }
    #expect(losing.contains("a FixedCalendar cannot win in 'test': Lunar (BeansTestingTests/OverrideTests.swift:"))
    try await withTestEnvironment(
      declare,
      overriding: { $0.override(Library.Calendar.self) { () -> Library.Calendar in Library.FixedCalendar() } }
    ) {
      try #expect($0.getBean(Library.Calendar.self).today == 7)
    }
  }

  @Test("An override of another type, of a factory bean, or of an overridden bean is a fault")
  func misuse() async throws {
    #expect(
      try await fault { $0.override((any Library.Shelf).self) { 7 } }.contains("a Int cannot be used as a Shelf"))
    struct Mill: FactoryBean { func create() -> Int { 1 } }
    let factory = try await fault(
      declaring: { try $0.define($0.bean(Mill.self, factory: { Mill() }).target(Int.self)) },
      { $0.override(Mill.self) { Mill() } })
    #expect(factory.contains("is a FactoryBean: override or forbid its product"))
    let twice = try await fault {
      $0.override((any Library.Shelf).self) { Library.Paper() }
      $0.override(Library.OakShelf.self) { () throws -> Library.OakShelf in throw CancellationError() }
    }
    #expect(twice.contains("has been taken by 'override Shelf'"))
  }

  @Test("Faults of overrides are reported together with those of the declarations")
  func together() async throws {
    let all = try await fault(
      declaring: { try $0.define($0.bean(Library.OakShelf.self, factory: Library.OakShelf.init)) },
      {
        $0.override(Int.self) { 1 }
        $0.override(String.self) { "" }
      })
    #expect(all.contains("3 faults"))
  }

  // MARK: forbid

  @Test("A forbidden bean that is needed fails the test, with the path that leads to it")
  func forbidden() async throws {
    let found = await issues {
      try await withTestEnvironment(
        {
          try $0.define($0.bean(Library.Librarian.self, lazy: true, factory: Library.Librarian.init))
          try $0.define($0.bean(Library.OakShelf.self, lazy: true, factory: Library.OakShelf.init))
          try $0.define($0.bean(Library.Calendar.self, factory: { Library.Calendar() }))
          try $0.define($0.bean(Library.Database.self, factory: Library.Database.init))
        },
        overriding: { $0.forbid(Library.Database.self) }
      ) { library in
        try #expect(library.getBean(Library.Calendar.self).today == 20_000)
        // Caught, and a failure all the same; on a thread of its own, too.
        _ = try? library.getBean(Library.Librarian.self)
      }
    }
    #expect(found.count == 1)
    let text = try #require(found.first).text
    #expect(text.contains("Database is forbidden in this test"))
    #expect(text.contains("is needed: Librarian → OakShelf → Database"))
  }

  @Test("A forbidden bean that is not needed has no effect, although it is not lazy")
  func unwanted() async throws {
    try await withTestEnvironment(
      Library.declare,
      overriding: {
        $0.forbid(Library.Database.self)
        $0.override((any Library.Shelf).self) { Library.Paper() }
      }
    ) { library in
      try #expect(library.getBean(Library.Librarian.self).shelf.name == "paper")
    }
  }

  @Test("Forbidding a type without a declaration is a fault")
  func forbiddenNothing() async throws {
    #expect(try await fault { $0.forbid(String.self) }.contains("[forbid String]"))
  }
}
