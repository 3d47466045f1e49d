import Beans
@_spi(BeansPackage) import BeansErrors
import Testing

/// A program under test: a library that lends books.
enum Library {
  protocol Shelf: Sendable { var name: String { get } }

  final class Database: DisposableBean, Sendable {
    func preDestroy() {}
  }
  final class OakShelf: Shelf {
    let name = "oak"
    init(database: Database) {}
  }
  final class Paper: Shelf { let name = "paper" }
  class Calendar: @unchecked Sendable {  // nothing in it changes
    var today: Int { 20_000 }
    init() {}
  }
  final class FixedCalendar: Calendar, @unchecked Sendable {  // nothing in it changes
    override var today: Int { 7 }
  }
  final class Librarian: Sendable {
    let shelf: any Shelf
    let calendar: Calendar
    init(shelf: any Shelf, calendar: Calendar) { (self.shelf, self.calendar) = (shelf, calendar) }
  }
  struct Reader: Sendable { let name: String }
  final class Loan: Sendable {
    let reader: Reader
    let calendar: Calendar
    init(reader: Reader, calendar: Calendar) { (self.reader, self.calendar) = (reader, calendar) }
  }
  final class Visits: Sendable {
    let factory: EnvironmentFactory<Reader>
    init(_ factory: EnvironmentFactory<Reader>) { self.factory = factory }
  }

  @Sendable static func declare(_ library: Environment) throws {
    try library
      .define(library.bean(Database.self, factory: Database.init))
      .define(library.bean(OakShelf.self, id: "shelf", factory: OakShelf.init))
      .define(library.bean(Calendar.self, factory: { Calendar() }))
      .define(library.bean(Librarian.self, factory: Librarian.init))
    let visits = try library.childFactory("visit", seed: Reader.self) { visit in
      try visit.define(visit.bean(Loan.self, factory: Loan.init))
    }
    try library.define(library.bean(Visits(visits)))
  }
}

/// Returns the issues recorded while `body` runs, including its error.
func issues(_ body: () async throws -> Void) async -> [Issue] {
  let found = Found()
  do {
    try await withKnownIssue(isIntermittent: true) {
      try await body()
    } matching: { issue in
      found.issues.withLock { $0.append(issue) }
      return true
    }
  } catch {
    // Every issue has matched, an error that was thrown included.
    Issue.record(error)
  }
  return found.issues.withLock { $0 }
}

private final class Found: Sendable { let issues = Locked<[Issue]>([]) }

extension Issue {
  /// The text of the issue: its comments and its error.
  var text: String { (comments.map(\.rawValue) + [error.map { "\($0)" } ?? ""]).joined(separator: " ") }

  var line: Int? { sourceLocation?.line }
}

/// Lets a test fail by exactly these issues: each has to be in the text of one of them, in order.
struct Failing: TestTrait, TestScoping {
  let texts: [String]

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let found = await issues { try await function() }
    #expect(found.count == texts.count, "\(found.map(\.text))", sourceLocation: test.sourceLocation)
    for (issue, text) in zip(found, texts) {
      #expect(issue.text.contains(text), "\(issue.text)", sourceLocation: test.sourceLocation)
    }
  }
}

extension Trait where Self == Failing {
  static func failing(_ texts: String...) -> Self { Failing(texts: texts) }
}
