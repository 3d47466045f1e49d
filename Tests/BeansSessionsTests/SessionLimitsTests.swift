import BeansSessions
import Testing

@Suite("The limits of a session store")
struct SessionLimitsTests {
  @Test("An expiry is put off ten times while a session may be idle, and once a minute at most")
  func touchInterval() {
    #expect(SessionLimits(idleLimit: .seconds(50)).touchInterval == .seconds(5))
    #expect(SessionLimits(idleLimit: .seconds(3_600)).touchInterval == .seconds(60))
    #expect(SessionLimits(touchInterval: .zero).touchInterval == .zero)
  }
}
