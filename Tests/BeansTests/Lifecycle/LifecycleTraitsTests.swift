import TestSupport
import Testing

@testable import Beans

@Suite struct LifecycleTraitsTests {
  @Test func eachProtocolIsATrait() {
    #expect(LifecycleTraits(of: Int.self) == [])
    #expect(LifecycleTraits(of: Tracked.self) == .disposable)
    #expect(LifecycleTraits(of: Everything.self) == [.aware, .bean, .disposable, .asyncDisposable])
    #expect(LifecycleTraits(of: Child.self) == LifecycleTraits(of: Everything.self))
    #expect(LifecycleTraits(of: Value.self) == [.bean, .disposable])
    #expect(LifecycleTraits(of: (Int, Int).self) == [])
    #expect(LifecycleTraits(of: (any Bean).self) == [])
  }

  @Test func theCacheAgreesOnEveryThread() throws {
    let traits = try onThreads(4) { _ in
      (0..<100).map { $0 % 2 == 0 ? LifecycleTraits.cached(of: Value.self) : LifecycleTraits.cached(of: Int.self) }
        .map(\.rawValue)
    }
    let expected = (0..<100).map { $0 % 2 == 0 ? LifecycleTraits(of: Value.self).rawValue : 0 }
    #expect(traits.allSatisfy { $0 == expected })
  }

  @Test func aSubclassFromAFactoryIsSeen() throws {
    let environment = try Environment()
    let counters = Tracked.Counters()
    try environment.define(environment.bean(Base.self, factory: { Disposable(counters) as Base })).startup()
    try environment.shutdown()
    #expect(counters.destroyed.value == 1)
  }

  private class Everything: EnvironmentAware, Bean, DisposableBean, AsyncDisposableBean {
    var environment: Environment?
    func postConstruct() {}
    func preDestroy() throws {}
    func preDestroy() async throws {}
  }
  private final class Child: Everything {}
  private struct Value: Bean, DisposableBean {
    func postConstruct() {}
    func preDestroy() {}
  }
  private class Base {}
  private final class Disposable: Base, DisposableBean {
    let counters: Tracked.Counters
    init(_ counters: Tracked.Counters) { self.counters = counters }
    func preDestroy() { counters.destroyed.increment() }
  }
}
