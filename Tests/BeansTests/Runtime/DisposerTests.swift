import Testing

@testable import Beans

@Suite struct DisposerTests {
  typealias Action = Disposer.Action

  /// The action for each combination of facts, in the order of the columns: asynchronous, limit, deadline, on its loop, can await.
  private static let table: [(facts: String, action: Action)] = [
    ("-----", .release), ("----a", .release), ("---l-", .release), ("---la", .release),
    ("--d--", .releaseAside), ("--d-a", .await), ("--dl-", .releaseOnLoop), ("--dla", .releaseOnLoop),
    ("-t---", .releaseAside), ("-t--a", .await), ("-t-l-", .releaseAside), ("-t-la", .await),
    ("-td--", .releaseAside), ("-td-a", .await), ("-tdl-", .releaseAside), ("-tdla", .await),
    // No caller awaits an asynchronous release here: it is a failure that reports this, in the time of other releases.
    ("s----", .release), ("s--l-", .release), ("s-d--", .releaseAside), ("s-dl-", .releaseOnLoop),
    ("st---", .releaseAside), ("st-l-", .releaseAside), ("std--", .releaseAside), ("stdl-", .releaseAside),
    ("s---a", .await), ("s--la", .await), ("s-d-a", .await), ("s-dla", .await),
    ("st--a", .await), ("st-la", .await), ("std-a", .await), ("stdla", .await),
  ]

  private func disposer(_ facts: String, _ keeper: Disposer.Keeper = .environment) -> Disposer {
    Disposer(
      keeper: keeper, isAsynchronous: facts.contains("s"), hasLimit: facts.contains("t"),
      hasDeadline: facts.contains("d"), isOnLoop: facts.contains("l"), canAwait: facts.contains("a"))
  }

  @Test func theTableContainsEachCombinationOnce() {
    #expect(Set(Self.table.map(\.facts)).count == 32)
    #expect(Self.table.count == 32)
  }

  @Test func eachCombinationHasItsAction() {
    for (facts, action) in Self.table {
      #expect(disposer(facts).next() == action, "\(facts)")
      #expect(disposer(facts, .scope(isHere: true, isFree: true)).next() == action, "\(facts)")
    }
  }

  @Test func aScopeIsReachedAndAwaitedFirst() {
    for (facts, _) in Self.table {
      #expect(disposer(facts, .scope(isHere: false, isFree: false)).next() == .goToScope)
      #expect(disposer(facts, .scope(isHere: false, isFree: true)).next() == .goToScope)
      #expect(disposer(facts, .scope(isHere: true, isFree: false)).next() == .waitForScope)
    }
  }
}
