import Testing

@testable import Beans

@Suite struct IdKeyTests {
  @Test(arguments: ["", "a", "service", "services", "a-rather-long-id-of-a-bean", "größe", "服务", "🫘"])
  func equalIdsHaveEqualHashes(id: String) {
    let same = String(decoding: Array(id.utf8), as: UTF8.self)
    #expect(IdKey(id) == IdKey(same))
    #expect(IdKey(id).hash == IdKey(same).hash)
  }

  @Test(arguments: [
    ("\u{E9}", "e\u{301}"), ("\u{212A}", "K"), ("a\u{37E}", "a;"), ("\u{1FEF}", "`"), ("\u{212B}", "\u{C5}"),
  ])
  func idsThatAreWrittenInSeveralWaysAreOne(one: String, other: String) {
    #expect(one == other)
    #expect(IdKey(one) == IdKey(other))
  }

  @Test func manyIdsAreToldApart() {
    let ids = (0..<10_000).map { "layer-\($0 % 4)-bean-\($0)" }
    #expect(Set(ids.map { IdKey($0).hash }).count > 9_990)
  }
}
