import Testing

@testable import Beans

@Suite struct DisposalTests {
  /// The way for each combination of facts, in the order of the columns: asynchronous, limit, deadline, on its loop, can await.
  private static let table: [(facts: String, way: Disposal)] = [
    ("-----", .here), ("----a", .here), ("---l-", .here), ("---la", .here),
    ("--d--", .aside), ("--d-a", .awaited), ("--dl-", .onLoop), ("--dla", .onLoop),
    ("-t---", .aside), ("-t--a", .awaited), ("-t-l-", .aside), ("-t-la", .awaited),
    ("-td--", .aside), ("-td-a", .awaited), ("-tdl-", .aside), ("-tdla", .awaited),
    // No caller awaits an asynchronous release here: it is a failure that reports this, in the time of other releases.
    ("s----", .here), ("s--l-", .here), ("s-d--", .aside), ("s-dl-", .onLoop),
    ("st---", .aside), ("st-l-", .aside), ("std--", .aside), ("stdl-", .aside),
    ("s---a", .awaited), ("s--la", .awaited), ("s-d-a", .awaited), ("s-dla", .awaited),
    ("st--a", .awaited), ("st-la", .awaited), ("std-a", .awaited), ("stdla", .awaited),
  ]

  private func disposal(_ facts: String) -> Disposal {
    Disposal(
      isAsynchronous: facts.contains("s"), hasLimit: facts.contains("t"), hasDeadline: facts.contains("d"),
      isOnLoop: facts.contains("l"), canAwait: facts.contains("a"))
  }

  @Test func theTableContainsEachCombinationOnce() {
    #expect(Set(Self.table.map(\.facts)).count == 32)
    #expect(Self.table.count == 32)
  }

  @Test func eachCombinationHasItsWay() {
    for (facts, way) in Self.table {
      #expect(disposal(facts) == way, "\(facts)")
    }
  }
}
