// Each marked listing is in the article to the letter: see SessionsGuideTests.swift.

// listing
import Beans
import BeansSessions

// end

extension Tenants {
  // continued
  func declareTenants(in shop: Environment) throws -> EnvironmentFactory<Tenant> {
    try shop.define(Quota.self, factory: Quota.init) { $0.scope("tenant") }
    return try shop.childFactory("tenant", seed: Tenant.self) { tenant in
      try tenant.define(Billing.self, factory: Billing.init)
    }
  }

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
      try session.define(Cart.self, factory: Cart.init)
    }
    try shop.define(
      Sessions<Void>.self,
      factory: { (tenant: Environment) in
        Sessions(sessions, in: tenant, capacity: 10_000, idleLimit: .seconds(1_800))
      }
    ) { $0.scope("tenant") }
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
import Beans
import Synchronization

// end

extension Jobs {
  // continued
  struct PrintJob: Sendable { let order: Int }

  final class Invoice: Sendable {
    private let job: PrintJob
    private let printer: Printer

    init(job: PrintJob, printer: Printer) { (self.job, self.printer) = (job, printer) }

    func write() throws { printer.print("invoice \(job.order)") }
  }

  final class PrintQueue: RunnableBean {
    private let children: EnvironmentFactory<PrintJob>
    private let (jobs, continuation) = AsyncStream.makeStream(of: PrintJob.self)
    private let failures = Mutex<[any Error]>([])
    var failed: [any Error] { failures.withLock { $0 } }

    init(children: EnvironmentFactory<PrintJob>) { self.children = children }

    func add(_ job: PrintJob) { continuation.yield(job) }

    func run() async throws {
      for await job in jobs {
        do {
          try await children.withChild(job) { child in try child.getBean(Invoice.self).write() }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
    }
  }

  func declareJobs(in shop: Environment) throws {
    try shop.childFactory("job", seed: PrintJob.self) { job in
      try job.define(Invoice.self, factory: Invoice.init)
    }
    try shop
      .define(PrintQueue.self, factory: PrintQueue.init)
      .define(Printer.self, factory: Printer.init)
  }
  // end
}

extension Jobs {
  // listing
  func printNow(_ order: Int, _ jobs: EnvironmentFactory<PrintJob>) throws -> Task<Void, any Error> {
    let job = try jobs.open(PrintJob(order: order))
    return Task { try await job.end { child in try child.getBean(Invoice.self).write() } }
  }
  // end
}

extension ScopesOfYourOwn {
  // listing
  final class Shift: AbstractBeanScope, @unchecked Sendable {  // adds nothing
    init() { super.init(name: "shift") }
  }

  func openTill(in shop: Environment) throws -> Shift {
    let shift = Shift()
    try shop
      .registerScope(shift)
      .define(Till.self, factory: Till.init) { $0.scope("shift").onDestroy { till in till.close() } }
    return shift
  }
  // end
}

extension ScopesOfYourOwn {
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
}
