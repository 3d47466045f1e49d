import Testing

@testable import Beans

@Suite struct IdTableTests {
  private func enter(_ ids: [String], into table: inout IdTable) -> [Int] { ids.map { table.enter(IdKey($0)) } }

  @Test func anEmptyTableKnowsNothing() {
    let table = IdTable()
    #expect(table.number(of: IdKey("a")) == nil)
    table.withView { #expect($0.fetchName(of: IdKey("a").hash) == nil) }
  }

  @Test(arguments: [0, 5_000]) func namesAreNumberedAsTheyCome(reserved: Int) {
    let ids = (0..<5_000).map { "bean-\($0 % 7)-\($0)" }
    var table = IdTable()
    if reserved > 0 { table.reserve(reserved) }
    #expect(enter(ids, into: &table) == Array(0..<5_000))
    // Once more, it is the same ones.
    #expect(enter(ids, into: &table) == Array(0..<5_000))
    #expect(table.names.map(\.id) == ids)
    #expect(ids.indices.allSatisfy { table.number(of: IdKey(ids[$0])) == $0 })
    #expect(table.number(of: IdKey("bean")) == nil)
  }

  @Test(arguments: [("\u{E9}", "e\u{301}"), ("\u{212A}", "K"), ("a\u{37E}", "a;"), ("größe", "gro\u{308}ße")])
  func idsThatAreWrittenInSeveralWaysAreOne(one: String, other: String) {
    var table = IdTable()
    #expect(enter(["first", one, other], into: &table) == [0, 1, 1])
  }

  @Test func idsOfOneHashAreToldApart() {
    var table = IdTable()
    let keys = (0..<100).map { IdKey("bean-\($0)", hash: 7) }
    for (number, key) in keys.enumerated() { #expect(table.enter(key) == number) }
    for (number, key) in keys.enumerated() { #expect(table.number(of: key) == number) }
    #expect(table.number(of: IdKey("bean-100", hash: 7)) == nil)
  }

  @Test func readingAheadFindsTheName() throws {
    var table = IdTable()
    let ids = (0..<1_000).map { "bean-\($0)" }
    _ = enter(ids, into: &table)
    table.withView { view in
      for id in ids { #expect(view.fetchName(of: IdKey(id).hash)?.pointee.id == id) }
    }
  }
}
