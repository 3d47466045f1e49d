import TestSupport
import Testing

@testable import Beans

@Suite struct ArgumentTests {
  @Test func aReferenceIsReadWithoutLeakOrOverRelease() {
    let counters = Tracked.Counters()
    do {
      let tracked = Tracked(counters)
      let argument = Argument(owning: tracked, access: .reference)
      #expect(argument.value(as: Tracked.self) === tracked)
      #expect(argument.value(as: Tracked?.self) === tracked)
      argument.release()
      let borrowed = Argument(borrowing: tracked, access: .reference)
      #expect(borrowed.value(as: Tracked.self) === tracked)
      // Not owned, so nothing to give back.
      borrowed.release()
      borrowed.release()
      #expect(counters.died.value == 0)
    }
    #expect(counters.died.value == 1)
  }

  @Test func anAbsentReferenceIsNil() {
    let argument = Argument(object: nil, access: .reference, isOwned: false)
    #expect(argument.value(as: Tracked?.self) == nil)
    #expect(argument.consume(as: Tracked?.self) == nil)
    argument.release()
  }

  @Test func boxesOfEverySize() {
    func check<Value: Equatable>(_ value: Value) {
      let argument = Argument(owning: ValueBox(value), access: .boxed)
      #expect(argument.value(as: Value.self) == value)
      argument.release()
      #expect(Argument(owning: ValueBox(value), access: .boxed).consume(as: Value.self) == value)
    }
    check(UInt8(200))
    check(7)
    check("a text that is too long for a small string")
    check([1, 2, 3])
    check(Int?.none)
    check(SIMD8<Int>(repeating: 5))
    check(ObjectIdentifier(Tracked.self))
  }

  @Test func aBoxedObjectIsKeptByWhoReadIt() {
    let counters = Tracked.Counters()
    var value: (Tracked, Int)?
    do {
      let argument = Argument(owning: ValueBox((Tracked(counters), 1)), access: .boxed)
      value = argument.value(as: (Tracked, Int).self)
      argument.release()
    }
    #expect(counters.died.value == 0)
    #expect(value?.1 == 1)
    value = nil
    #expect(counters.died.value == 1)
  }

  @Test func consumingTakesTheReferenceOver() {
    let counters = Tracked.Counters()
    var tracked: Tracked? = Argument(owning: Tracked(counters), access: .reference).consume(as: Tracked.self)
    #expect(tracked != nil)
    #expect(counters.died.value == 0)
    tracked = nil
    #expect(counters.died.value == 1)
    _ = Argument(owning: Tracked(counters), access: .reference).consume(as: Tracked?.self)
    #expect(counters.died.value == 2)
  }

  /// A class-bound existential is larger than a reference, `any Error` is as large as one.
  @Test func existentialsAreReadFromTheirBoxes() {
    let error = Argument(owning: ValueBox<any Error>(Boom()), access: .boxed)
    #expect(error.value(as: (any Error).self) is Boom)
    error.release()
    let counters = Tracked.Counters()
    let bound = Argument(owning: ValueBox<any DisposableBean>(Tracked(counters)), access: .boxed)
    #expect(bound.value(as: (any DisposableBean).self) is Tracked)
    bound.release()
    #expect(counters.died.value == 1)
  }

  @Test func aFixedValueIsFreedWithItsEdge() throws {
    let counters = Tracked.Counters()
    for dependency in [Dependency.of(Tracked.self), Dependency.of(Tracked?.self), Dependency.of([Tracked].self)] {
      let value: Any = dependency.wanted == [Tracked].self ? [Tracked(counters)] : Tracked(counters)
      _ = Edge(dependency, .fixed(FixedValue(.value(value), for: dependency, at: "value")))
    }
    #expect(counters.died.value == 3)
  }
}
