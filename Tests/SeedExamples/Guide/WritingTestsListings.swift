// Marked listings stand in the article to the letter: see ListingTests.swift.

// listing
import Beans
import BeansTesting
import Testing

// end

struct Library {
  class Calendar: @unchecked Sendable {  // nothing in it changes
    var today: Int { 20_000 }
  }
  final class FixedCalendar: Calendar, @unchecked Sendable {  // nothing in it changes
    override var today: Int { 7 }
  }
  final class Database: Sendable {}
  protocol Shelf: Sendable { var books: [String] { get } }
  final class DatabaseShelf: Shelf {
    let books = ["Middlemarch"]
    init(database: Database) {}
  }
  final class FakeShelf: Shelf { let books = ["Emma"] }
  final class Librarian: Sendable {
    let shelf: any Shelf
    let calendar: Calendar
    init(shelf: any Shelf, calendar: Calendar) { (self.shelf, self.calendar) = (shelf, calendar) }
    func lend() -> String { "\(shelf.books[0]), until day \(calendar.today + 14)" }
  }
  struct Reader: Sendable {}
  final class Loan: Sendable {
    init(_ librarian: Librarian) {}
  }
  final class Reminder: Sendable {
    let clock: any Clock<Duration>
    init(clock: any Clock<Duration>) { self.clock = clock }
    func remind() async throws -> String {
      try await clock.sleep(for: .seconds(14 * 86_400))
      return "Please bring it back."
    }
  }
}

// continued
extension Library {
  static func declare(_ library: Environment) throws {
    try library
      .define(library.bean(Database.self, factory: Database.init))
      .define(library.bean(DatabaseShelf.self, id: "shelf", factory: DatabaseShelf.init))
      .define(library.bean(Calendar.self, factory: { Calendar() }))
      .define(library.bean(Librarian.self, factory: Librarian.init))
      .define(library.bean((any Clock<Duration>).self, factory: { ContinuousClock() }))
      .define(library.bean(Reminder.self, factory: Reminder.init))
    try library.childFactory("visit", seed: Reader.self) { visit in
      try visit.define(Loan.self, factory: Loan.init)
    }
  }
}
// end

// listing
@Suite(.beans(Library.declare)) struct LibrarianTests {
  @Test(.overrides { $0.override((any Library.Shelf).self) { Library.FakeShelf() } })
  func lendsWhatStandsOnTheShelf() throws {
    let librarian = try Test.environment.getBean(Library.Librarian.self)
    #expect(librarian.lend().hasPrefix("Emma"))
  }

  @Test(.overrides { $0.override(Library.Calendar.self) { Library.FixedCalendar() } })
  func lendsForTwoWeeks() throws {
    #expect(try Test.environment.getBean(Library.Librarian.self).lend() == "Middlemarch, until day 21")
  }
}
// end

struct LibraryTests {
  // listing
  @Test func aLoanNeedsNoDatabase() async throws {
    try await withTestEnvironment(
      Library.declare,
      overriding: {
        $0.override((any Library.Shelf).self) { (calendar: Library.Calendar) in Library.FakeShelf() }
        $0.forbid(Library.Database.self)
      }
    ) { library in
      let visits = try library.getBean(EnvironmentFactory<Library.Reader>.self)
      try visits.withChild(Library.Reader()) { visit in
        _ = try visit.getBean(Library.Loan.self)
      }
    }
  }
  // end

  // listing
  @Test func remindsAfterTwoWeeks() async throws {
    let clock = ManualClock()
    try await withTestEnvironment(
      Library.declare, overriding: { $0.override((any Clock<Duration>).self) { () -> any Clock<Duration> in clock } }
    ) { library in
      let reminder = try library.getBean(Library.Reminder.self)
      async let text = reminder.remind()
      try await clock.waitForSleepers()
      clock.advance(by: .seconds(14 * 86_400))
      #expect(try await text == "Please bring it back.")
    }
  }
  // end

  // listing
  @Test func graph() { checkGraph(Library.declare) }
  // end
}
