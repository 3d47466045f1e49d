import Beans
import Testing

@Suite("Releases") struct ReleaseSpecification {
  @Test("Releases run in reverse order despite failures, and each failure is thrown once")
  func releasesOfAnEnvironmentRunInReverseOrderDespiteFailures() throws {
    let environment = try Environment()
    let journal = Journal()
    for number in 0..<5 {
      try environment.define(
        environment.bean(number, id: "\(number)").onDestroy {
          journal.note("\($0)")
          if $0 == 2 { throw Boom() }
        })
    }
    try environment.startup()
    #expect(code { try environment.shutdown() } == .destructionFailed)
    #expect(journal.entries == ["4", "3", "2", "1", "0"])
    #expect(code { try environment.shutdown() } == nil)
  }

  @Test("A subclass that only the factory knows is released as that subclass")
  func aSubclassFromAFactoryIsReleased() throws {
    let environment = try Environment()
    let counters = Tracked.Counters()
    try environment.define(environment.bean(Base.self, factory: { Disposable(counters) as Base })).startup()
    try environment.shutdown()
    #expect(counters.destroyed.value == 1)
  }

  private class Base {}
  private final class Disposable: Base, DisposableBean {
    let counters: Tracked.Counters
    init(_ counters: Tracked.Counters) { self.counters = counters }
    func preDestroy() { counters.destroyed.increment() }
  }
}
