import TestSupport
import Testing

@testable import Beans

@Suite struct ScopeMakerTests {
  @Test func hostedOnesStayHosted() throws {
    let maker = ScopeMaker { Hosted(name: "request") }
    var seen: [ObjectIdentifier] = []
    for _ in 0..<3 {
      let scope = maker()
      let host = try #require(scope.host)
      #expect(host.name == "request")
      #expect(host.canReleaseHere)
      #expect(host is Hosted)
      #expect(!scope.isCustom)
      host.used()
      #expect((host as? Hosted)?.uses.value == 1)
      seen.append(ObjectIdentifier(host))
      withExtendedLifetime(scope) {}
    }
    #expect(seen.count == 3)
  }

  @Test func otherClassesAreAskedAnew() throws {
    let count = Counter()
    let maker = ScopeMaker {
      count.increment()
      switch count.value % 3 {
      case 0: return Custom(name: "custom")
      case 1: return Hosted(name: "hosted")
      default: return MoreHosted(name: "more")
      }
    }
    for number in 1...9 {
      let scope = maker()
      switch number % 3 {
      case 0: #expect(scope.custom is Custom)
      case 1: #expect(scope.host is Hosted && !(scope.host is MoreHosted))
      default: #expect(scope.host is MoreHosted)
      }
    }
  }

  @Test func scopesAreLetGoOf() throws {
    let died = Counter()
    do {
      let maker = ScopeMaker { Hosted(name: "request", died) }
      for _ in 0..<4 { #expect(maker().host != nil) }
    }
    #expect(died.value == 4)
  }

  private class Custom: AbstractBeanScope, @unchecked Sendable {}  // adds nothing

  private class Hosted: AbstractBeanScope, HostedScope, @unchecked Sendable {  // adds what is `Sendable`
    let uses = Counter()
    private let died: Counter?

    init(name: String, _ died: Counter? = nil) {
      self.died = died
      super.init(name: name)
    }

    deinit { died?.increment() }

    func opened(_ environment: Environment) {}
    func used() { uses.increment() }
    var canReleaseHere: Bool { true }
    func release(_ work: @escaping @Sendable () -> Void) -> Bool { false }
    func release(asynchronously work: @escaping @Sendable () async -> Void) {}
    func closed() {}
  }

  private final class MoreHosted: Hosted, @unchecked Sendable {}  // adds nothing
}
