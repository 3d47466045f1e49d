// Each marked listing is in the article to the letter: see SessionsGuideTests.swift.

struct Tenants {
  struct Tenant: Sendable { let name: String }

  final class Quota: Sendable {
    let tenant: Tenant
    init(tenant: Tenant) { self.tenant = tenant }
  }

  final class Billing: Sendable {
    let text: String
    init(quota: Quota) { text = "to \(quota.tenant.name)" }
  }

  final class Audit: Sendable {
    private let quota: Current<Quota>
    let lines = Recorded<String>()
    init(quota: Current<Quota>) { self.quota = quota }
    func record(_ event: String) throws { lines.append(try "\(quota.get().tenant.name) \(event)") }
  }

  final class Cart: Sendable {
    private let pieces = Recorded<String>()
    func add(_ piece: String) -> Int { pieces.append(piece) }
  }
}

extension Tenants {
  // listing
  func declareTenants(in shop: Environment) throws -> EnvironmentFactory<Tenant> {
    try shop.define(shop.bean(Quota.self, factory: Quota.init).scope("tenant"))
    return try shop.childFactory("tenant", seed: Tenant.self) { tenant in
      try tenant.define(tenant.bean(Billing.self, factory: Billing.init))
    }
  }

  func bill(_ tenant: Tenant, _ tenants: EnvironmentFactory<Tenant>) throws -> String {
    try tenants.withChild(tenant) { child in try child.getBean(Billing.self).text }
  }
  // end
}

// listing
import Beans
import BeansSessions

// end

extension Tenants {
  // continued
  func keep(_ tenants: EnvironmentFactory<Tenant>) -> Sessions<Tenant> {
    Sessions(tenants, capacity: 500, idleLimit: .seconds(3_600))
  }

  func serve(
    _ name: String, _ tenants: Sessions<Tenant>, find: (String) throws -> Tenant
  ) throws -> String {
    try tenants.withSession(name, opening: try find(name)) { tenant in try tenant.getBean(Billing.self).text }
  }
  // end
}

// listing
import Beans
import BeansSessions

// end

extension Tenants {
  // continued
  func declareSessions(of tenants: EnvironmentFactory<Tenant>, in shop: Environment) throws {
    let sessions = try tenants.childFactory("session", seed: Void.self) { session in
      try session.define(session.bean(Cart.self, factory: Cart.init))
    }
    try shop
      .define(shop.bean(sessions))
      .define(
        shop.bean(Sessions<Void>.self) { (tenant: Environment, sessions: EnvironmentFactory<Void>) in
          Sessions(sessions, in: tenant, capacity: 10_000, idleLimit: .seconds(1_800))
        }
        .scope("tenant"))
  }

  func add(_ piece: String, to id: String, in tenant: Environment) throws -> Int? {
    let sessions = try tenant.getBean(Sessions<Void>.self)
    return try sessions.withSession(id) { session in try session.getBean(Cart.self).add(piece) }
  }
  // end
}

extension Tenants {
  // listing
  func serve(_ tenant: Tenant, _ tenants: EnvironmentFactory<Tenant>, _ audit: Audit) throws {
    let child = try tenants.build(tenant)
    defer { child.finish() }
    try Environment.$current.withValue(child) { try audit.record("came") }
  }
  // end
}

// listing
import BeansEventLoop
import BeansServer

// end

extension Tenants {
  // continued
  final class TenantScope: LoopScope, @unchecked Sendable {  // adds nothing
    init(loop: EventLoop) { super.init(name: "tenant", loop: loop, idleTimeout: .seconds(600)) }
  }

  func declareTenants(in shop: Environment, on loop: EventLoop) throws -> EnvironmentFactory<Tenant> {
    try shop.childFactory("tenant", seed: Tenant.self) { tenant in
      try tenant.define(tenant.bean(Quota.self, factory: Quota.init))
    } scope: {
      TenantScope(loop: loop)
    }
  }
  // end
}
