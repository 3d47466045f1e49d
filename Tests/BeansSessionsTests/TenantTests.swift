import Beans
import BeansSessions
import TestSupport
import Testing

@Suite("Kept sessions below a tenant", .timeLimit(.minutes(20)))
struct TenantTests {
  private final class Visit: Sendable {
    let tenant: String
    let name: SessionValue<String>

    init(state: SessionState, tenant: Tenant) throws {
      self.tenant = tenant.name
      name = try state.value("name", default: "nobody")
    }
  }

  private struct Tenant: Sendable { let name: String }

  @Test("An id of one tenant is unknown in another one that shares the store", arguments: StoreKind.available)
  func strangers(kind: StoreKind) async throws {
    try await withStore(kind) { test in
      let application = try Environment(name: "application")
      let tenants = try application.childFactory("tenant", seed: Tenant.self)
      let sessions = try tenants.childFactory("session", seed: SessionState.self) { session in
        try session.define(session.bean(Visit.self, factory: Visit.init))
      }
      let managers = try ["acme", "zeta"].map { name in
        Sessions(sessions, in: try tenants.build(Tenant(name: name)), named: name, store: test.store)
      }
      let answer = try await managers[0].withSession(cookie: nil) { session in
        try session.environment.getBean(Visit.self).name.set("Ann")
      }
      guard case .set(let id) = answer.cookie else {
        Issue.record("no id was given")
        return
      }
      let own = try await managers[0].withSession(cookie: id) { session in
        let visit = try session.environment.getBean(Visit.self)
        return "\(visit.name.value) of \(visit.tenant)"
      }
      #expect(own.value == "Ann of acme")
      let foreign = try await managers[1].withSession(cookie: id) { session in
        let visit = try session.environment.getBean(Visit.self)
        return "\(visit.name.value) of \(visit.tenant), \(session.isNew)"
      }
      #expect(foreign.value == "nobody of zeta, true")
      // A rotation and an end stay below the tenant.
      let rotated = try await managers[0].withSession(cookie: id) { $0.rotate() }
      guard case .set(let other) = rotated.cookie else {
        Issue.record("no id was given")
        return
      }
      #expect(try await managers[1].withSession(cookie: other) { $0.isNew }.value)
      #expect(try await managers[0].withSession(cookie: other) { $0.end() }.cookie == .removed)
      #expect(try await managers[0].withSession(cookie: other) { $0.isNew }.value)
      try await application.shutdown()
    }
  }
}
