import Beans
import BeansEventLoop
import BeansServer
import Glibc
import Synchronization
import TestSupport
import Testing

/// Scopes of a loop that are registered, or defined as a bean, instead of being the life of a factory's child; and the
/// rules that they share with the scope objects of children.
@Suite("Scopes of a loop", .timeLimit(.minutes(20)))
struct LoopScopeSpecification {
  private let journal = Journal()
  private let application: Environment
  private static let soon = Duration.milliseconds(20)
  private static let never = Duration.seconds(3_600)

  init() throws { application = try Environment(name: "application") }

  /// The way in which a scope is added to its environment.
  enum Way: CaseIterable { case registered, bean }

  private func install(_ scope: RequestScope, _ way: Way) throws {
    switch way {
    case .registered: try application.registerScope(scope)
    case .bean: try application.define(application.bean(RequestScope.self, factory: { scope }))
    }
  }

  private func install(_ scope: SessionScope, _ way: Way) throws {
    switch way {
    case .registered: try application.registerScope(scope)
    case .bean: try application.define(application.bean(SessionScope.self, factory: { scope }))
    }
  }

  /// A cart of that scope, whose release opens the gate.
  private func declareCart(_ scope: String, on loop: EventLoop) throws -> Gate {
    let journal = journal
    let released = Gate("release of the cart")
    try application.define(
      application.bean(Cart.self, lazy: true, factory: { Cart() }).scope(scope).onDestroy { _ in
        journal.note("cart\(loop.place)")
        released.open()
      })
    return released
  }

  private func code<R>(_ body: () throws -> R) -> EnvironmentError.Code? {
    do {
      _ = try body()
      return nil
    } catch { return (error as? EnvironmentError)?.code }
  }

  // MARK: registered

  @Test(
    "A request scope of the application releases its beans on the loop when its deadline has passed",
    arguments: Way.allCases)
  func deadline(way: Way) throws {
    try withLoops { loops in
      try install(RequestScope(loop: loops[0], deadline: Self.soon), way)
      let released = try declareCart("request", on: loops[0])
      _ = try application.getBean(Cart.self)
      try released.wait()
      #expect(journal.entries == ["cart on the loop"])
      #expect(code { try application.getBean(Cart.self) } == .finished)
      #expect(!application.isFinished)
      try application.shutdown()
      #expect(journal.entries == ["cart on the loop"])
    }
  }

  @Test(
    "A session scope of the application releases unused beans on the loop",
    arguments: Way.allCases)
  func idleTimeout(way: Way) throws {
    try withLoops { loops in
      try install(SessionScope(loop: loops[0], idleTimeout: Self.soon), way)
      let released = try declareCart("session", on: loops[0])
      _ = try application.getBean(Cart.self)
      try released.wait()
      #expect(journal.entries == ["cart on the loop"])
      #expect(code { try application.getBean(Cart.self) } == .finished)
      try application.shutdown()
      #expect(journal.entries == ["cart on the loop"])
    }
  }

  @Test(
    "Beans of a loop's scope that is still alive are released on the loop by the application's shutdown",
    arguments: Way.allCases)
  func shutdown(way: Way) throws {
    try withLoops { loops in
      try install(SessionScope(loop: loops[0], idleTimeout: Self.never), way)
      _ = try declareCart("session", on: loops[0])
      _ = try application.getBean(Cart.self)
      try application.shutdown()
      #expect(journal.entries == ["cart on the loop"])
    }
  }

  @Test(
    "Beans of a loop's scope are released in their place among all others, last created first", arguments: Way.allCases)
  func order(way: Way) throws {
    try withLoops { loops in
      let journal = journal
      try install(RequestScope(loop: loops[0]), way)
      try application.define(
        application.bean(Log.self, lazy: true, factory: { Log() }).onDestroy { _ in journal.note("log") })
      try application.define(
        application.bean(Transaction.self, lazy: true, factory: { Transaction() })
          .onDestroy { _ in journal.note("transaction") })
      _ = try declareCart("request", on: loops[0])
      _ = try application.getBean(Log.self)
      _ = try application.getBean(Cart.self)
      _ = try application.getBean(Transaction.self)
      try application.shutdown()
      #expect(journal.entries == ["transaction", "cart on the loop", "log"])
    }
  }

