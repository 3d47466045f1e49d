@_spi(BeansPackage) import BeansErrors
import TestSupport
import Testing

@testable import Beans

/// Parts of an end that are handed over to the thread of a place.
@Suite struct ErrandTests {
  private let journal = Journal()

  /// A place that runs the work that it has accepted when the test calls it.
  private final class Place: AbstractBeanScope, HostedScope, @unchecked Sendable {  // the work is behind a lock
    private let accepted = Locked<[@Sendable () -> Void]>([])
    private let isThere: Bool
    let canReleaseHere: Bool

    init(isThere: Bool, canReleaseHere: Bool) {
      self.isThere = isThere
      self.canReleaseHere = canReleaseHere
      super.init(name: "place")
    }

    func release(_ work: @escaping @Sendable () -> Void) -> Bool {
      if isThere { accepted.withLock { $0.append(work) } }
      return isThere
    }

    func runAccepted() {
      for work in accepted.withLock({ $0 }) { work() }
    }

    func opened(_ environment: Environment) {}
    func used() {}
    func release(asynchronously work: @escaping @Sendable () async -> Void) {}
    /// Drops the work, which retains the place.
    func closed() { accepted.withLock { $0 = [] } }
  }

  private func errand(to place: Place) -> Errand {
    let journal = journal
    return Errand(place) { journal.note($0 ? "there" : "elsewhere") }
  }

  @Test func thePlaceRunsTheWorkOnce() {
    let place = Place(isThere: true, canReleaseHere: false)
    defer { place.closed() }
    errand(to: place).send()
    #expect(journal.entries == [])
    place.runAccepted()
    place.runAccepted()
    #expect(journal.entries == ["there"])
  }

  @Test func theSenderRunsTheWorkOfAPlaceThatNoLongerExists() {
    errand(to: Place(isThere: false, canReleaseHere: true)).send()
    #expect(journal.entries == ["elsewhere"])
  }

  @Test func theSenderRunsTheWorkOfAPlaceWithoutARunningThread() {
    let place = Place(isThere: true, canReleaseHere: true)
    defer { place.closed() }
    errand(to: place).send()
    #expect(journal.entries == ["elsewhere"])
    place.runAccepted()
    #expect(journal.entries == ["elsewhere"])
  }

  @Test func aThreadThatTakesTheWorkFirstRunsIt() {
    let place = Place(isThere: true, canReleaseHere: false)
    defer { place.closed() }
    let errand = errand(to: place)
    errand.send()
    errand.take()?(false)
    let isTaken = errand.take() == nil
    #expect(isTaken)
    place.runAccepted()
    #expect(journal.entries == ["elsewhere"])
  }
}
