// The types around the listings of the article on tenants and jobs, and forms that it names without a listing.

import Beans
import BeansEventLoop
import BeansServer
import Synchronization

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
  func bill(_ tenant: Tenant, _ tenants: EnvironmentFactory<Tenant>) throws -> String {
    try tenants.withChild(tenant) { child in try child.getBean(Billing.self).text }
  }

  final class TenantScope: LoopScope, @unchecked Sendable {  // adds nothing
    init(loop: EventLoop) { super.init(name: "tenant", loop: loop, idleTimeout: .seconds(600)) }
  }

  func declareTenants(in shop: Environment, on loop: EventLoop) throws -> EnvironmentFactory<Tenant> {
    try shop.define(Quota.self, factory: Quota.init) { $0.scope("tenant") }
    return try shop.childFactory("tenant", seed: Tenant.self, scope: { TenantScope(loop: loop) })
  }
}

struct Jobs {
  final class Printer: Sendable {
    private let pages = Mutex<[String]>([])
    var printed: [String] { pages.withLock { $0 } }
    func print(_ page: String) { pages.withLock { $0.append(page) } }
  }
}