  @Test(
    "An early finish of a loop's scope releases only its own beans, on the loop", arguments: Way.allCases)
  func earlyFinish(way: Way) throws {
    try withLoops { loops in
      let journal = journal
      let scope = RequestScope(loop: loops[0])
      try install(scope, way)
      let released = try declareCart("request", on: loops[0])
      try application.define(
        application.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log") })
      _ = try application.getBean(Cart.self)
      scope.finish()
      #expect(code { try application.getBean(Cart.self) } == .finished)
      try released.wait()
      #expect(journal.entries == ["cart on the loop"])
      _ = try application.getBean(Log.self)
      try application.shutdown()
      #expect(journal.entries == ["cart on the loop", "log"])
    }
  }

  @Test("Beans of a loop's scope count in report and statistics")
  func counts() throws {
    try withLoops { loops in
      try application.registerScope(RequestScope(loop: loops[0]))
      _ = try declareCart("request", on: loops[0])
      try application.define(application.bean(Log.self, factory: { Log() }))
      _ = try application.getBean(Cart.self)
      #expect(application.report().contains("application: open, 2 beans"))
      #expect(application.statistics().first?.created == 2)
      try application.shutdown()
      #expect(application.statistics().first?.released == 2)
    }
  }

  // MARK: the life of a child

  @Test("One scope object of a loop for two children is an invalid declaration")
  func oneObjectForTwoChildren() throws {
    try withLoops { loops in
      let shared = RequestScope(loop: loops[0])
      let requests = try application.childFactory("request", seed: Int.self, scope: { shared })
      let first = try requests.build(1)
      #expect(code { try requests.build(2) } == .invalidDeclaration)
      #expect(try first.getBean(Int.self) == 1)
      first.finish()
      try first.waitForEnd()
      #expect(code { try requests.build(3) } == .invalidDeclaration)
      #expect(!application.hasOpenChildren)
      try application.shutdown()
    }
  }

  // MARK: two threads that finish the same session

  private static let rounds = 20_000

  /// A meeting of two threads once in each round, as closely as the machine allows.
  private final class Rounds: Sendable {
    private let arrived = Atomic(0)

    func arrive(at round: Int) {
      arrived.add(1, ordering: .acquiringAndReleasing)
      var patience = 1_000
      while arrived.load(ordering: .acquiring) < 2 * (round + 1) {
        patience -= 1
        if patience < 0 { sched_yield() }
      }
    }
  }

  /// Runs `round` on two threads for each session, which both finish; returns the number of lookups that succeeded
  /// afterwards in the results of `round`.
  private func lookupsAfterFinish(
    in sessions: [Environment], _ request: @escaping @Sendable (_ thread: Int, _ round: Int) -> Environment?
  ) throws -> Int {
    let (rounds, found) = (Rounds(), Tally())
    let threads = (0..<2).map { number in
      BackgroundThread {
        for round in sessions.indices {
          rounds.arrive(at: round)
          let request = request(number, round)
          sessions[round].finish()
          guard let request else { continue }
          do {
            _ = try request.getBean(Log.self)
            found.count("found")
          } catch let error as EnvironmentError where error.code == .finished {}
        }
      }
    }
    for thread in threads { try thread.value() }
    return found["found"]
  }

  private func declareSessions(
    on loop: EventLoop
  ) throws -> (sessions: EnvironmentFactory<Int>, requests: EnvironmentFactory<Int>) {
    let sessions = try application.childFactory("session", seed: Int.self) {
      try $0.define($0.bean(Cart.self, factory: { Cart() }))
    } scope: {
      SessionScope(loop: loop, idleTimeout: Self.never)
    }
    let requests = try sessions.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Log.self, factory: { Log() }))
    } scope: {
      RequestScope(loop: loop)
    }
    return (sessions, requests)
  }

  @Test("Once finish of a session has returned, to the first or to the second, lookups in a request below throw")
  func secondFinishAndARequestBelow() throws {
    try withLoops { loops in
      let (sessions, requests) = try declareSessions(on: loops[0])
      let open = try (0..<Self.rounds).map { try sessions.build($0) }
      let below = try open.map { try requests.build(1, in: $0) }
      #expect(try lookupsAfterFinish(in: open) { _, round in below[round] } == 0)
      try application.shutdown()
    }
  }

  @Test("Once finish of a session has returned, a request that was opened meanwhile is finished")
  func secondFinishAndARequestOpenedMeanwhile() throws {
    try withLoops { loops in
      let (sessions, requests) = try declareSessions(on: loops[0])
      let open = try (0..<Self.rounds).map { try sessions.build($0) }
      #expect(
        try lookupsAfterFinish(in: open) { thread, round in
          thread == 0 ? nil : try? requests.build(round, in: open[round])
        } == 0)
      try application.shutdown()
    }
  }
}
