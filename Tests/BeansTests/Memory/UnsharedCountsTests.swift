import TestSupport
import Testing

@testable import Beans

@Suite struct UnsharedCountsTests {
  @Test func countsAreKnownUnlessTheyAreNotToBe() {
    #if BEANS_ORDINARY_REFERENCES
      #expect(!UnsharedCounts.areKnown)
    #else
      #expect(UnsharedCounts.areKnown)
    #endif
  }

  /// Who else knows the object when its creator releases it.
  enum Other: CaseIterable { case nobody, strong, several, weak, unowned, unmanaged }

  private final class Holder {
    unowned let reference: Canary

    init(_ reference: Canary) { self.reference = reference }
  }

  @Test(arguments: Other.allCases)
  func aReleaseThatMayBeTheLastIsOneRelease(other: Other) {
    // The process learns it at the first environment.
    _ = UnsharedCounts.areKnown
    let ended = Counter()
    let reference = ObjectReference(Canary(ended))
    switch other {
    case .nobody:
      reference.releaseLast()
    case .strong:
      let object = reference.object
      reference.releaseLast()
      #expect(ended.value == 0)
      withExtendedLifetime(object) {}
    case .several:
      reference.retain(3)
      for _ in 0..<3 {
        reference.releaseLast()
        #expect(ended.value == 0)
      }
      reference.releaseLast()
    case .weak:
      weak let object = reference.object as? Canary
      #expect(object != nil)
      reference.releaseLast()
      #expect(object == nil)
    case .unowned:
      let holder = reference.with { Holder($0 as! Canary) }
      #expect(reference.with { holder.reference === $0 })
      reference.releaseLast()
      #expect(ended.value == 1)
      withExtendedLifetime(holder) {}
    case .unmanaged:
      let unmanaged = Unmanaged.passRetained(reference.object)
      reference.releaseLast()
      #expect(ended.value == 0)
      unmanaged.release()
    }
    #expect(ended.value == 1)
  }

  /// What other threads have done with an object is done when the last one ends it.
  @Test func whoeverIsLastEndsIt() throws {
    _ = UnsharedCounts.areKnown
    let ended = Counter()
    for _ in 0..<500 {
      let reference = ObjectReference(Canary(ended))
      reference.retain(3)
      _ = try onThreads(4) { _ in reference.releaseLast() }
    }
    #expect(ended.value == 500)
  }

  @Test(arguments: [0, 1, 2, 1_000] as [UInt32])
  func manyCountsAtOnce(count: UInt32) {
    let ended = Counter()
    let reference = ObjectReference(Canary(ended))
    reference.retain(count)
    for _ in 0..<count { reference.release() }
    #expect(ended.value == 0)
    reference.release()
    #expect(ended.value == 1)
  }
}
