import Beans
import BeansSessions
import TestSupport
import Testing

/// The calls that are the same in memory and with a store.
@Suite("Sessions in memory and in a store", .timeLimit(.minutes(20)))
struct CookieTests {
  enum Keeping: CaseIterable { case memory, store }

  private struct Boom: Error {}

  private final class Visit: Sendable {
    let name: SessionValue<String>
    init(state: SessionState) throws { name = try state.value("name", default: "nobody") }
  }

  private let application: Environment
  private let factory: EnvironmentFactory<SessionState>

  init() throws {
    application = try Environment(name: "application")
    factory = try application.childFactory("session", seed: SessionState.self) { session in
      try session.define(Visit.self, factory: Visit.init)
    }
  }

  private func make(_ keeping: Keeping) -> Sessions<SessionState> {
    switch keeping {
    case .memory: Sessions(factory)
    case .store: Sessions(factory, store: MemorySessionStore())
    }
  }

  private func name(_ id: String?, in sessions: Sessions<SessionState>) async throws -> String {
    try await sessions.withSession(cookie: id) { try $0.environment.getBean(Visit.self).name.value }.value
  }

  /// Returns the id of a new session with a name.
  private func open(_ name: String, in sessions: Sessions<SessionState>) async throws -> String {
    let answer = try await sessions.withSession(cookie: nil) { session in
      #expect(session.isNew)
      try session.environment.getBean(Visit.self).name.set(name)
    }
    guard case .set(let id) = answer.cookie else { throw Boom() }
    return id
  }

  @Test("A new session is kept under an id of ours if a value has changed, and only then", arguments: Keeping.allCases)
  func kept(keeping: Keeping) async throws {
    let sessions = make(keeping)
    for id in [nil, "admin", String(repeating: "a", count: 32)] {
      let answer = try await sessions.withSession(cookie: id) { try $0.environment.getBean(Visit.self).name.value }
      #expect(answer.value == "nobody" && answer.cookie == .unchanged)
    }
    #expect(sessions.counts.open == 0)
    let made = String(repeating: "b", count: 32)
    let answer = try await sessions.withSession(cookie: made) { session in
      try session.environment.getBean(Visit.self).name.set("Ann")
    }
    guard case .set(let id) = answer.cookie else { throw Boom() }
    #expect(id != made)
    #expect(try await name(id, in: sessions) == "Ann")
    #expect(try await name(made, in: sessions) == "nobody")
    try await application.shutdown()
  }

  @Test("A known session is not new, and its cookie stays", arguments: Keeping.allCases)
  func known(keeping: Keeping) async throws {
    let sessions = make(keeping)
    let id = try await open("Ann", in: sessions)
    let answer = try await sessions.withSession(cookie: id) { session in
      #expect(!session.isNew)
      try session.environment.getBean(Visit.self).name.set("Eve")
    }
    #expect(answer.cookie == .unchanged)
    #expect(try await name(id, in: sessions) == "Eve")
    try await application.shutdown()
  }

  @Test("A request rotates the id of its session, and ends it", arguments: Keeping.allCases)
  func rotatedAndEnded(keeping: Keeping) async throws {
    let sessions = make(keeping)
    let old = try await open("Ann", in: sessions)
    guard case .set(let id) = try await sessions.withSession(cookie: old, { $0.rotate() }).cookie else { throw Boom() }
    #expect(try await name(old, in: sessions) == "nobody")
    #expect(try await name(id, in: sessions) == "Ann")
    #expect(try await sessions.withSession(cookie: id) { $0.end() }.cookie == .removed)
    #expect(try await name(id, in: sessions) == "nobody")
    #expect(sessions.counts.rotated == 1)
    try await application.shutdown()
  }

