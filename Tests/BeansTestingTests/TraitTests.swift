import Beans
import BeansTesting
import TestSupport
import Testing

@Suite("The trait") struct TraitTests {
  @Test(
    "A test gets an environment with its overrides",
    .beans(Library.declare) {
      $0.override(Library.Calendar.self) { Library.FixedCalendar() }
    })
  func overrides() throws {
    let librarian = try Test.environment.getBean(Library.Librarian.self)
    #expect(librarian.calendar.today == 7)
    let environment = try Test.environment
    #expect(environment === Environment.current)
  }

  @Test(
    "Each case has an environment of its own",
    .beans { try $0.define($0.bean(Counter.self, factory: { Counter() })) }, arguments: 0..<8)
  func cases(number: Int) throws {
    let counter = try Test.environment.getBean(Counter.self)
    for _ in 0...number { counter.increment() }
    #expect(counter.value == number + 1)
  }

  @Test("A test without the trait has no environment, and the error names the remedy")
  func without() {
    let error = #expect(throws: EnvironmentError.self) { try Test.environment }
    #expect(error?.code == .scopeNotActive)
    #expect(error?.message.contains("add the trait .beans(…)") == true)
  }

  @Test("Where a test requests a child, Test.environment stays the test's own", .beans(Library.declare))
  func children() throws {
    let library = try Test.environment
    try library.getBean(Library.Visits.self).factory.withChild(Library.Reader(name: "Ada")) { visit in
      #expect(Environment.current === visit)
      try #expect(Test.environment === library)
    }
  }

  @Test("Any thread may use the environment", .beans(Library.declare))
  func threads() throws {
    let library = try Test.environment
    let thread = BackgroundThread { try library.getBean(Library.Librarian.self).shelf.name }
    try #expect(thread.value() == "oak")
    let lost = BackgroundThread { code { try Test.environment } }
    try #expect(lost.value() == .scopeNotActive)
  }

  @Test(
    "Each fault of the declarations is an issue of its own, and the test does not run",
    .failing("no declaration matches", "no bean of type Database can be seen"),
    .beans({ try $0.define($0.bean(Library.OakShelf.self, factory: Library.OakShelf.init)) }) {
      $0.override(Library.Calendar.self) { Library.Calendar() }
    })
  func faults() { Issue.record("the test ran") }

  @Test(
    "Open environments at the end are issues of the test", .failing("'visit' is still open"), .beans(Library.declare))
  func left() throws {
    _ = try Test.environment.getBean(Library.Visits.self).factory.build(Library.Reader(name: "Ada"))
  }

  @Test("Overrides without declarations are an issue", .failing("there is nothing to override"), .overrides { _ in })
  func nothing() { Issue.record("the test ran") }
}

@Suite(
  "The trait of a suite",
  .beans(Library.declare) {
    $0.override(Library.Calendar.self) { Library.FixedCalendar() }
  })
struct SuiteTraitTests {
  @Test("The trait of a suite holds for its tests")
  func inherited() throws {
    #expect(try Test.environment.getBean(Library.Librarian.self).calendar.today == 7)
    #expect(try Test.environment.getBean(Library.Librarian.self).shelf.name == "oak")
  }

  @Test(
    "The overrides of a suite are joined by those of a test",
    .overrides { $0.override((any Library.Shelf).self) { Library.Paper() } })
  func joined() throws {
    #expect(try Test.environment.getBean(Library.Librarian.self).calendar.today == 7)
    #expect(try Test.environment.getBean(Library.Librarian.self).shelf.name == "paper")
  }

  @Test(
    "The overrides of a suite yield to those of a test",
    .overrides { $0.override(Library.Calendar.self) { () -> Library.Calendar in Library.Calendar() } })
  func yielding() throws {
    #expect(try Test.environment.getBean(Library.Librarian.self).calendar.today == 20_000)
  }

  @Suite("The trait in an inner suite") struct Inner {
    @Test(
      "The trait holds for inner suites",
      .beans({
        try $0.define($0.bean(7)); try Library.declare($0)
      }))
    func declarations() throws {
      #expect(try Test.environment.getBean(Int.self) == 7)
      #expect(try Test.environment.getBean(Library.Calendar.self).today == 7)
    }
  }
}
