import Beans
import BeansSessions
import BeansTesting
import TestSupport
import Testing

/// The behaviour of a `Sessions` with each store.
@Suite("Requests inside of sessions", .timeLimit(.minutes(20)))
struct StoredSessionTests {
  private final class Visit: Sendable {
    let name: SessionValue<String>
    init(state: SessionState) throws { name = try state.value("name", default: "nobody") }
  }

  private final class NewerVisit: Sendable {
    let name: SessionValue<Int>
    init(state: SessionState) throws { name = try state.value("name", schema: "2", default: 7) }
  }

  /// A store in memory follows the clock of the environment that declares the sessions.
  @Test func sessionsExpireByTheClockOfTheEnvironment() async throws {
    let clock = ManualClock()
    let application = try Environment(name: "application")
    let factory = try application.childFactory("session", seed: SessionState.self) { session in
      try session.define(session.bean(Visit.self, factory: Visit.init))
    }
    try application.useClock(clock).startup()
    let manager = Sessions(factory, store: MemorySessionStore(limits: SessionLimits(idleLimit: .seconds(60))))
    let answer = try await manager.withSession(cookie: nil) { try $0.environment.getBean(Visit.self).name.set("Eve") }
    guard case .set(let id) = answer.cookie else {
      Issue.record("no id was given")
      return
    }
    clock.advance(by: .seconds(59))
    #expect(try await manager.withSession(cookie: id) { $0.isNew }.value == false)
    clock.advance(by: .seconds(61))
    #expect(try await manager.withSession(cookie: id) { $0.isNew }.value)
    try await application.shutdown()
  }

  /// The limit of a shutdown abandons a request: the caller gets the name of the end, and the store keeps the earlier value.
  @Test func anAbandonedRequestSavesNoChange() async throws {
    let store = MemorySessionStore()
    let application = try Environment(name: "application")
    let factory = try application.childFactory("session", seed: SessionState.self) { session in
      try session.define(Visit.self, factory: Visit.init)
    }
    try application.startup()
    let manager = Sessions(factory, store: store)
    let id = try await visit(manager, "Ann")
    let fault = await #expect(throws: EnvironmentError.self) {
      try await manager.withSession(cookie: id) { session in
        try session.environment.getBean(Visit.self).name.set("Eve")
        // The end names the abandoned body in its error.
        let end = await Task.detached { try await application.shutdown(within: .milliseconds(20)) }.result
        if case .success = end { Issue.record("the shutdown has waited for the body") }
      }
    }
    #expect(fault?.code == .finished)
    #expect(fault?.message.contains("limit") == true, "\(fault.map { "\($0)" } ?? "none")")
    let other = try makeManager(store) { try $0.define(Visit.self, factory: Visit.init) }
    #expect(try await name(in: other, id) == "Ann")
  }

  @Test("Requests with a made-up id are given an id of ours", arguments: StoreKind.available)
  func strangersAreNotAdopted(kind: StoreKind) async throws {
    try await withManager(kind) { manager, _ in
      for madeUp in ["", "admin", String(repeating: "a", count: 32), String(repeating: "0", count: 1 << 20)] {
        let answer = try await manager.withSession(cookie: madeUp) { session in
          #expect(session.isNew)
          try session.environment.getBean(Visit.self).name.set("Eve")
        }
        guard case .set(let id) = answer.cookie else {
          Issue.record("no id was given")
          return
        }
        #expect(id != madeUp)
        #expect(try await name(in: manager, id) == "Eve")
        #expect(try await manager.withSession(cookie: madeUp) { $0.isNew }.value)
      }
    }
  }

  @Test("Requests find the values of the old id under the new one", arguments: StoreKind.available)
  func rotation(kind: StoreKind) async throws {
    try await withManager(kind) { manager, _ in
      let old = try await visit(manager, "Ann")
      let answer = try await manager.withSession(cookie: old) { $0.rotate() }
      guard case .set(let new) = answer.cookie else {
        Issue.record("no id was given")
        return
      }
      #expect(try await name(in: manager, new) == "Ann")
      #expect(try await name(in: manager, old) == "nobody")
    }
  }

  @Test("Requests without an id and without a change ask no store", arguments: StoreKind.available)
  func anonymous(kind: StoreKind) async throws {
    try await withManager(kind) { manager, _ in
      for id in [nil, "", "short"] {
        let answer = try await manager.withSession(cookie: id) { try $0.environment.getBean(Visit.self).name.value }
        #expect(answer.cookie == .unchanged)
      }
      #expect(manager.storeUse["loads"] == 0)
      #expect(manager.storeUse["creates"] == 0)
    }
  }

  @Test("Requests find no value if one of another form has been kept", arguments: StoreKind.available)
  func otherForm(kind: StoreKind) async throws {
    try await withManager(kind) { manager, store in
      let id = try await visit(manager, "Ann")
      let newer = try makeManager(store) { try $0.define($0.bean(NewerVisit.self, factory: NewerVisit.init)) }
      let answer = try await newer.withSession(cookie: id) { session in
        #expect(!session.isNew)
        return try session.environment.getBean(NewerVisit.self).name.value
      }
      #expect(answer.value == 7)
      #expect(newer.storeUse["unreadable"] == 1)
    }
  }

  private func name(in manager: Sessions<SessionState>, _ id: String) async throws -> String {
    try await manager.withSession(cookie: id) { try $0.environment.getBean(Visit.self).name.value }.value
  }

  /// The id of a new session with that name in it.
  private func visit(_ manager: Sessions<SessionState>, _ name: String) async throws -> String {
    let answer = try await manager.withSession(cookie: nil) { try $0.environment.getBean(Visit.self).name.set(name) }
    guard case .set(let id) = answer.cookie else { throw RedisProcess.Failure(description: "no id was given") }
    return id
  }

  private func makeManager(
    _ store: any SessionStore, _ configure: (Environment) throws -> Void
  ) throws -> Sessions<SessionState> {
    let application = try Environment(name: "application")
    return Sessions(
      try application.childFactory("session", seed: SessionState.self, configure: configure), store: store)
  }

  private func withManager(
    _ kind: StoreKind, _ body: (Sessions<SessionState>, any SessionStore) async throws -> Void
  ) async throws {
    try await withStore(kind) { test in
      let manager = try makeManager(test.store) { try $0.define($0.bean(Visit.self, factory: Visit.init)) }
      try await body(manager, test.store)
    }
  }
}