  @Test("A request that throws neither keeps, rotates nor ends a session", arguments: Keeping.allCases)
  func throwing(keeping: Keeping) async throws {
    let sessions = make(keeping)
    let id = try await open("Ann", in: sessions)
    await #expect(throws: Boom.self) {
      try await sessions.withSession(cookie: id) { session in
        session.rotate()
        session.end()
        throw Boom()
      }
    }
    #expect(try await name(id, in: sessions) == "Ann")
    let opened = sessions.counts.opened
    await #expect(throws: Boom.self) {
      try await sessions.withSession(cookie: nil) { session in
        try session.environment.getBean(Visit.self).name.set("Eve")
        throw Boom()
      }
    }
    #expect(sessions.counts.open == (keeping == .memory ? 1 : 0))
    #expect(sessions.counts.opened >= opened)
    try await application.shutdown()
  }

  @Test("A known id serves a use, a rotation and an end", arguments: Keeping.allCases)
  func byId(keeping: Keeping) async throws {
    let sessions = make(keeping)
    let old = try await open("Ann", in: sessions)
    let before = try await sessions.withSession(old) { session in
      defer { #expect(sessions.find(old) === session) }
      let visit = try session.getBean(Visit.self)
      defer { visit.name.set("Eve") }
      return visit.name.value
    }
    #expect(before == "Ann")
    let id = try await sessions.rotate(old)
    #expect(try await sessions.withSession(old) { _ in } == nil)
    #expect(try await name(id, in: sessions) == "Eve")
    await #expect(throws: EnvironmentError.self) { try await sessions.rotate(old) }
    try await sessions.end(id)
    #expect(sessions.find(id) == nil)
    #expect(try await sessions.withSession(id) { _ in } == nil)
    try await application.shutdown()
  }

  @Test("In memory, a client's session keeps its beans, and has a synchronous form")
  func synchronous() throws {
    let sessions = make(.memory)
    let first = try sessions.withSession(cookie: nil) { session in
      let visit = try session.environment.getBean(Visit.self)
      visit.name.set("Ann")
      return ObjectIdentifier(visit)
    }
    guard case .set(let id) = first.cookie else { throw Boom() }
    let second = try sessions.withSession(cookie: id) { session in
      session.rotate()
      return ObjectIdentifier(try session.environment.getBean(Visit.self))
    }
    #expect(first.value == second.value)
    guard case .set(let next) = second.cookie else { throw Boom() }
    #expect(sessions.find(id) == nil)
    #expect(try sessions.withSession(cookie: next) { $0.end() }.cookie == .removed)
    #expect(sessions.counts.open == 0 && sessions.counts.ended == 1)
    try application.shutdown()
  }

  @Test("In memory, a new session is refused if the capacity is reached and each session is in use")
  func full() async throws {
    let sessions = Sessions(factory, capacity: 1)
    let id = try await open("Ann", in: sessions)
    try await sessions.withSession(id) { _ in
      let fault = await #expect(throws: EnvironmentError.self) { try await open("Eve", in: sessions) }
      #expect(fault?.code == .exhausted)
    }
    #expect(sessions.counts.open == 1)
    #expect(application.statistics().first { $0.scope == "session" }?.open == 1)
    try await application.shutdown()
  }

  /// A store has to be awaited, and has ids of its own only.
  @Test func callsThatAStoreCannotServeThrow() throws {
    let sessions = make(.store)
    let id = String(repeating: "a", count: 32)
    let calls: [() throws -> Void] = [
      { _ = try sessions.withSession(cookie: id) { _ throws in } },
      { _ = try sessions.withSession(id) { _ throws in } },
      { try sessions.withSession(id, opening: SessionState()) { _ throws in } },
      { _ = try sessions.open(id, SessionState()) }, { _ = try sessions.rotate(id) }, { try sessions.end(id) },
    ]
    for call in calls {
      let fault = #expect(throws: EnvironmentError.self) { try call() }
      #expect(fault?.code == .notReady)
    }
    let session = try factory.build(SessionState())
    #expect(!sessions.add(session, as: id))
    #expect(throws: EnvironmentError.self) { try sessions.add(session) }
    session.finish()
    #expect(sessions.hasStore && sessions.counts.opened == 0 && sessions.storeUse["loads"] == 0)
    try application.shutdown()
  }
}
