import Beans
@_spi(BeansPackage) import BeansErrors
import BeansSessions
import BeansTesting
import TestSupport

/// A bean of a session that notes its release.
final class Cart: DisposableBean, Sendable {
  private let journal: Journal
  private let owner: String

  init(journal: Journal, owner: String) { (self.journal, self.owner) = (journal, owner) }

  func preDestroy() throws { journal.note(owner) }
}

/// An application whose sessions have a cart each, a registry of them on a clock that the test moves, and their events.
struct Shop: Sendable {
  static let limit = Duration.seconds(800)
  let application: Environment
  let factory: EnvironmentFactory<String>
  let requests: EnvironmentFactory<Int>
  let sessions: Sessions<String>
  let clock = ManualClock()
  /// The owners of released carts.
  let released = Journal()
  let events = Events()

  init(capacity: Int? = nil, scope: (@Sendable () -> any ChildScope)? = nil) throws {
    application = try Environment(name: "application")
    factory = try application.childFactory(
      "session", seed: String.self,
      configure: { [released] session in
        try session.define(session.bean(Cart.self) { (owner: String) in Cart(journal: released, owner: owner) })
      }, scope: scope)
    requests = try factory.childFactory("request", seed: Int.self)
    sessions = Sessions(
      factory, capacity: capacity, idleLimit: Self.limit, clock: clock, onEvent: { [events] in events.note($0) })
  }

  /// Uses a session, which is opened if needed, at the present time.
  func use(_ id: String) throws {
    try sessions.withSession(id, opening: id) { session in _ = try session.getBean(Cart.self) }
  }

  /// Moves the clock to the next check, and waits for its end where sessions are left.
  func advanceToNextCheck() async throws {
    try await clock.waitForSleepers()
    clock.advanceToNextSleeper()
    try await clock.waitForSleepers()
  }
}

/// The events of a registry, from any thread.
final class Events: Sendable {
  private let events = Locked<[SessionEvent]>([])

  func note(_ event: SessionEvent) { events.withLock { $0.append(event) } }

  var all: [SessionEvent] { events.withLock { $0 } }

  var expired: Set<String> {
    Set(all.compactMap { if case .expired(let id) = $0 { id } else { nil } })
  }
}

extension Environment {
  /// Waits until everything here is released.
  func ended() async {
    await withCheckedContinuation { continuation in whenFinished { continuation.resume() } }
  }
}

/// Waits until `condition` holds, and leaves the thread to other tasks: the timer of a registry is one.
func eventually(_ what: String, _ condition: () -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(120)
  while !condition() {
    guard ContinuousClock.now < deadline else { throw Stuck(description: "never seen: \(what)") }
    await Task.yield()
  }
}

/// Runs `body` on a thread of its own, while other tasks run.
func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    _ = BackgroundThread { continuation.resume(with: Result { try body() }) }
  }
}

/// The counts of sessions, without the other statistics.
struct SessionCounts: Equatable {
  var open = 0
  var opened = 0
  var expired = 0
  var evicted = 0
  var ended = 0
}

extension SessionCounts {
  init(of statistics: ScopeStatistics) {
    self.init(
      open: statistics.open, opened: statistics.opened, expired: statistics.expired, evicted: statistics.evicted,
      ended: statistics.ended)
  }
}
