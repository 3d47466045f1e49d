@_spi(BeansPackage) import BeansErrors
import Testing

@Suite struct UnguessableIdTests {
  @Test func idsDifferAndAreWellFormed() {
    let made = (0..<2_000).map { _ in UnguessableId.make() }
    #expect(Set(made).count == made.count)
    #expect(made.allSatisfy(UnguessableId.hasForm))
    // Each of the 32 places takes every digit, so no bits are constant.
    for place in 0..<32 { #expect(Set(made.map { Array($0.utf8)[place] }).count == 16) }
  }

  @Test(arguments: ["", "abc", String(repeating: "g", count: 32), String(repeating: "A", count: 32)])
  func idsFromElsewhereAreRecognized(text: String) {
    #expect(!UnguessableId.hasForm(text))
  }
}
