import Beans
import BeansEventLoop
import BeansServer
import Testing

/// Beans whose release suspends, in scopes bound to a loop.
@Suite(.timeLimit(.minutes(20)))
struct AsynchronousReleaseTests {
  private let journal = Journal()
  private let application: Environment

  init() throws { application = try Environment(name: "application") }

  /// A request with a log, an upload on top of it, and a transaction on top of that.
  private func request(on loop: EventLoop) throws -> Environment {
    let journal = journal
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Log.self, factory: { Log() }).onDestroy { _ in journal.note("log\(loop.place)") })
      try $0.define($0.bean(Upload.self, factory: { (_: Log) in Upload(loop: loop, journal: journal) }))
      try $0.define(
        $0.bean(Transaction.self, factory: { (_: Upload) in Transaction() })
          .onDestroy { _ in journal.note("transaction\(loop.place)") })
    } scope: {
      RequestScope(loop: loop)
    }
    let request = try requests.build(1)
    _ = try request.getBean(Transaction.self)
    return request
  }

  private let awaitedOnTheLoop = [
    "transaction on the loop", "upload begins on the loop", "upload ends on the loop", "log on the loop",
  ]

  @Test func anAsynchronousReleaseIsAwaitedOnTheLoopInItsPlace() throws {
    try withLoops { loops in
      let request = try request(on: loops[0])
      request.finish()
      try request.waitForEnd()
      #expect(journal.entries == awaitedOnTheLoop)
    }
  }

  @Test func anAsynchronousReleaseIsAwaitedWhenTheLoopItselfFinishes() throws {
    try withLoops { loops in
      let request = try request(on: loops[0])
      try loops[0].perform { request.finish() }
      try request.waitForEnd()
      #expect(journal.entries == awaitedOnTheLoop)
    }
  }

  @Test func aSynchronousShutdownOnAnotherThreadWaitsForTheRelease() throws {
    try withLoops { loops in
      let request = try request(on: loops[0])
      try request.shutdown()
      #expect(journal.entries == awaitedOnTheLoop)
    }
  }

  @Test func theApplicationsSynchronousShutdownWaitsForTheRelease() throws {
    try withLoops { loops in
      _ = try request(on: loops[0])
      try application.shutdown()
      #expect(journal.entries == awaitedOnTheLoop)
    }
  }

  @Test func anAsynchronousShutdownAwaitsTheReleaseOnTheLoop() async throws {
    let thread = try EventLoopThread()
    _ = try request(on: thread.loop)
    try await application.shutdown()
    #expect(journal.entries == awaitedOnTheLoop)
    thread.stop()
    try await thread.waitForEnd()
  }

  @Test func anAsynchronousShutdownFromATaskOnTheLoopItselfAwaitsTheRelease() async throws {
    let thread = try EventLoopThread()
    let loop = thread.loop
    _ = try request(on: loop)
    let task = Task(executorPreference: loop) { [application, journal] in
      try await application.shutdown()
      journal.note("shutdown returns")
    }
    try await task.value
    #expect(journal.entries == awaitedOnTheLoop + ["shutdown returns"])
    thread.stop()
    try await thread.waitForEnd()
  }

  @Test func withChildReturnsAfterTheAsynchronousRelease() async throws {
    let thread = try EventLoopThread()
    let (loop, journal) = (thread.loop, journal)
    let requests = try application.childFactory("request", seed: Int.self) {
      try $0.define($0.bean(Upload.self, factory: { Upload(loop: loop, journal: journal) }))
    } scope: {
      RequestScope(loop: loop)
    }
    try await requests.withChild(1) { request in
      _ = try request.getBean(Upload.self)
      await Task.yield()
      #expect(journal.entries == [])
    }
    #expect(journal.entries == ["upload begins on the loop", "upload ends on the loop"])
    thread.stop()
    try await thread.waitForEnd()
  }

  /// A wait on the loop would block the very release that it waits for: the shutdown begins, and the loop goes on with
  /// it.
  @Test func aSynchronousShutdownOnTheLoopNamesTheBeanOrLeavesItToTheLoop() throws {
    try withLoops { loops in
      let request = try request(on: loops[0])
      let failure = try loops[0].perform { request.failedShutdown() }
      try request.waitForEnd()
      if let failure {
        #expect("\(failure)".contains("Upload"))
      } else {
        #expect(journal.entries == awaitedOnTheLoop)
      }
      #expect(journal.entries.last == "log on the loop")
    }
  }

  @Test func aSynchronousShutdownWithoutARunningLoopReleasesTheOthersAndNamesTheBean() throws {
    let loop = try EventLoop()
    let request = try request(on: loop)
    let failure = try #require(request.failedShutdown())
    #expect(failure.code == .destructionFailed)
    #expect("\(failure)".contains("Upload"))
    // A task releases the upload.
    #expect(journal.entries.filter { !$0.hasPrefix("upload") } == ["transaction elsewhere", "log elsewhere"])
    try loop.close()
  }

  @Test func aChildThatIsAwaitedEndsBeforeItsParentBegins() throws {
    try withLoops(2) { loops in
      let (first, second, journal) = (loops[0], loops[1], journal)
      let sessions = try application.childFactory("session", seed: String.self) {
        try $0.define($0.bean(Cart.self, factory: { Cart() }).onDestroy { _ in journal.note("cart\(first.place)") })
      } scope: {
        SessionScope(loop: first, idleTimeout: .seconds(3_600))
      }
      let requests = try sessions.childFactory("request", seed: Int.self) {
        try $0.define($0.bean(Upload.self, factory: { (_: Cart) in Upload(loop: second, journal: journal) }))
      } scope: {
        RequestScope(loop: second)
      }
      let session = try sessions.build("a")
      _ = try requests.build(1, in: session).getBean(Upload.self)
      try application.shutdown()
      #expect(journal.entries == ["upload begins on the loop", "upload ends on the loop", "cart on the loop"])
    }
  }
}
