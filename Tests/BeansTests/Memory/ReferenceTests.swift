import TestSupport
import Testing

@testable import Beans

@Suite("References to objects") struct ReferenceTests {
  @Test("Many retains at once equal as many single ones", arguments: [0, 1, 2, 1_000] as [UInt32])
  func manyCounts(count: UInt32) {
    let ended = Counter()
    let reference = ObjectReference(Canary(ended))
    reference.retain(count)
    for _ in 0..<count { reference.release() }
    #expect(ended.value == 0)
    reference.release()
    #expect(ended.value == 1)
  }

  @Test("Threads that release the counts of an object deallocate it once")
  func threads() throws {
    let ended = Counter()
    for _ in 0..<500 {
      let reference = ObjectReference(Canary(ended))
      reference.retain(3)
      _ = try onThreads(4) { _ in reference.release() }
    }
    #expect(ended.value == 500)
  }

  @Test("A reference is unshared as long as no other strong one exists")
  func unshared() {
    let reference = ObjectReference(Canary(Counter()))
    #expect(reference.isUnshared)
    let object = reference.object
    #expect(!reference.isUnshared)
    withExtendedLifetime(object) {}
    reference.release()
  }

  #if !BEANS_ORDINARY_REFERENCES
    @Test("The runtime adds counts in one step")
    func addsCounts() { #expect(ObjectReference.addsCounts) }
  #endif
}

@Suite("Words with several states") struct TaggedWordTests {
  @Test("A link names its list or the member before it")
  func backLinks() {
    let member = Canary(Counter())
    let reference = ObjectReference(unretained: member)
    for number in [0, 1, 28] { #expect(BackLink.first(ofList: number).list == number) }
    #expect(BackLink.none.list == nil)
    #expect(BackLink.after(reference).list == nil)
    #expect(BackLink.after(reference).member == reference)
    #expect(BackLink.after(reference) != .none)
    withExtendedLifetime(member) {}
  }

  @Test("Optional pointers and readings take one word")
  func sizes() {
    let word = MemoryLayout<UInt>.size
    #expect(MemoryLayout<ObjectReference?>.size == word)
    #expect(MemoryLayout<Unretained<Canary>?>.size == word)
    #expect(MemoryLayout<FrozenReference<Int>?>.size == word)
    #expect(MemoryLayout<StackReference<Int>?>.size == word)
    #expect(MemoryLayout<Slots?>.size == word)
    #expect(MemoryLayout<Reading>.size == word)
    #expect(MemoryLayout<Operand>.stride == 3 * word)
    #expect(MemoryLayout<Argument>.size == 2 * word)
  }
}
