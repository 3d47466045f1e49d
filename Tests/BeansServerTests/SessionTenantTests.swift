import Beans
import BeansServer
import BeansSessions
import TestSupport
import Testing

/// Registries of sessions that are opened in a given parent.
@Suite(.timeLimit(.minutes(20)))
struct SessionTenantTests {
  private struct Tenant: Sendable { let name: String }

  private final class Visit: Sendable {
    let tenant: String
    init(tenant: Tenant) { self.tenant = tenant.name }
  }

  private let application: Environment
  private let tenants: EnvironmentFactory<Tenant>
  private let factory: EnvironmentFactory<String>

  init() throws {
    application = try Environment(name: "application")
    tenants = try application.childFactory("tenant", seed: Tenant.self)
    factory = try tenants.childFactory("session", seed: String.self) { session in
      try session.define(session.bean(Visit.self, factory: Visit.init))
    }
  }

  @Test func anIdOfOneTenantIsUnknownInAnother() throws {
    let (acme, zeta) = (try tenants.build(Tenant(name: "acme")), try tenants.build(Tenant(name: "zeta")))
    let (first, second) = (Sessions(factory, in: acme), Sessions(factory, in: zeta))
    let session = try first.open("a", "")
    #expect(session.parent === acme)
    #expect(second.find("a") == nil)
    #expect(try second.withSession("a") { _ in true } == nil)
    #expect(throws: EnvironmentError.self) { try second.rotate("a") }
    try second.end("a")
    #expect(try first.withSession("a") { try $0.getBean(Visit.self).tenant } == "acme")
    #expect(try second.withSession("a", opening: "") { try $0.getBean(Visit.self).tenant } == "zeta")
    #expect(first.counts.open == 1 && second.counts.open == 1)
    try application.shutdown()
    #expect(first.counts.open == 0 && second.counts.open == 0)
  }

  @Test func theEndOfATenantEndsItsSessionsAlone() throws {
    let (acme, zeta) = (try tenants.build(Tenant(name: "acme")), try tenants.build(Tenant(name: "zeta")))
    let (first, second) = (Sessions(factory, in: acme), Sessions(factory, in: zeta))
    _ = try first.open("a", "")
    let session = try second.open("a", "")
    acme.finish()
    #expect(first.find("a") == nil)
    #expect(throws: EnvironmentError.self) { try first.open("a", "") }
    #expect(second.find("a") === session)
    try application.shutdown()
  }

  /// The end of a tenant waits for a request inside of one of its sessions. The request decides the outcome for its beans.
  @Test func aRequestOutlastsTheEndOfItsTenant() async throws {
    let journal = Journal()
    let requests = try factory.childFactory("request", seed: Int.self) { request in
      try request.define(Visit.self, factory: Visit.init) {
        $0.onDestroy { _, outcome in
          if case .completed = outcome { journal.note("commit") } else { journal.note("rollback") }
        }
      }
    }
    let acme = try tenants.build(Tenant(name: "acme"))
    let registry = Sessions(factory, in: acme)
    try await registry.withSession("a", opening: "") { session in
      try await requests.withChild(1, in: session) { request in
        _ = try request.getBean(Visit.self)
        await Task.detached { acme.finish() }.value
        #expect(journal.entries.isEmpty)
        #expect(throws: EnvironmentError.self) { try request.getBean(Visit.self) }
      }
    }
    #expect(journal.entries == ["commit"])
    try await application.shutdown()
  }

  @Test func aSessionOfAnotherTenantIsNotAdopted() throws {
    let (acme, zeta) = (try tenants.build(Tenant(name: "acme")), try tenants.build(Tenant(name: "zeta")))
    let sessions = Sessions(factory, in: acme)
    let (own, foreign) = (try factory.build("", in: acme), try factory.build("", in: zeta))
    #expect(!sessions.add(foreign, as: "a"))
    let error = #expect(throws: EnvironmentError.self) { try sessions.add(foreign) }
    #expect(error?.code == .scopeNotActive)
    #expect(sessions.add(own, as: "a"))
    try application.shutdown()
  }

  @Test func aParentOfAnotherKindIsRefused() throws {
    let error = #expect(throws: EnvironmentError.self) {
      try Sessions(factory, in: application).open("a", "")
    }
    #expect(error?.code == .scopeNotActive)
    try application.shutdown()
  }

  @Test func aRegistryMayBeABeanOfItsTenant() throws {
    let application = try Environment(name: "application")
    let box = Handed<EnvironmentFactory<String>>()
    let tenants = try application.childFactory("tenant", seed: Tenant.self) { tenant in
      try tenant.define(
        tenant.bean(
          Sessions<String>.self,
          factory: { (tenant: Environment) in Sessions(try #require(box.value), in: tenant) }))
    }
    box.value = try tenants.childFactory("session", seed: String.self)
    let acme = try tenants.build(Tenant(name: "acme"))
    #expect(try acme.getBean(Sessions<String>.self).open("a", "").parent === acme)
    try application.shutdown()
  }
}
