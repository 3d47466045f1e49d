import BeansLogging
import Testing

@Suite struct LevelTests {
  @Test func levelsAreOrderedBySeverity() {
    let levels: [Level] = [.all, .debug, .info, .warn, .error, .fatal, .off]
    #expect(levels.sorted() == levels)
    #expect(Level.allCases == levels)
    #expect(levels.map(\.description) == ["ALL", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"])
  }

  @Test func levelsOfTheOriginalExamplesAreInCapitals() {
    #expect([.ALL, .WARN, .OFF] == [Level.all, .warn, .off])
  }
}
