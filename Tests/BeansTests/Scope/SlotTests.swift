import TestSupport
import Synchronization
import Testing

@testable import Beans

@Suite struct SlotTests {
  @Test func anEmptySlot() {
    let slot = Slot()
    #expect(slot.object == nil)
    #expect(Slot.builder(slot.word.load(ordering: .relaxed)) == nil)
  }

  @Test func aSlotUnderConstructionNamesItsThread() {
    let slot = Slot()
    slot.word.store(Slot.mark(0x1000), ordering: .relaxed)
    #expect(slot.object == nil)
    #expect(Slot.builder(slot.word.load(ordering: .relaxed)) == 0x1000)
  }

  @Test func aFilledSlotAnswersTheObjectUnretained() {
    let counters = Tracked.Counters()
    let slot = Slot()
    let object = Unmanaged.passRetained(Tracked(counters))
    slot.word.store(UInt(bitPattern: object.toOpaque()), ordering: .releasing)
    #expect(slot.object == UnsafeRawPointer(object.toOpaque()))
    #expect(Slot.builder(slot.word.load(ordering: .relaxed)) == nil)
    object.release()
    #expect(counters.died.value == 1)
  }

  @Test func aSlotIsOneWord() {
    #expect(MemoryLayout<Slot>.size == MemoryLayout<UInt>.size)
    #expect(MemoryLayout<Slot>.stride == MemoryLayout<UInt>.size)
  }
}
