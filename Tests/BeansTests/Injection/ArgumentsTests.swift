import TestSupport
import Synchronization
import Testing

@testable import Beans

/// What a factory takes, wherever it stands.
@Suite struct ArgumentsTests {
  private let counters = Tracked.Counters()

  /// Slots with these beans, each retained once; given back in the end.
  private func inSlots(
    _ beans: [AnyObject], _ body: (UnsafeMutablePointer<Slot>) throws -> Void
  ) rethrows {
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: beans.count)
    for (index, bean) in beans.enumerated() {
      (slots + index).initialize(to: Slot())
      slots[index].word.store(UInt(bitPattern: Unmanaged.passRetained(bean).toOpaque()), ordering: .relaxed)
    }
    defer {
      for index in beans.indices {
        if let object = slots[index].object { Unmanaged<AnyObject>.fromOpaque(object).release() }
      }
      slots.deinitialize(count: beans.count)
      slots.deallocate()
    }
    try body(slots)
  }

  private func take<Value>(_ place: ArgumentPlace, _ own: UnsafeMutablePointer<Slot>, as type: Value.Type) -> Value {
    withUnsafePointer(to: place) {
      var arguments = Arguments($0, own)
      return arguments.take(as: type)
    }
  }

  /// At one address for all calls: the taker retains.
  @Test func aClassAtAnAddress() {
    inSlots([Tracked(counters)]) { slots in
      let place = ArgumentPlace(at: slots, rest: Argument.rest(.reference))
      #expect(!place.isOwn)
      #expect(place.slot == UnsafePointer(slots))
      #expect(place.owned == nil)
      inSlots([Tracked(counters)]) { own in
        for _ in 0..<3 { #expect(take(place, own, as: Tracked.self) === object(slots, 0)) }
        #expect(take(place, own, as: Tracked?.self) === object(slots, 0))
      }
      #expect(counters.died.value == 1)
    }
    #expect(counters.died.value == 2)
  }

  /// Among the call's own words, and paid for: the taker has the reference.
  @Test func aClassThatIsOwned() {
    inSlots([Tracked(counters), Tracked(counters)]) { own in
      let place = ArgumentPlace(own: 1, rest: Argument.rest(.reference) | 1)
      #expect(place.isOwn)
      #expect(place.slot == nil)
      #expect(place.owned == 1)
      for _ in 0..<3 {
        _ = Unmanaged.passUnretained(object(own, 1)).retain()
        #expect(take(place, own, as: Tracked.self) === object(own, 1))
      }
      #expect(counters.died.value == 0)
    }
    #expect(counters.died.value == 2)
  }

  /// The seed, and what stands beyond the slots that are paid for ahead.
  @Test func aClassOfTheCallThatIsNotOwned() {
    inSlots([Tracked(counters)]) { own in
      let place = ArgumentPlace(own: 0, rest: Argument.rest(.reference))
      #expect(place.isOwn)
      #expect(place.owned == nil)
      for _ in 0..<3 { #expect(take(place, own, as: Tracked?.self) === object(own, 0)) }
      #expect(counters.died.value == 0)
    }
    #expect(counters.died.value == 1)
  }

  @Test(arguments: [true, false]) func boxes(isOwn: Bool) {
    inSlots([ValueBox((Tracked(counters), 7))]) { slots in
      let rest = Argument.rest(.boxed)
      let place = isOwn ? ArgumentPlace(own: 0, rest: rest) : ArgumentPlace(at: slots, rest: rest)
      for _ in 0..<3 { #expect(take(place, slots, as: (Tracked, Int).self).1 == 7) }
      let owned = ArgumentPlace(own: 0, rest: rest | 1)
      _ = Unmanaged.passUnretained(object(slots, 0)).retain()
      #expect(take(owned, slots, as: (Tracked, Int).self).1 == 7)
      #expect(counters.died.value == 0)
    }
    #expect(counters.died.value == 1)
  }

  /// As large as a reference, and none.
  @Test func aBoxedWord() {
    inSlots([ValueBox(7), ValueBox<any Error>(Boom())]) { slots in
      let rest = Argument.rest(.boxed)
      #expect(take(ArgumentPlace(own: 0, rest: rest), slots, as: Int.self) == 7)
      #expect(take(ArgumentPlace(at: slots + 1, rest: rest), slots, as: (any Error).self) is Boom)
    }
  }

  @Test func oneAfterTheOther() {
    inSlots([Tracked(counters), ValueBox("seven"), Tracked(counters)]) { slots in
      let places = [
        ArgumentPlace(own: 2, rest: Argument.rest(.reference)),
        ArgumentPlace(at: slots + 1, rest: Argument.rest(.boxed)),
        ArgumentPlace(at: slots, rest: Argument.rest(.reference)),
      ]
      places.withUnsafeBufferPointer { places in
        guard let first = places.baseAddress else { return }
        var arguments = Arguments(first, slots)
        #expect(arguments.take(as: Tracked.self) === object(slots, 2))
        #expect(arguments.take(as: String.self) == "seven")
        #expect(arguments.take(as: Tracked.self) === object(slots, 0))
      }
    }
    #expect(counters.died.value == 2)
  }

  private func object(_ slots: UnsafeMutablePointer<Slot>, _ index: Int) -> AnyObject {
    // Filled by `inSlots`.
    Unmanaged<AnyObject>.fromOpaque(slots[index].object.unsafelyUnwrapped).takeUnretainedValue()
  }
}
