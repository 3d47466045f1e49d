import Beans
import BeansTesting
import Testing

@Suite("checkGraph") struct CheckGraphTests {
  @Test("Nothing is recorded of declarations without a fault, and nothing is built")
  func sound() {
    checkGraph(Library.declare)
    checkGraph { try $0.define($0.bean(Int.self, factory: { () throws -> Int in throw CancellationError() })) }
  }

  @Test("Each fault is an issue at its line, those of factories' children included")
  func faults() async {
    let line = #line + 3
    let found = await issues {
      checkGraph { environment in
        try environment.define(environment.bean(Library.OakShelf.self, factory: Library.OakShelf.init))
        _ = try environment.childFactory("visit", seed: Void.self) { visit in
          try visit.define(visit.bean(Library.Loan.self, factory: Library.Loan.init))
        }
      }
    }
    #expect(Set(found.compactMap(\.line)) == [line, line + 2])
    #expect(found.allSatisfy { $0.text.contains("unknownBean") })
  }

  @Test("An error of the declarations is an issue")
  func throwing() async {
    struct Broken: Error {}
    let found = await issues { checkGraph { _ in throw Broken() } }
    #expect(found.count == 1)
    #expect(found.first?.error is Broken)
  }
}
