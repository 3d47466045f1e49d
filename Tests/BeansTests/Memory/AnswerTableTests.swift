import Dispatch
import Testing

@testable import Beans

@Suite struct AnswerTableTests {
  private final class Answer: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  /// Plans, of which only the identities matter.
  private static let plans = (0...3).map { Answer($0) }

  private struct First {}
  private struct Second {}

  private static func plan(_ number: Int) -> ObjectIdentifier { ObjectIdentifier(plans[number]) }

  private func number(_ table: borrowing AnswerTable<Answer>, _ plan: Int, _ type: Any.Type, _ id: String?) -> Int? {
    table.find(Self.plan(plan), ObjectIdentifier(type), id)?.with { $0.number }
  }

  @Test func entriesAreDistinguishedByPlanTypeAndId() {
    let table = AnswerTable<Answer>()
    let questions: [(plan: Int, type: Any.Type, id: String?)] = [
      (1, First.self, nil), (2, First.self, nil), (1, Second.self, nil), (1, First.self, "a"), (1, First.self, ""),
      (1, First.self, "a longer id than fits a word or two"),
    ]
    for (number, question) in questions.enumerated() {
      #expect(self.number(table, question.plan, question.type, question.id) == nil)
      table.keep(Answer(number), Self.plan(question.plan), ObjectIdentifier(question.type), question.id)
    }
    for (number, question) in questions.enumerated() {
      #expect(self.number(table, question.plan, question.type, question.id) == number)
    }
    #expect(number(table, 3, First.self, nil) == nil)
    #expect(number(table, 1, First.self, "b") == nil)
  }

  @Test func theFirstEntryOfAKeyIsKept() {
    let table = AnswerTable<Answer>()
    table.keep(Answer(1), Self.plan(1), ObjectIdentifier(First.self), nil)
    table.keep(Answer(2), Self.plan(1), ObjectIdentifier(First.self), nil)
    #expect(number(table, 1, First.self, nil) == 1)
  }

  @Test func theNumberOfEntriesIsLimited() {
    let table = AnswerTable<Answer>()
    for number in 0..<2000 { table.keep(Answer(number), Self.plan(1), ObjectIdentifier(First.self), "\(number)") }
    var kept = 0
    for number in 0..<2000 where self.number(table, 1, First.self, "\(number)") == number { kept += 1 }
    #expect(kept == 1024)
  }

  @Test func entriesAreDeallocatedWithTheTable() {
    weak var answer: Answer?
    do {
      let table = AnswerTable<Answer>()
      let kept = Answer(1)
      table.keep(kept, Self.plan(1), ObjectIdentifier(First.self), nil)
      answer = kept
    }
    #expect(answer == nil)
  }

  @Test func threadsReadWhileOthersAdd() {
    final class Shared: Sendable {
      let table = AnswerTable<Answer>()
    }
    let shared = Shared()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 0..<100 {
        let id = "\(number)"
        shared.table.keep(Answer(number), Self.plan(1), ObjectIdentifier(First.self), id)
        #expect(shared.table.find(Self.plan(1), ObjectIdentifier(First.self), id)?.with { $0.number } == number)
      }
    }
  }
}
