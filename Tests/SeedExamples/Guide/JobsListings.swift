// Each marked listing is in the article to the letter: see SessionsGuideTests.swift.

struct Jobs {}

// listing
import Beans
import Synchronization

// end

extension Jobs {
  // continued
  struct PrintJob: Sendable { let order: Int }

  final class Printer: Sendable {
    private let pages = Mutex<[String]>([])
    var printed: [String] { pages.withLock { $0 } }
    func print(_ page: String) { pages.withLock { $0.append(page) } }
  }

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
          try await children.withChild(job) { child in try await child.getBean(awaiting: Invoice.self).write() }
        } catch {
          failures.withLock { $0.append(error) }
        }
      }
    }
  }

  func declareJobs(in shop: Environment) throws {
    let jobs = try shop.childFactory("job", seed: PrintJob.self) { job in
      try job.define(job.bean(Invoice.self, factory: Invoice.init))
    }
    try shop
      .define(shop.bean(jobs))
      .define(shop.bean(PrintQueue.self, factory: PrintQueue.init))
      .define(shop.bean(Printer.self, factory: Printer.init))
  }
  // end
}

extension Jobs {
  // listing
  func printNow(_ order: Int, _ jobs: EnvironmentFactory<PrintJob>) throws -> Task<Void, any Error> {
    let job = try jobs.open(PrintJob(order: order))
    return Task { try await job.end { child in try await child.getBean(awaiting: Invoice.self).write() } }
  }
  // end
}
