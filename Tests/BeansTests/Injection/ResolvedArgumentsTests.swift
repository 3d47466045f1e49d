import TestSupport
import Testing

@testable import Beans

@Suite struct ResolvedArgumentsTests {
  private let counters = Tracked.Counters()

  /// On the stack without asking, and beyond.
  @Test(arguments: [0, 1, 8, 9, 100]) func eachIsTakenOnce(count: Int) {
    var held = (0..<count).map { _ in Tracked(counters) }
    ResolvedArguments.with(count) { arguments in
      arguments.resolve(count) {
        $0.isMultiple(of: 2)
          ? Argument(owning: held[$0], access: .reference) : Argument(borrowing: held[$0], access: .reference)
      }
      var call = Arguments(arguments)
      for index in 0..<count {
        #expect(arguments[index].isOwned == index.isMultiple(of: 2))
        #expect(call.take(as: Tracked.self) === held[index])
      }
    }
    #expect(counters.died.value == 0)
    // Nobody holds them any more.
    held = []
    #expect(counters.died.value == count)
  }

  /// What cannot be had leaves nothing behind.
  @Test func thoseBeforeAFailureAreGivenBack() {
    #expect(throws: Boom.self) {
      try ResolvedArguments.with(3) { arguments in
        try arguments.resolve(3) {
          if $0 == 2 { throw Boom() }
          return Argument(owning: Tracked(counters), access: .reference)
        }
      }
    }
    #expect(counters.died.value == 2)
  }

  @Test func anAbsentOne() {
    ResolvedArguments.with(1) { arguments in
      arguments[0] = Argument(object: nil, access: .reference, isOwned: false)
      var call = Arguments(arguments)
      #expect(call.take(as: Tracked?.self) == nil)
    }
  }

  @Test func keptForManyCalls() {
    do {
      let kept = ResolvedArguments.with(2) { arguments in
        arguments.resolve(2) { index in
          index == 0
            ? Argument(owning: Tracked(counters), access: .reference) : Argument(owning: ValueBox(7), access: .boxed)
        }
        let kept = ResolvedArguments(keeping: arguments, 2)
        for index in 0..<2 { arguments[index].release() }
        return kept
      }
      let again = ResolvedArguments(at: kept.address, 2)
      for _ in 0..<3 {
        var call = Arguments(again)
        _ = call.take(as: Tracked.self)
        #expect(call.take(as: Int.self) == 7)
      }
      #expect(counters.died.value == 0)
      again.deallocate(2)
    }
    #expect(counters.died.value == 1)
  }

  /// Nothing is kept of a product that takes nothing, but there is an address.
  @Test func noneKept() {
    let kept = ResolvedArguments.with(0) { ResolvedArguments(keeping: $0, 0) }
    ResolvedArguments(at: kept.address, 0).deallocate(0)
  }
}
