import Testing

@testable import Storefront

@Suite struct IdGeneratorTests {
  @Test func idsDifferAndAreWellFormed() {
    let ids = IdGenerator()
    let made = (0..<2_000).map { _ in ids.next() }
    #expect(Set(made).count == made.count)
    #expect(made.allSatisfy { $0.utf8.count == 32 })
    // Each of the 32 places takes every digit, so no bits are constant.
    for place in 0..<32 {
      #expect(Set(made.map { Array($0.utf8)[place] }) == Set("0123456789abcdef".utf8))
    }
  }
}
