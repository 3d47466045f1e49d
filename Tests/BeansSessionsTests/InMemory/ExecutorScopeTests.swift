import Beans
@_spi(BeansPackage) import BeansErrors
import BeansSessions
import BeansTesting
import Dispatch
import TestSupport
import Testing

/// Releases on an executor of the user's choice.
@Suite(.timeLimit(.minutes(20)))
struct ExecutorScopeTests {
  /// An executor with one queue. Tells if the calling thread runs one of its jobs.
  final class MarkedQueue: TaskExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "releases")

    init() { queue.setSpecific(key: Self.key, value: true) }

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// A bean that notes where it is released.
  final class Witness: DisposableBean, Sendable {
    private let journal: Journal

    init(journal: Journal) { self.journal = journal }

    func preDestroy() throws { journal.note(MarkedQueue.isCurrent ? "queue" : "elsewhere") }
  }

  /// A bean whose release suspends.
  final class Upload: AsyncDisposableBean, Sendable {
    private let journal: Journal

    init(journal: Journal) { self.journal = journal }

    func preDestroy() async throws {
      await Task.yield()
      journal.note(MarkedQueue.isCurrent ? "upload on the queue" : "upload elsewhere")
    }
  }

  private let application: Environment
  private let journal = Journal()
  private let executor = MarkedQueue()
  private let factory: EnvironmentFactory<Int>

  init() throws {
    application = try Environment(name: "application")
    factory = try application.childFactory("session", seed: Int.self) { [journal] session in
      try session.define(session.bean(Witness.self) { Witness(journal: journal) })
        .define(session.bean(Upload.self) { Upload(journal: journal) })
    } scope: { [executor] in
      ExecutorScope(name: "session", executor: executor)
    }
  }

  enum End: CaseIterable { case finish, registry, eviction, idleLimit, application, withChild }

  @Test(arguments: End.allCases)
  func beansAreReleasedOnTheExecutor(_ end: End) async throws {
    let clock = ManualClock()
    let sessions = Sessions(factory, capacity: 1, idleLimit: .seconds(60), clock: clock)
    let session = try await sessions.withSession("a", opening: 1) { session in
      _ = try session.getBean(Witness.self)
      return session
    }
    var expected = ["queue"]
    switch end {
    case .finish: session.finish()
    case .registry: try await sessions.end("a")
    case .eviction: _ = try sessions.open("b", 1)
    case .idleLimit:
      try await clock.waitForSleepers()
      clock.advance(by: .seconds(60))
    case .application: try await application.shutdown()
    case .withChild:
      try await factory.withChild(2) { child throws in _ = try child.getBean(Witness.self) }
      session.finish()
      expected.append("queue")
    }
    await session.ended()
    try await application.shutdown()
    #expect(journal.entries == expected)
    let counts = sessions.counts
    #expect(counts.expired == (end == .idleLimit ? 1 : 0) && counts.evicted == (end == .eviction ? 1 : 0))
  }

  @Test func anAsynchronousReleaseRunsOnTheExecutor() async throws {
    let session = try factory.build(1)
    _ = try session.getBean(Witness.self)
    _ = try session.getBean(Upload.self)
    try await session.shutdown()
    #expect(journal.entries == ["upload on the queue", "queue"])
    try await application.shutdown()
  }

  @Test func aSynchronousShutdownWaitsForTheExecutor() throws {
    let session = try factory.build(1)
    _ = try session.getBean(Witness.self)
    try session.shutdown()
    #expect(journal.entries == ["queue"])
    try application.shutdown()
  }

  @Test func aJobOfTheExecutorEndsItsOwnSession() async throws {
    let sessions = Sessions(factory)
    let session = try sessions.open("a", 1)
    await Task(executorPreference: executor) {
      _ = try? session.getBean(Witness.self)
      try? await session.shutdown()
    }.value
    #expect(journal.entries == ["queue"])
    try await application.shutdown()
  }

  /// A scope that an environment finishes while a child with it is being opened is not left open.
  @Test func childrenAndTheEndOfTheirParentMeet() throws {
    for _ in 0..<50 {
      let parent = try Environment(name: "parent")
      let factory = try parent.childFactory("session", seed: Int.self) { [journal] session in
        try session.define(session.bean(Witness.self) { Witness(journal: journal) })
      } scope: { [executor] in
        ExecutorScope(name: "session", executor: executor)
      }
      try parent.startup()
      let counts = try onThreads(2) { number -> Int in
        if number == 0 {
          try parent.shutdown()
          return 0
        }
        do {
          _ = try factory.build(1).getBean(Witness.self)
          return 1
        } catch let error as EnvironmentError where error.code == .finished {
          return 0
        }
      }
      try parent.shutdown()
      #expect(!parent.hasOpenChildren, "\(counts)")
    }
    #expect(!journal.entries.contains("elsewhere"))
  }

  @Test func aRegisteredScopeReleasesItsBeansOnTheExecutor() async throws {
    let environment = try Environment(name: "service")
    try environment.registerScope(ExecutorScope(name: "cache", executor: executor))
    try environment.define(environment.bean(Witness.self) { [journal] in Witness(journal: journal) }.scope("cache"))
    let first = try environment.getBean(Witness.self)
    #expect(try environment.getBean(Witness.self) === first)
    try await environment.shutdown()
    #expect(journal.entries == ["queue"])
  }
}
