import BeansErrors
import Testing

@Suite struct EditDistanceTests {
  @Test(arguments: [
    ("database", "databse", true), ("database", "database", true), ("database", "dtaabase", true),
    ("database", "data", false), ("abc", "abd", false), ("abcd", "abce", true), ("abcd", "abxy", true),
    ("abcd", "axyz", false), ("", "ab", false), ("", "", false), ("abcdef", "abcd", true), ("naïve", "naive", true),
  ])
  func smallDistancesAreRecognized(left: String, right: String, expected: Bool) {
    #expect(EditDistance.isSmall(left, right) == expected)
    #expect(EditDistance.isSmall(right, left) == expected)
  }
}
