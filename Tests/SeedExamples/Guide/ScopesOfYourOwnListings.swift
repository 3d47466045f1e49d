import Beans
import BeansEventLoop
import BeansServer
import Synchronization

// Marked listings stand in the article to the letter: see GuideTests.swift.

struct ScopesOfYourOwn {
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
    let lines = Mutex<[String]>([])
    init(quota: Current<Quota>) { self.quota = quota }
    func record(_ event: String) throws {
      let line = try "\(quota.get().tenant.name) \(event)"
      lines.withLock { $0.append(line) }
    }
  }

  final class Till: Sendable {
    private let closed = Mutex(false)
    var isClosed: Bool { closed.withLock { $0 } }
    func close() { closed.withLock { $0 = true } }
  }
}

extension ScopesOfYourOwn {
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

  // listing
  func serve(_ tenant: Tenant, _ tenants: EnvironmentFactory<Tenant>, _ audit: Audit) throws {
    let child = try tenants.build(tenant)
    defer { child.finish() }
    try Environment.$current.withValue(child) { try audit.record("came") }
  }
  // end

  // listing
  final class Shift: AbstractBeanScope, @unchecked Sendable {  // adds nothing
    init() { super.init(name: "shift") }
  }

  func openTill(in shop: Environment) throws -> Shift {
    let shift = Shift()
    try shop
      .registerScope(shift)
      .define(shop.bean(Till.self, factory: Till.init).scope("shift").onDestroy { till in till.close() })
    return shift
  }
  // end

  // listing
  final class TenantScope: LoopScope, @unchecked Sendable {  // adds nothing
    init(loop: EventLoop) { super.init(name: "tenant", loop: loop, idleTimeout: .seconds(600)) }
  }

  func declareTenants(in shop: Environment, on loop: EventLoop) throws -> EnvironmentFactory<Tenant> {
    try shop.childFactory("tenant", seed: Tenant.self, scope: { TenantScope(loop: loop) }) { tenant in
      try tenant.define(tenant.bean(Quota.self, factory: Quota.init))
    }
  }
  // end

  // listing
  final class Counted: BeanScope {
    let name = "counted"
    private let lookups = Atomic(0)
    var count: Int { lookups.load(ordering: .relaxed) }

    func prepare(bean: BeanDeclaration, factory: any BeanFactory) throws {}

    func get(bean: BeanDeclaration, factory: any BeanFactory) throws -> AnyObject {
      lookups.add(1, ordering: .relaxed)
      return try factory.create(bean)
    }

    func finish() {}
  }
  // end

  // listing
  final class RequestMetrics: EnvironmentObserver {
    struct Totals { var open = 0, failed = 0, beans = 0, time = Duration.zero }
    private let totals = Mutex(Totals())
    var current: Totals { totals.withLock { $0 } }

    func childOpened(_ child: Environment) { totals.withLock { $0.open += 1 } }

    func childEnded(_ child: Environment, _ end: ChildEnd) {
      totals.withLock { totals in
        totals.open -= 1
        totals.beans += end.beans
        totals.time += end.duration
        if case .failed = end.outcome { totals.failed += 1 }
      }
    }
  }

  func observeTenants(of shop: Environment) throws -> RequestMetrics {
    let metrics = RequestMetrics()
    try shop.addObserver(metrics)
    return metrics
  }
  // end
}
