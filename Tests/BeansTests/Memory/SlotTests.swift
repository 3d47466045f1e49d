import TestSupport
import Testing

@testable import Beans

@Suite struct SlotTests {
  @Test func oneWordEncodesTheContentOfASlot() {
    let object = Canary(Counter())
    let reference = ObjectReference(unretained: object)
    func facts(_ content: Slot.Content) -> [Bool] {
      [content.isEmpty, content.isFilled, content.isKept, content.claimant != nil]
    }
    #expect(facts(.empty) == [true, false, false, false])
    #expect(facts(.filled(reference)) == [false, true, false, false])
    #expect(facts(.kept) == [false, false, true, false])
    var build = 0
    StackReference.with(&build) { build in
      #expect(facts(.claimed(by: build)) == [false, false, false, true])
      #expect(Slot.Content.claimed(by: build).claimant == build.erased)
    }
    #expect(Slot.Content.filled(reference).object == reference)
    withExtendedLifetime(object) {}
  }

  @Test func slotsHaveNumbers() {
    let block = SlotBlock(slots: 5, values: 2)
    for number in 0..<Int32(5) {
      #expect(block.slots.number(of: block.slots[number], among: 5) == number)
      #expect(block.slots.number(of: block.slots[number], among: Int(number)) == nil)
    }
    #expect(block.slots.number(of: block.value(0), among: 5) == nil)
    #expect(block.slots.number(of: SlotBlock(slots: 1, values: 0).slots[0], among: 5) == nil)
    #expect(block.value(0) != block.value(1))
    withExtendedLifetime(block) {}
  }

  @Test(arguments: [false, true])
  func valuesAreReleasedOnce(early: Bool) {
    let ended = Counter()
    do {
      let block = SlotBlock(slots: 0, values: 3)
      for number in [0, 2] { block.value(number).store(.filled(ObjectReference(Canary(ended)))) }
      #expect(block.value(1).content.isEmpty)
      if early {
        block.releaseValues()
        #expect(ended.value == 2)
        #expect((0..<3).allSatisfy { block.value($0).content.isEmpty })
      }
    }
    #expect(ended.value == 2)
  }
}
