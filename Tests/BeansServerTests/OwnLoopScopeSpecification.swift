import Beans
import BeansEventLoop
import BeansServer
import TestSupport
import Testing

/// `LoopScope` is open: a scope of a loop of one's own takes a few lines.
@Suite("A custom scope of a loop", .timeLimit(.minutes(20)))
struct OwnLoopScopeSpecification {
  private let journal = Journal()
  private let application: Environment
  private static let soon = Duration.milliseconds(20)

  init() throws { application = try Environment(name: "application") }

  private func tenants(
    on loop: EventLoop, deadline: Duration? = nil, idleTimeout: Duration? = nil,
    made: Handed<TenantScope> = Handed()
  ) throws -> EnvironmentFactory<String> {
    let journal = journal
    return try application.childFactory("tenant", seed: String.self) {
      try $0.define($0.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log\(loop.place)") })
      try $0.define(
        $0.bean(Cart.self, factory: { (_: Log) in Cart() }).onDestroy { _ in journal.note("cart\(loop.place)") })
    } scope: {
      let scope = TenantScope(loop: loop, journal, deadline: deadline, idleTimeout: idleTimeout)
      made.value = scope
      return scope
    }
  }

  private func code<R>(_ body: () throws -> R) -> EnvironmentError.Code? {
    do {
      _ = try body()
      return nil
    } catch { return (error as? EnvironmentError)?.code }
  }

  private let releasedOnTheLoop = ["cart on the loop", "log on the loop"]

  /// The releases, without the notes of the scope itself.
  private var releases: [String] { journal.entries.filter { $0 != "tenant ends" } }

  @Test("A scope of a child keeps one instance of each bean and releases them on its loop")
  func child() throws {
    try withLoops { loops in
      let tenant = try tenants(on: loops[0]).build("a")
      #expect(try tenant.getBean(Cart.self) === tenant.getBean(Cart.self))
      tenant.finish()
      try tenant.waitForEnd()
      #expect(releases == releasedOnTheLoop)
      #expect(journal.entries.filter { $0 == "tenant ends" }.count == 1)
    }
  }

  @Test("The finish of a scope ends the child")
  func finish() throws {
    try withLoops { loops in
      let made = Handed<TenantScope>()
      let tenant = try tenants(on: loops[0], made: made).build("a")
      _ = try tenant.getBean(Cart.self)
      made.value?.finish()
      #expect(tenant.isFinished)
      #expect(code { try tenant.getBean(Cart.self) } == .finished)
      try tenant.waitForEnd()
      #expect(releases == releasedOnTheLoop)
    }
  }

  @Test("The deadline of a scope ends the child")
  func deadline() throws {
    try withLoops { loops in
      let tenant = try tenants(on: loops[0], deadline: Self.soon).build("a")
      _ = try? tenant.getBean(Cart.self)
      try tenant.waitForEnd()
      #expect(code { try tenant.getBean(Cart.self) } == .finished)
    }
  }

  @Test("The idle timeout of a scope ends the child")
  func idleTimeout() throws {
    try withLoops { loops in
      let tenant = try tenants(on: loops[0], idleTimeout: Self.soon).build("a")
      _ = try? tenant.getBean(Cart.self)
      try tenant.waitForEnd()
      #expect(code { try tenant.getBean(Cart.self) } == .finished)
    }
  }

  @Test("A registered scope releases its own beans at its deadline, and the application lives on")
  func registered() throws {
    try withLoops { loops in
      let (journal, loop) = (journal, loops[0])
      let released = Gate("release of the cart")
      try application.registerScope(TenantScope(loop: loop, journal, deadline: Self.soon, idleTimeout: nil))
      try application.define(
        application.bean(Cart.self, lazy: true, factory: { Cart() }).scope("tenant").onDestroy { _ in
          journal.note("cart\(loop.place)")
          released.open()
        })
      _ = try application.getBean(Cart.self)
      try released.wait()
      #expect(releases == ["cart on the loop"])
      #expect(code { try application.getBean(Cart.self) } == .finished)
      #expect(!application.isFinished)
      try application.shutdown()
      #expect(releases == ["cart on the loop"])
    }
  }

  @Test("The early finish of a registered scope releases its own beans")
  func earlyFinish() throws {
    try withLoops { loops in
      let (journal, loop) = (journal, loops[0])
      let released = Gate("release of the cart")
      let scope = TenantScope(loop: loop, journal, deadline: nil, idleTimeout: nil)
      try application.registerScope(scope)
      try application.define(
        application.bean(Cart.self, lazy: true, factory: { Cart() }).scope("tenant").onDestroy { _ in
          journal.note("cart\(loop.place)")
          released.open()
        })
      _ = try application.getBean(Cart.self)
      scope.finish()
      try released.wait()
      #expect(releases == ["cart on the loop"])
      #expect(code { try application.getBean(Cart.self) } == .finished)
      try application.shutdown()
    }
  }
}

private final class TenantScope: LoopScope, @unchecked Sendable {  // adds only `Sendable` state
  private let journal: Journal

  init(loop: EventLoop, _ journal: Journal, deadline: Duration?, idleTimeout: Duration?) {
    self.journal = journal
    super.init(name: "tenant", loop: loop, deadline: deadline, idleTimeout: idleTimeout)
  }

  override func finish() {
    journal.note("tenant ends")
    super.finish()
  }
}
